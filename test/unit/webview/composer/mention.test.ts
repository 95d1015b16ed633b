// Finding the mention being typed, and the one before the caret.
import assert from 'node:assert/strict';
import { mentionBefore, mentionQuery, mentionsIn } from '../../../../src/webview/composer/mention';

const at = (text: string) => {
  const caret = text.indexOf('|');
  return mentionQuery(text.replace('|', ''), caret);
};

describe('mentions in a message', () => {
  it('begin with an @ at the beginning of a word, and end at the caret', () => {
    assert.deepEqual(at('@|'), { start: 0, query: '' });
    assert.deepEqual(at('see @src/a.t|'), { start: 4, query: 'src/a.t' });
    assert.deepEqual(at('(@a|'), { start: 1, query: 'a' });
    assert.deepEqual(at('one\n@two| three'), { start: 4, query: 'two' });
  });

  it('are no addresses of mail, no words that go on, and no texts without an end', () => {
    assert.equal(at('me@example.org|'), undefined);
    assert.equal(at('@src|/a.ts'), undefined);
    assert.equal(at('@src/a.ts |'), undefined);
    assert.equal(at(`@${'x'.repeat(300)}|`), undefined);
  });

  it('are found before the caret by the labels of attachments, the longest first', () => {
    const labels = ['a.ts', 'src/a.ts', 'my notes.md'];
    assert.deepEqual(mentionBefore('see @src/a.ts ', 14, labels), 4);
    assert.deepEqual(mentionBefore('see @my notes.md', 16, labels), 4);
    assert.equal(mentionBefore('see src/a.ts ', 13, labels), undefined);
    assert.equal(mentionBefore('see @src/a.ts  ', 15, labels), undefined);
  });

  it('of a longer name are none of a shorter one', () => {
    const found = mentionsIn('@a.tsx and @b', ['a.ts', 'a.tsx', 'b']);
    assert.deepEqual([...found].sort(), [
      ['a.tsx', 0],
      ['b', 11],
    ]);
  });
});
