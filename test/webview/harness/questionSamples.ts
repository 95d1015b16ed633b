// A form with a field of each kind, and a page.
import type { ElicitationView, Form } from '../../../src/panel/contract';

const FORM: Form = {
  title: 'A database',
  description: 'For the tests of this project.',
  fields: [
    {
      key: 'name',
      type: 'text',
      title: 'Name',
      description: 'Lower case letters.',
      required: true,
      minLength: 2,
      pattern: '^[a-z]+$',
    },
    { key: 'why', type: 'text', title: 'What is it for?', required: false },
    {
      key: 'kind',
      type: 'choice',
      title: 'Kind',
      required: true,
      options: [
        { value: 'pg', title: 'PostgreSQL', description: 'The one that production uses' },
        { value: 'my', title: 'MySQL' },
      ],
    },
    {
      key: 'region',
      type: 'choice',
      title: 'Region',
      required: false,
      options: Array.from({ length: 8 }, (_, index) => ({ value: `r${index}`, title: `Region ${index}` })),
      initial: 'r3',
    },
    { key: 'port', type: 'integer', title: 'Port', required: false, minimum: 1, maximum: 65_535, initial: 5432 },
    { key: 'until', type: 'text', format: 'date', title: 'Needed until', required: false },
    { key: 'tls', type: 'boolean', title: 'Encrypt the connection', required: false, initial: true },
    {
      key: 'users',
      type: 'choices',
      title: 'Users',
      required: true,
      minItems: 1,
      maxItems: 2,
      options: ['ann', 'bob', 'eve'].map((value) => ({ value, title: value })),
    },
    { key: 'apiToken', type: 'text', title: 'API token', required: false, initial: 'never-shown', maxLength: 80 },
    { key: 'shape', type: 'unknown', kind: 'hologram', title: 'Shape', required: false },
  ],
};

export const asksForm: ElicitationView = {
  id: 'ask1',
  mode: 'form',
  message: 'Which database shall I use?',
  form: FORM,
  tool: 'create_database',
};
export const asksPage: ElicitationView = {
  id: 'ask2',
  mode: 'url',
  message: 'Please connect your account.',
  url: 'https://accounts.example.com/connect?client=parley&state=a%2Fb',
};
