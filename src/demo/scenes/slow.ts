// A turn of one minute, to try Stop and the queue with. It reports progress once a second.
import type { Turn } from '../turn';

const SECONDS = 60;

export async function slow(turn: Turn): Promise<void> {
  await turn.say('This takes a minute. Press **Stop**, or write your next message: it will wait in the queue.\n');
  const messageId = turn.session.newId('heartbeat');
  for (let second = 1; second <= SECONDS; second++) {
    await turn.wait(1000);
    await turn.show({
      sessionUpdate: 'agent_thought_chunk',
      messageId,
      content: { type: 'text', text: `Still here after ${second} s.\n` },
    });
  }
  await turn.say('A minute has passed. Thank you for your patience.\n');
}
