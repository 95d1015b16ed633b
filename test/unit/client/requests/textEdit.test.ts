// Lines and smallest changes.

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { keepLineEnds } from '../../../../src/client/requests/lineEnds';
import { sliceLines, smallestChange } from '../../../../src/client/requests/textEdit';

describe('sliceLines', () => {
  const text = 'one\ntwo\r\nthree\n';

  it('returns nothing past the end', () => {
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
  it('turns the old text into the new one without splitting a character', () => {
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

  it('touches only what changed, so that cursors elsewhere stay', () => {
    assert.deepEqual(smallestChange('alpha\nbeta\ngamma\n', 'alpha\nBETA\ngamma\n'), {
      start: 6,
      end: 10,
      text: 'BETA',
    });
    assert.deepEqual(smallestChange('aa', 'aaa'), { start: 2, end: 2, text: 'a' });
    assert.equal(smallestChange('same', 'same'), undefined);
  });
});

describe('keepLineEnds', () => {
  it('keeps CRLF if an agent writes LF, and LF if it writes CRLF', () => {
    assert.equal(keepLineEnds('a\r\nb\r\n', 'x\ny\n'), 'x\r\ny\r\n');
    assert.equal(keepLineEnds('a\nb\n', 'x\r\ny\r\n'), 'x\ny\n');
    assert.equal(keepLineEnds('a\r\nb\r\n', 'x\r\ny\n'), 'x\r\ny\r\n');
  });

  it('keeps mixed line ends if the agent kept them', () => {
    assert.equal(keepLineEnds('a\r\nb\nc\n', 'a\r\nB\nc\n'), 'a\r\nB\nc\n');
    assert.equal(keepLineEnds('a\nb\r\nc\n', 'a\nnew\nb\r\nc\n'), 'a\nnew\nb\r\nc\n');
  });

  it('keeps the ends of unchanged lines in a mixed file if the agent writes one kind', () => {
    assert.equal(keepLineEnds('a\r\nb\nc\r\nd\n', 'a\nB\nc\nd\n'), 'a\r\nB\nc\r\nd\n');
    assert.equal(keepLineEnds('a\r\nb\nc\r\nd\n', 'a\r\nb\r\nC\r\nd\r\n'), 'a\r\nb\nC\r\nd\n');
    assert.equal(keepLineEnds('a\r\nb\nc\r\nd\n', 'a\nb\nnew\nc\nd\n'), 'a\r\nb\nnew\nc\r\nd\n');
    assert.equal(keepLineEnds('a\r\nb\r\nc\n', 'x\ny\n'), 'x\r\ny\r\n');
  });

  it('leaves it to the agent whether the last line has an end', () => {
    assert.equal(keepLineEnds('a\r\nb\nc', 'a\nb\nc\n'), 'a\r\nb\nc\n');
    assert.equal(keepLineEnds('a\r\nb\n', 'a\nb'), 'a\r\nb');
    assert.equal(keepLineEnds('a\r\nb', 'a\nb\nc'), 'a\r\nb\r\nc');
  });

  it('keeps a text as it is if the file has no lines yet', () => {
    assert.equal(keepLineEnds('', 'x\r\ny\n'), 'x\r\ny\n');
  });
});
