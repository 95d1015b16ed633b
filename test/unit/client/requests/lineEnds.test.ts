// Line ends of files that agents write.
import assert from 'node:assert/strict';
import { keepLineEnds } from '../../../../src/client/requests/lineEnds';

describe('keepLineEnds', () => {
  it('keeps CRLF when an agent writes LF, and LF when it writes CRLF', () => {
    assert.equal(keepLineEnds('a\r\nb\r\n', 'x\ny\n'), 'x\r\ny\r\n');
    assert.equal(keepLineEnds('a\nb\n', 'x\r\ny\r\n'), 'x\ny\n');
    assert.equal(keepLineEnds('a\r\nb\r\n', 'x\r\ny\n'), 'x\r\ny\r\n');
  });

  it('leaves a mixed file mixed when the agent kept its endings', () => {
    assert.equal(keepLineEnds('a\r\nb\nc\n', 'a\r\nB\nc\n'), 'a\r\nB\nc\n');
    assert.equal(keepLineEnds('a\nb\r\nc\n', 'a\nnew\nb\r\nc\n'), 'a\nnew\nb\r\nc\n');
  });

  it('keeps the end of each unchanged line of a mixed file when the agent writes one kind', () => {
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
