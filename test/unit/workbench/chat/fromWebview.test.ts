// Validation of the panel's messages about forms, pages and files.
import { strict as assert } from 'node:assert';
import { readFromWebview } from '../../../../src/workbench/chat/fromWebview';
import { sameData } from '../../../support/sameData';

describe('a message from the panel', () => {
  const taken: readonly object[] = [
    {
      key: 'a',
      type: 'elicitation',
      id: 'ask1',
      answer: { kind: 'submit', values: { a: 'x', b: 1, c: true, d: ['y'] } },
    },
    { key: 'a', type: 'elicitation', id: 'ask1', answer: { kind: 'open' } },
    { key: 'a', type: 'elicitation', id: 'ask1', answer: { kind: 'decline' } },
    { key: 'a', type: 'elicitation', id: 'ask1', answer: { kind: 'cancel' } },
    { key: 'a', type: 'stopOne', kind: 'terminal', id: 't' },
    { key: 'a', type: 'stopOne', kind: 'subagent', id: 'child' },
    { key: 'a', type: 'saveResource', index: 12, content: 0 },
    { key: 'a', type: 'retryGap', id: 'past-3' },
    { key: 'a', type: 'retryGaps' },
    { key: 'a', type: 'draft', text: 'half', revision: 1 },
    {
      key: 'a',
      type: 'attachImage',
      data: 'aGk=',
      mimeType: 'image/png',
      name: 'x',
      thumbnail: 'data:image/webp;base64,aGk=',
    },
    { key: 'a', type: 'sendAgain', turnId: 't1' },
    { key: 'a', type: 'sendCommand', name: 'compact' },
    { key: 'a', type: 'focusView', on: true },
    { key: 'a', type: 'attachFile', data: 'aGk=', mimeType: '', name: 'x' },
    { key: 'a', type: 'attachFile', data: 'aGk=', mimeType: 'application/vnd.ms-excel', name: 'x' },
  ];
  for (const message of taken) {
    it(`is accepted: ${JSON.stringify(message)}`, () => {
      assert.deepEqual(readFromWebview(message), message);
    });
  }

  const refused: readonly object[] = [
    { key: 'a', type: 'elicitation', id: 'ask1', answer: { kind: 'submit', values: { a: { deep: 1 } } } },
    { key: 'a', type: 'elicitation', id: 'ask1', answer: { kind: 'submit', values: { a: 'x'.repeat(20_001) } } },
    { key: 'a', type: 'elicitation', id: 'ask1', answer: { kind: 'accept' } },
    { key: 'a', type: 'elicitation', id: 7, answer: { kind: 'open' } },
    { key: 'a', type: 'stopOne', kind: 'machine', id: 't' },
    { key: 'a', type: 'saveResource', index: -1, content: 0 },
    { key: 'a', type: 'saveResource', index: 0, content: 0.5 },
    { key: 'a', type: 'retryGap', id: 'x'.repeat(501) },
    { key: 7, type: 'draft', text: 'half', revision: 1 },
    { key: 'a', type: 'attachFile', data: 'aGk=', mimeType: 'text/html;x"', name: 'x' },
    ...['https://x.example/a.png', 'data:image/svg+xml;base64,aGk=', `data:image/webp;base64,${'a'.repeat(8192)}`].map(
      (thumbnail) => ({ thumbnail, key: 'a', type: 'attachImage', data: 'aGk=', mimeType: 'image/png', name: 'x' }),
    ),
  ];
  for (const message of refused) {
    it(`is rejected: ${JSON.stringify(message).slice(0, 90)}`, () => {
      assert.ok('refused' in readFromWebview(message));
    });
  }

  it("can't choose what is saved or where", () => {
    const message = { key: 'a', type: 'saveResource', index: 1, content: 2, text: 'other', path: '/etc/passwd' };
    assert.deepEqual(readFromWebview(message), { key: 'a', type: 'saveResource', index: 1, content: 2 });
  });

  it("can't choose which page is opened", () => {
    const message = { key: 'a', type: 'elicitation', id: 'a', answer: { kind: 'open', url: 'https://evil.example/' } };
    assert.deepEqual(readFromWebview(message), { key: 'a', type: 'elicitation', id: 'a', answer: { kind: 'open' } });
  });

  it('belongs to a session, except for a first message before any was shown', () => {
    for (const type of ['cancel', 'wake']) assert.ok('refused' in readFromWebview({ type }), type);
    assert.ok('refused' in readFromWebview({ key: null, type: 'permission', id: 'p', optionId: 'o' }));
    assert.ok(!('refused' in readFromWebview({ key: null, type: 'endFind' })), 'the find key works at once');
    const first = { key: null, type: 'send', clientId: 'c', text: 'hello', revision: 1 };
    assert.deepEqual(readFromWebview(first), first);
  });

  it('is rejected with its ids if too large', () => {
    const text = 'x'.repeat(2_000_001);
    sameData(readFromWebview({ key: 'a', type: 'send', clientId: 'c1', text }), {
      refused: 'too-large',
      type: 'send',
      clientId: 'c1',
    });
    sameData(
      readFromWebview({ key: 'a', type: 'elicitation', id: 'q', answer: { kind: 'submit', values: { a: text } } }),
      { refused: 'too-large', type: 'elicitation', id: 'q' },
    );
    sameData(readFromWebview({ type: 7, id: 'x'.repeat(501) }), { refused: 'invalid', type: 'unknown' });
  });
});
