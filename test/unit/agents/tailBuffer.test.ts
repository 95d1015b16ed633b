// The end of a program's output in bounded memory.
import assert from 'node:assert/strict';
import { TailBuffer } from '../../../src/agents/agentProcess';

describe('TailBuffer', () => {
  it('keeps the end of the output, without a partial line after dropping text', () => {
    const tail = new TailBuffer(20);
    for (let n = 0; n < 1000; n++) tail.append(`line ${n}\n`);
    assert.equal(tail.toString(), 'line 998\nline 999\n');
    assert.equal(tail.lines(1), 'line 999');
  });

  it('keeps everything that fits, and the end of a line that does not', () => {
    const tail = new TailBuffer(10);
    assert.equal(tail.toString(), '');
    assert.equal(tail.lines(5), '');
    tail.append('ab\ncd');
    assert.equal(tail.toString(), 'ab\ncd');
    tail.append('x'.repeat(100));
    assert.equal(tail.toString(), 'x'.repeat(10));
  });
});
