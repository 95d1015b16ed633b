// How long a turn waited for the user, and the user's answers.
import { strict as assert } from 'node:assert';
import { answerWords } from '../../../../src/client/requests/elicitationRequestHandler';
import type { SessionEvent } from '../../../../src/session/events/event';
import type { Form } from '../../../../src/session/events/form';
import { SessionModel } from '../../../../src/session/model/model';
import { began, ended } from '../../../support/sessionEvents';

const asked = (permissionId: string, toolCallId?: string): SessionEvent => ({
  type: 'permission_asked',
  permissionId,
  title: 'May I?',
  options: [],
  ...(toolCallId && { toolCallId }),
});
const closed = (permissionId: string): SessionEvent => ({
  type: 'permission_closed',
  permissionId,
  outcome: 'selected',
  by: 'user',
});

function play(...events: readonly (readonly [number, SessionEvent])[]): SessionModel {
  const model = new SessionModel();
  for (const [at, event] of events) model.apply(event, at);
  return model;
}

const colours: Form = {
  fields: [
    {
      key: 'colour',
      title: 'Colour',
      required: true,
      type: 'choice',
      options: [
        { value: 'b', title: 'Blue' },
        { value: 'r', title: 'Red' },
      ],
    },
  ],
};

describe('the waiting time of a turn', () => {
  it('counts overlapping questions once, and each tool call by its own questions', () => {
    const { state } = play(
      [0, began('t1')],
      [1000, { type: 'tool_call', toolCallId: 'c', patch: { title: 'Edit' }, announced: true }],
      [1000, asked('p1', 'c')],
      [3000, asked('p2')],
      [5000, closed('p1')],
      [9000, closed('p2')],
      [9500, { ...ended('t1'), at: 9500 } as SessionEvent],
    );
    assert.equal(state.turns[0]?.waitedMs, 8000);
    assert.deepEqual(state.turns[0]?.waits, [{ from: 1000, until: 9000 }]);
    assert.equal(state.entries[0]?.kind === 'tool' && state.entries[0].waitedMs, 4000);
  });

  it('ends with the turn if a question stays open', () => {
    const { state } = play(
      [0, began('t1')],
      [1000, asked('p1')],
      [4000, { ...ended('t1', 'cancelled', 'exit'), at: 4000 } as SessionEvent],
      [9000, closed('p1')],
    );
    assert.equal(state.turns[0]?.waitedMs, 3000);
  });
});

describe('the notice for an answered question', () => {
  it('has the question and the answer', () => {
    const body = { mode: 'form', form: colours } as const;
    const { state } = play(
      [1, { type: 'elicitation_asked', id: 'e', message: 'Which colour?', ...body }],
      [
        2,
        {
          type: 'elicitation_closed',
          id: 'e',
          action: 'accept',
          by: 'user',
          answer: answerWords(colours, { colour: 'b' }),
        },
      ],
    );
    const [entry] = state.entries;
    assert.deepEqual(entry?.kind === 'notice' && [entry.said?.code, entry.text], [
      'form-answered',
      'Which colour? → Blue',
    ]);
  });

  it('names several fields and never contains a secret', () => {
    const form: Form = {
      fields: [
        ...colours.fields,
        { key: 'apiKey', title: 'API key', required: true, type: 'text' },
        { key: 'deep', required: false, type: 'boolean' },
        { key: 'left', required: false, type: 'text' },
      ],
    };
    const words = answerWords(form, { colour: 'r', apiKey: 'sk-123', deep: true });
    assert.equal(words, 'Colour: Red · API key: ••• · deep: Yes');
  });
});
