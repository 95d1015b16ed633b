// The retained end of a terminal's output.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { lastBytes, OutputTail } from '../../../src/terminals/outputTail';
import { seeds } from '../../support/tier';

/** Reference implementation: the last bytes, starting at a whole character. */
function plainTail(text: string, limit: number): string {
  let kept = '';
  let bytes = 0;
  for (const character of [...text].reverse()) {
    bytes += Buffer.byteLength(character);
    if (bytes > limit) break;
    kept = character + kept;
  }
  return kept;
}

describe('OutputTail', () => {
  it('retains exactly the last bytes at a character boundary, however the output is split', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'binary', maxLength: 30 })),
        fc.nat(60),
        fc.nat(60),
        (pieces, capacity, limit) => {
          const tail = new OutputTail(capacity);
          for (const piece of pieces) tail.append(piece);
          const all = pieces.join('');
          const most = Math.min(limit, capacity);
          assert.equal(tail.text(limit).output, plainTail(all, most));
          assert.equal(tail.text(limit).truncated, Buffer.byteLength(all) > most);
        },
      ),
      { numRuns: seeds(60, 500) },
    );
  });

  it('stays within its limit and stays fast for endless output', () => {
    const tail = new OutputTail(100_000);
    const line = 'ein Zeichen mit Umlaut: ä\n'.repeat(4);
    for (let n = 0; n < 200_000; n += 1) tail.append(line);
    const { output, truncated } = tail.text();
    assert.equal(truncated, true);
    assert.ok(Buffer.byteLength(output) <= 100_000 && Buffer.byteLength(output) > 99_990);
  });

  it('retains output that is written byte by byte', () => {
    const tail = new OutputTail(50_000);
    for (let n = 0; n < 120_000; n += 1) tail.append(String(n % 10));
    assert.equal(tail.text().output.length, 50_000);
    assert.ok(tail.text().output.endsWith('0123456789'));
  });

  it('never returns half a character', () => {
    assert.equal(lastBytes('a😀b', 4), 'b');
    assert.equal(lastBytes('a😀b', 5), '😀b');
    assert.equal(lastBytes('ä'.repeat(10), 5), 'ää');
    assert.equal(lastBytes('abc', 0), '');
  });
});
