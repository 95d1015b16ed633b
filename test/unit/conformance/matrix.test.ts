// The tables of docs/protocol.md are complete: each item of the schemas has a test, or a reason why
// it is not supported.
import { strict as assert } from 'node:assert';
import { gaps } from './gaps';
import { collectProofs, itemsOf } from './matrix';

describe('the tables of supported items', () => {
  const proofs = collectProofs();
  const all = [...itemsOf(1), ...itemsOf(2)].map(({ item }) => item);

  it('give a reason for each item without a test', () => {
    assert.deepEqual(
      all.filter((item) => !proofs.has(item) && gaps[item] === undefined),
      [],
    );
  });

  it('list as missing only items of the schemas without a test', () => {
    const known = new Set(all);
    assert.deepEqual(
      Object.keys(gaps).filter((item) => proofs.has(item) || !known.has(item)),
      [],
    );
  });

  it('contain only tests of items of the schemas', () => {
    const known = new Set(all);
    assert.deepEqual(
      [...proofs.keys()].filter((item) => !known.has(item)),
      [],
    );
  });
});
