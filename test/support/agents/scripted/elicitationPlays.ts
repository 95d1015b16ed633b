// Plays in which the agent asks the user for more than a choice: `elicit [params]` a form,
// `elicit-url [address]` a page, `withdraw-elicit` a form that it takes back.
import type { AgentTurn, Play } from './plays';

export const everyField = {
  type: 'object',
  title: 'A database',
  description: 'For the tests of this project.',
  properties: {
    name: {
      type: 'string',
      title: 'Name',
      description: 'Lower case',
      minLength: 2,
      maxLength: 20,
      pattern: '^[a-z]+$',
    },
    mail: { type: 'string', title: 'Contact', format: 'email' },
    kind: {
      type: 'string',
      title: 'Kind',
      oneOf: [
        { const: 'pg', title: 'PostgreSQL' },
        { const: 'my', title: 'MySQL' },
      ],
    },
    port: { type: 'integer', title: 'Port', minimum: 1, maximum: 65535, default: 5432 },
    share: { type: 'number', title: 'Share' },
    tls: { type: 'boolean', title: 'Encrypt', default: true },
    users: {
      type: 'array',
      title: 'Users',
      items: { type: 'string', enum: ['ann', 'bob', 'eve'] },
      minItems: 1,
      maxItems: 2,
    },
    shape: { type: 'hologram', title: 'Shape' },
  },
  required: ['name', 'kind', 'users'],
} as const;

const form = { mode: 'form', message: 'Which database shall I use?', requestedSchema: everyField };

const ask = (turn: AgentTurn, params: object): Promise<unknown> =>
  turn.askAloud('elicited', 'elicitation/create', params);

export const elicitationPlays: Record<string, Play> = {
  elicit: async (turn, rest) => {
    await ask(turn, { ...form, ...(rest === '' ? {} : (JSON.parse(rest) as object)) });
  },
  'elicit-url': async (turn, rest) => {
    const url = rest || 'https://example.com/connect?state=a%2Fb';
    await ask(turn, { mode: 'url', message: 'Please connect your account.', elicitationId: 'e1', url });
  },
  'withdraw-elicit': (turn) => turn.askAndWithdraw('elicitation/create', form),
};
