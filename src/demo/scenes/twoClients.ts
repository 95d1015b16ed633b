// Another client of the same session: its message appears, and a `turn_complete` that names its
// prompt ends no turn of this client (docs/proposals.md).
import type { Turn } from '../turn';

const QUESTION = 'Which day is it? (sent by another client)';

export async function twoClients(turn: Turn): Promise<void> {
  const { session } = turn;
  await turn.say('Two clients share this session: yours, and one that I make up. The other one sends me a message:\n');
  await turn.pause(1500);
  const content = { type: 'text', text: QUESTION };
  await turn.show({ sessionUpdate: 'user_message_chunk', messageId: session.newId('user'), content });
  await turn.say(`It is ${new Date().toLocaleDateString('en', { weekday: 'long' })}.\n`);
  const promptRequestId = session.newId('other-prompt');
  await turn.show({ sessionUpdate: 'turn_complete', promptRequestId, stopReason: 'end_turn' });
  await turn.pause(1500);
  await turn.say(
    `That was the end of the *other* client's turn: \`turn_complete\` named its prompt, \`${promptRequestId}\`. Yours has another id, so your turn is still running, and ends only now.\n`,
  );
}
