// The tables of docs/protocol.md are complete: each item of the schemas has a test that drives it,
// or a reason why it is not supported.
import { strict as assert } from 'node:assert';
import { gaps } from './gaps';
import { collectProofs, itemsOf } from './matrix';

describe('the tables of what is supported', () => {
  const proofs = collectProofs();
  const all = [...itemsOf(1), ...itemsOf(2)].map(({ item }) => item);

  it('gives a reason for each item that no test proves', () => {
    assert.deepEqual(
      all.filter((item) => !proofs.has(item) && gaps[item] === undefined),
      [],
    );
  });

  it('names as missing only items of the schemas that no test proves', () => {
    const known = new Set(all);
    assert.deepEqual(
      Object.keys(gaps).filter((item) => proofs.has(item) || !known.has(item)),
      [],
    );
  });

  it('has only tests that claim items of the schemas', () => {
    const known = new Set(all);
    assert.deepEqual(
      [...proofs.keys()].filter((item) => !known.has(item)),
      [],
    );
  });
});
