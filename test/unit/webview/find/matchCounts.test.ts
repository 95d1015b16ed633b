// Navigation between matches.
import { strict as assert } from 'node:assert';
import { MatchCounts } from '../../../../src/webview/find/matchCounts';

describe('the matches of a search', () => {
  let counts: MatchCounts;

  beforeEach(() => {
    counts = new MatchCounts();
    counts.apply({
      counts: [
        [5, 2],
        [9, 1],
        [2, 1],
      ],
    });
  });

  it('are ordered as in the transcript, and wrap around after the last one', () => {
    const order = [];
    let match = counts.from(0);
    for (let step = 0; step < 5 && match; step++) {
      order.push(`${match.index}.${match.nth}`);
      match = counts.next(match);
    }
    assert.deepEqual(order, ['2.0', '5.0', '5.1', '9.0', '2.0']);
  });

  it('start at the visible entry, otherwise at the last one before', () => {
    assert.deepEqual(counts.near(3), { index: 5, nth: 0 });
    assert.deepEqual(counts.near(10), { index: 9, nth: 0 });
    assert.deepEqual(counts.near(900), { index: 9, nth: 0 });
  });

  it('keep correct ordinals while entries change', () => {
    const match = { index: 9, nth: 0 };
    assert.equal(counts.numberOf(match), 4);
    counts.apply({
      counts: [
        [5, 7],
        [2, 0],
        [12, 3],
      ],
    });
    assert.equal(counts.numberOf(match), 8);
    assert.equal(counts.total, 11);
    assert.equal(counts.numberOf({ index: 12, nth: 2 }), 11);
  });

  it('are none once the last one is removed', () => {
    counts.apply({ counts: [[1, 1]], isNew: true });
    assert.equal(counts.total, 1);
    counts.apply({ counts: [[1, 0]] });
    assert.equal(counts.total, 0);
    assert.equal(counts.near(0), undefined);
    assert.equal(counts.from(0), undefined);
    assert.equal(counts.next({ index: 1, nth: 0 }), undefined);
    assert.equal(counts.previous({ index: 1, nth: 0 }), undefined);
  });
});
