// Lines and smallest changes.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { sliceLines, smallestChange } from '../../../../src/client/requests/textEdit';

describe('sliceLines', () => {
  const text = 'one\ntwo\r\nthree\n';

  it('gives the line an agent asked for, counted from 1', () => {
    assert.equal(sliceLines(text, 1, 1), 'one\n');
    assert.equal(sliceLines(text, 2, 1), 'two\r\n');
    assert.equal(sliceLines(text, 2, undefined), 'two\r\nthree\n');
    assert.equal(sliceLines(text, undefined, 2), 'one\ntwo\r\n');
  });

  it('gives nothing past the end instead of failing', () => {
    assert.equal(sliceLines(text, 4, 10), '');
    assert.equal(sliceLines(text, 100, undefined), '');
    assert.equal(sliceLines(text, 1, 0), '');
    assert.equal(sliceLines('', 1, 5), '');
    assert.equal(sliceLines('no end', 1, 1), 'no end');
  });

  it('loses nothing when a file is read line by line', () => {
    const texts = fc.array(fc.constantFrom('a', 'ä', '\n', '\r\n', '\r', '😀')).map((parts) => parts.join(''));
    fc.assert(
      fc.property(texts, (whole) => {
        let read = '';
        for (let line = 1; read.length < whole.length; line += 1) read += sliceLines(whole, line, 1);
        assert.equal(read, whole);
      }),
    );
  });
});

describe('smallestChange', () => {
  it('makes the new text of the old one and never cuts a character in two', () => {
    const texts = fc.array(fc.constantFrom('a', 'b', '\n', '\r\n', '\r', '😀', '😁')).map((parts) => parts.join(''));
    fc.assert(
      fc.property(texts, texts, (before, after) => {
        const change = smallestChange(before, after);
        if (!change) return assert.equal(before, after);
        assert.ok(change.start <= change.end);
        assert.equal(before.slice(0, change.start) + change.text + before.slice(change.end), after);
        assert.ok(change.text.isWellFormed());
        assert.ok(before.slice(change.start, change.end).isWellFormed());
      }),
      { numRuns: 1_000 },
    );
  });

  it('touches only what changed, so that the cursor elsewhere stays', () => {
    assert.deepEqual(smallestChange('alpha\nbeta\ngamma\n', 'alpha\nBETA\ngamma\n'), {
      start: 6,
      end: 10,
      text: 'BETA',
    });
    assert.deepEqual(smallestChange('aa', 'aaa'), { start: 2, end: 2, text: 'a' });
    assert.equal(smallestChange('same', 'same'), undefined);
  });
});
