// The README's table of what is supported is true: each item has a test that drives it, or a reason why it is not there.
import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gaps } from './gaps';
import { collectProofs, itemsOf, renderMatrix, withSection } from './matrix';

describe('the table of what is supported', () => {
  const proofs = collectProofs();
  const all = [...itemsOf(1), ...itemsOf(2)].map(({ item }) => item);

  it('tells the user less or more than the tests show: node scripts/run.mjs matrix', () => {
    const readme = readFileSync(join(process.cwd(), 'README.md'), 'utf8');
    assert.equal(readme, withSection(readme, renderMatrix(proofs)));
  });

  it('leaves something out without a reason', () => {
    assert.deepEqual(
      all.filter((item) => !proofs.has(item) && gaps[item] === undefined),
      [],
    );
  });

  it('calls something missing that a test proves, or that no schema has', () => {
    const known = new Set(all);
    assert.deepEqual(
      Object.keys(gaps).filter((item) => proofs.has(item) || !known.has(item)),
      [],
    );
  });

  it('has a test that claims something which no schema has', () => {
    const known = new Set(all);
    assert.deepEqual(
      [...proofs.keys()].filter((item) => !known.has(item)),
      [],
    );
  });
});
