// A message that is sent while the agent works becomes part of the turn at the next break
// (docs/proposals.md).
import type { Turn } from '../turn';

const STEPS = ['Read the question', 'Look for an answer', 'Compare what was found', 'Write it down'];

export async function steer(turn: Turn): Promise<void> {
  const { can, version } = turn.session;
  if (version === 2) return work(turn);
  await turn.say(
    can.receipts
      ? 'In version 1, what you send now waits in the queue until this turn is over. But a turn that I begin by myself can take messages in, so I end this one:\n'
      : 'Version 1 of the protocol has one prompt at a time, and your client does not announce `prompt_lifecycle`: what you send now waits in its queue until this turn is over.\n',
  );
  if (can.receipts) turn.session.beginTurn(work);
}

async function work(turn: Turn): Promise<void> {
  await turn.say(`I work in ${STEPS.length} steps. **Send me a message now**: I take it in at the next break.\n`);
  for (const title of STEPS) {
    const step = await turn.tool({ title, kind: 'think', status: 'in_progress' });
    await turn.pause(3000);
    await step.change({ status: 'completed' });
    for (let sent = await turn.session.takeIn(); sent; sent = await turn.session.takeIn())
      await turn.say(
        `I took in “${sent.prompt.text}”. The receipt and the message above have the same id, \`${sent.messageId}\`. I go on with it in mind.\n`,
      );
  }
  await turn.say('All steps are done. Messages that come now begin a turn of their own.\n');
}
