// Work that goes on after the turn, and a turn that the agent begins by itself when it is done
// (docs/proposals.md).
import type { Turn } from '../turn';

const PARTS = 3;

export async function background(turn: Turn): Promise<void> {
  await turn.say(
    'I start something in the background and end my turn. You can write to me meanwhile. When it is done, I begin a turn by myself.\n',
  );
  const { id } = await turn.tool({ title: 'Count to three in the background', kind: 'think', status: 'in_progress' });
  const show = (by: Turn, fields: object): Promise<void> =>
    by.show({ sessionUpdate: 'tool_call_update', toolCallId: id, ...fields });
  const count = async (work: Turn): Promise<void> => {
    for (let part = 1; part <= PARTS; part++) {
      await work.pause(2000);
      const text = { type: 'text', text: `${part} of ${PARTS}` };
      await show(work, { content: [{ type: 'content', content: text }] });
    }
  };
  const report = async (own: Turn): Promise<void> => {
    await show(own, { status: 'completed' });
    await own.say('The background work is done. Nobody sent a prompt: I began this turn by myself.\n');
  };
  turn.session.continueInBackground(id, count, report);
}
