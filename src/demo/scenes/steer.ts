// A message that is sent while a turn runs becomes part of it at the next break (version 2,
// docs/proposals.md).
import type { Turn } from '../turn';

const STEPS = ['Read the question', 'Look for an answer', 'Compare what was found', 'Write it down'];

export async function steer(turn: Turn): Promise<void> {
  if (turn.session.version === 1) {
    await turn.say(
      'Version 1 of the protocol has one prompt at a time: what you send now waits in the queue of your client until this turn is over. In version 2 I take it in while I work. To see that, add me a second time to `parley.agents`, and start a session:\n\n```json\n"demo-2": { "name": "Demo, version 2", "command": "parley-demo", "protocol": 2 }\n```\n',
    );
    return;
  }
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
