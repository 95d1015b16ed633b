// Ends the agent's process in the middle of a turn, with an open tool call and a last line on
// stderr.
import type { Turn } from '../turn';

export async function crash(turn: Turn): Promise<void> {
  await turn.say('I am about to exit in the middle of this sentence, and the reason will be on my');
  await turn.tool({ title: 'A tool call that never ends', kind: 'think', status: 'in_progress' });
  await new Promise<void>((resolve) => {
    process.stderr.write(
      'demo agent: you asked me to crash\ndemo agent: this is what an agent says on its way out\ndemo agent: exiting with status 1\n',
      () => resolve(),
    );
  });
  process.exit(1);
}
