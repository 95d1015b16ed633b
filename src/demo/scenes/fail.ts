// Answers a prompt with an error: earlier entries stay, and the next prompt works.
import type { Turn } from '../turn';
import { RpcFault } from '../wire';

export async function fail(turn: Turn): Promise<void> {
  await turn.say('I will answer this prompt with an error, as an agent does that has lost its model. Here it comes.\n');
  throw new RpcFault(-32603, 'The demo agent failed, because you asked it to.', {
    hint: 'Nothing is broken: send another message.',
  });
}
