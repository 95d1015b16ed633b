// A command's output within its terminal's: with late, split or missing marks.
import { strict as assert } from 'node:assert';
import { MarkedOutput } from '../../../../src/workbench/chat/markedOutput';

const BEGIN = '\u001b]633;C\u0007';
const end = (code = ''): string => `\u001b]633;D${code === '' ? '' : `;${code}`}\u0007`;

function textOf(...pieces: readonly string[]): string {
  const output = new MarkedOutput(1000);
  for (const piece of pieces) output.append(piece);
  return output.text().output;
}

describe("a command's marked output", () => {
  it('is the text between its start and end marks', () => {
    assert.equal(textOf(`prompt$ ${BEGIN}one\n`, `two\n${end('1')}prompt$ `), 'one\ntwo\n');
  });

  it('is not ended by the late end mark of the previous command', () => {
    assert.equal(textOf(`old${end('0')}`, `prompt$ ${BEGIN}`, 'new'), 'new');
    assert.equal(textOf(`${end()}\u001b]633;A\u0007$ ${BEGIN}new${end()}`), 'new');
  });

  it('is everything if there is no start mark', () => {
    assert.equal(textOf('one ', 'two'), 'one two');
    assert.equal(textOf(`old${end('2')}one`), 'one');
  });

  it('is found however the chunks are split', () => {
    for (const mark of [BEGIN, '\u001b]133;C\u001b\\'])
      for (const last of [end('130'), '\u001b]133;D;1\u001b\\', end()]) {
        const all = `x${mark}a\u001b[1mb\u001b]0;title\u0007c${last}y`;
        for (let size = 1; size < all.length; size++) {
          const pieces = all.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
          assert.equal(textOf(...pieces), 'a\u001b[1mb\u001b]0;title\u0007c', `pieces of ${size}`);
        }
      }
  });

  it('does not start again after its end', () => {
    assert.equal(textOf(`${BEGIN}one${end()}${BEGIN}two${end()}`), 'one');
  });

  it('keeps its end if it is long, even long after the start mark', () => {
    const output = new MarkedOutput(100);
    output.append(BEGIN);
    for (let line = 0; line < 10_000; line++) output.append(`line ${line}\n`);
    const { output: text, truncated } = output.text();
    assert.ok(truncated && text.endsWith('line 9999\n') && Buffer.byteLength(text) <= 100);
  });

  it('does not wait for an incomplete mark', () => {
    assert.equal(textOf(BEGIN, '\u001b]633;D;', 'x'.repeat(100)), `\u001b]633;D;${'x'.repeat(100)}`);
  });
});
