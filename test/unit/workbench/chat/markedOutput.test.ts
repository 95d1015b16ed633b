// The output of one command among what its terminal received: late marks, marks in pieces, none at
// all.
import { strict as assert } from 'node:assert';
import { MarkedOutput } from '../../../../src/workbench/chat/markedOutput';

const BEGIN = '\u001b]633;C\u0007';
const end = (code = ''): string => `\u001b]633;D${code === '' ? '' : `;${code}`}\u0007`;

function textOf(...pieces: readonly string[]): string {
  const output = new MarkedOutput(1000);
  for (const piece of pieces) output.append(piece);
  return output.text().output;
}

describe('the output between the marks of a command', () => {
  it('is what stands between its beginning and its end', () => {
    assert.equal(textOf(`prompt$ ${BEGIN}one\n`, `two\n${end('1')}prompt$ `), 'one\ntwo\n');
  });

  it('is not ended by the late end of the command before', () => {
    assert.equal(textOf(`old${end('0')}`, `prompt$ ${BEGIN}`, 'new'), 'new');
    assert.equal(textOf(`${end()}\u001b]633;A\u0007$ ${BEGIN}new${end()}`), 'new');
  });

  it('is everything where no beginning is marked', () => {
    assert.equal(textOf('one ', 'two'), 'one two');
    assert.equal(textOf(`old${end('2')}one`), 'one');
  });

  it('is found whatever the pieces are', () => {
    for (const mark of [BEGIN, '\u001b]133;C\u001b\\'])
      for (const last of [end('130'), '\u001b]133;D;1\u001b\\', end()]) {
        const all = `x${mark}a\u001b[1mb\u001b]0;title\u0007c${last}y`;
        for (let size = 1; size < all.length; size++) {
          const pieces = all.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
          assert.equal(textOf(...pieces), 'a\u001b[1mb\u001b]0;title\u0007c', `pieces of ${size}`);
        }
      }
  });

  it('does not begin again after its end', () => {
    assert.equal(textOf(`${BEGIN}one${end()}${BEGIN}two${end()}`), 'one');
  });

  it('keeps its end where it is long, also where the beginning was marked long before', () => {
    const output = new MarkedOutput(100);
    output.append(BEGIN);
    for (let line = 0; line < 10_000; line++) output.append(`line ${line}\n`);
    const { output: text, truncated } = output.text();
    assert.ok(truncated && text.endsWith('line 9999\n') && Buffer.byteLength(text) <= 100);
  });

  it('does not wait for a mark that never becomes one', () => {
    assert.equal(textOf(BEGIN, '\u001b]633;D;', 'x'.repeat(100)), `\u001b]633;D;${'x'.repeat(100)}`);
  });
});
