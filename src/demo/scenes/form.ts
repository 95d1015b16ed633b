// Asks a question with several answers: a form, which the client shows and validates.
import { at } from '../input';
import type { Turn } from '../turn';

const requestedSchema = {
  type: 'object',
  title: 'A new project',
  properties: {
    name: {
      type: 'string',
      title: 'Name',
      description: 'Lower case, without spaces',
      minLength: 2,
      pattern: '^[a-z-]+$',
    },
    kind: {
      type: 'string',
      title: 'What shall it be?',
      oneOf: [
        { const: 'library', title: 'A library' },
        { const: 'service', title: 'A service' },
      ],
      default: 'library',
    },
    tests: { type: 'boolean', title: 'With tests', default: true },
  },
  required: ['name', 'kind'],
} as const;

export async function form(turn: Turn): Promise<void> {
  if (!turn.session.can.forms) {
    await turn.say(
      'Your client did not offer me forms (`elicitation.form`), so I would have to ask one thing after the other.\n',
    );
    return;
  }
  await turn.say('Three questions at once, and none of them is answered before you press **Submit**.\n');
  const answer = await turn.call('elicitation/create', {
    mode: 'form',
    message: 'What shall I make? (I make nothing: this is the demo.)',
    requestedSchema,
  });
  if (at(answer, 'action') !== 'accept') {
    await turn.say(`You chose *${String(at(answer, 'action'))}*, so I know nothing and do nothing.\n`);
    return;
  }
  const name = String(at(answer, 'content', 'name'));
  const kind = String(at(answer, 'content', 'kind'));
  const tests = at(answer, 'content', 'tests') === true ? 'with' : 'without';
  await turn.say(`A ${kind} called \`${name}\`, ${tests} tests. That is what I was told, word for word.\n`);
}
