// What the panel says of forms, pages and files: read as the contract has it, and nothing else.
import { strict as assert } from 'node:assert';
import { readFromWebview } from '../../../src/workbench/fromWebview';

describe('a message of the panel', () => {
  const taken: readonly object[] = [
    { type: 'elicitation', id: 'ask1', answer: { kind: 'submit', values: { a: 'x', b: 1, c: true, d: ['y'] } } },
    { type: 'elicitation', id: 'ask1', answer: { kind: 'open' } },
    { type: 'elicitation', id: 'ask1', answer: { kind: 'decline' } },
    { type: 'elicitation', id: 'ask1', answer: { kind: 'cancel' } },
    { type: 'stopOne', kind: 'terminal', id: 't' },
    { type: 'saveResource', index: 12, content: 0 },
    { type: 'retryGap', id: 'past-3' },
    { type: 'draft', key: 'a-session', text: 'half' },
    { type: 'draft', text: 'before any session was shown' },
    { type: 'attachFile', data: 'aGk=', mimeType: '', name: 'x' },
    { type: 'attachFile', data: 'aGk=', mimeType: 'application/vnd.ms-excel', name: 'x' },
  ];
  for (const message of taken) {
    it(`is not understood: ${JSON.stringify(message)}`, () => {
      assert.deepEqual(readFromWebview(message), message);
    });
  }

  const refused: readonly object[] = [
    { type: 'elicitation', id: 'ask1', answer: { kind: 'submit', values: { a: { deep: 1 } } } },
    { type: 'elicitation', id: 'ask1', answer: { kind: 'submit', values: { a: 'x'.repeat(20_001) } } },
    { type: 'elicitation', id: 'ask1', answer: { kind: 'accept' } },
    { type: 'elicitation', id: 7, answer: { kind: 'open' } },
    { type: 'stopOne', kind: 'machine', id: 't' },
    { type: 'saveResource', index: -1, content: 0 },
    { type: 'saveResource', index: 0, content: 0.5 },
    { type: 'retryGap', id: 'x'.repeat(501) },
    { type: 'draft', key: 7, text: 'half' },
    { type: 'attachFile', data: 'aGk=', mimeType: 'text/html;x"', name: 'x' },
  ];
  for (const message of refused) {
    it(`is taken although the contract has it not: ${JSON.stringify(message).slice(0, 90)}`, () => {
      assert.equal(readFromWebview(message), undefined);
    });
  }

  it('says what is saved, or where', () => {
    const message = { type: 'saveResource', index: 1, content: 2, text: 'other', path: '/etc/passwd' };
    assert.deepEqual(readFromWebview(message), { type: 'saveResource', index: 1, content: 2 });
  });

  it('opens another page than the one that was shown', () => {
    const message = { type: 'elicitation', id: 'a', answer: { kind: 'open', url: 'https://evil.example/' } };
    assert.deepEqual(readFromWebview(message), { type: 'elicitation', id: 'a', answer: { kind: 'open' } });
  });
});
