// Finding the mention being typed, and the one before the caret.
import assert from 'node:assert/strict';
import { mentionBefore, mentionQuery, mentionsIn } from '../../../../src/webview/composer/mention';

const at = (text: string) => {
  const caret = text.indexOf('|');
  return mentionQuery(text.replace('|', ''), caret);
};

describe('mentions in a message', () => {
  it('begin with an @ at the start of a word, and end at the caret', () => {
    assert.deepEqual(at('@|'), { start: 0, query: '' });
    assert.deepEqual(at('see @src/a.t|'), { start: 4, query: 'src/a.t' });
    assert.deepEqual(at('(@a|'), { start: 1, query: 'a' });
    assert.deepEqual(at('one\n@two| three'), { start: 4, query: 'two' });
  });

  it('exclude mail addresses, words that continue, and unterminated text', () => {
    assert.equal(at('me@example.org|'), undefined);
    assert.equal(at('@src|/a.ts'), undefined);
    assert.equal(at('@src/a.ts |'), undefined);
    assert.equal(at(`@${'x'.repeat(300)}|`), undefined);
  });

  it('are found before the caret by attachment labels, longest first', () => {
    const labels = ['a.ts', 'src/a.ts', 'my notes.md'];
    assert.deepEqual(mentionBefore('see @src/a.ts ', 14, labels), 4);
    assert.deepEqual(mentionBefore('see @my notes.md', 16, labels), 4);
    assert.equal(mentionBefore('see src/a.ts ', 13, labels), undefined);
    assert.equal(mentionBefore('see @src/a.ts  ', 15, labels), undefined);
  });

  it('with a longer name do not match a shorter one', () => {
    const found = mentionsIn('@a.tsx and @b', ['a.ts', 'a.tsx', 'b']);
    assert.deepEqual([...found].sort(), [
      ['a.tsx', 0],
      ['b', 11],
    ]);
  });
});
