// The answer to the prompt comes first, the work after it: only `turn_complete` (version 1) or the
// state `idle` (version 2) ends the turn (docs/proposals.md).
import type { Turn } from '../turn';

export async function late(turn: Turn): Promise<void> {
  const isV2 = turn.session.version === 2;
  await turn.say(
    isV2
      ? 'I have answered your prompt already: in version 2 the answer only says that I took it in. The turn goes on.\n'
      : 'I answer your prompt **now**, with `end_turn`, and go on working. A client that stops here loses the rest.\n',
  );
  await turn.answer();
  const tool = await turn.tool({ title: 'Work after the answer', kind: 'think', status: 'in_progress' });
  await turn.pause(4000);
  await tool.change({ status: 'completed' });
  const end = isV2 ? 'the state `idle`' : '`turn_complete`';
  await turn.say(
    `This came after the answer and still belongs to the turn. What ends it is ${end}, which follows now.\n`,
  );
}
