// A session that changes servers loses nothing, whatever the servers know or forget.
import assert from 'node:assert/strict';
import {
  checkAfterRun,
  compareHistories,
  decideHandOver,
  type ServerAnswer,
} from '../../../../src/distributed/client/handOver';
import { hashOf } from '../../../../src/distributed/model/resourceUrl';

const [a1, a2, b1, c1] = ['http://a/1', 'http://a/2', 'http://b/1', 'http://c/1'] as const;
const session = (...history: string[]) => ({ id: 'session-123', history });
const hash = (digit: string) => `#sha256=${digit.repeat(64)}`;

describe('two versions of a history', () => {
  const cases: readonly (readonly [string[], string[], string, number])[] = [
    [[], [], 'same', 0],
    [[a1, a2], [a1, a2], 'same', 2],
    [[a1, a2], [a1], 'extends', 1],
    [[a1], [a1, a2], 'extendedBy', 1],
    [[], [a1], 'extendedBy', 0],
    [[a1, b1], [a1, c1], 'fork', 1],
    [[a1], [b1], 'fork', 0],
    [[`${a1}?sig=x&exp=1`], [`${a1}?sig=y&exp=2`], 'same', 1],
    [[`${a1}?v=1`], [`${a1}?v=2`], 'fork', 0],
    [[a1 + hash('a')], [a1 + hash('a')], 'same', 1],
    [[a1 + hash('a')], [a1], 'same', 1],
    [[a1 + hash('a')], [a1 + hash('b')], 'fork', 0],
  ];
  for (const [ours, theirs, relation, common] of cases) {
    it(`are recognized: ${relation} (${ours.length} and ${theirs.length} entries)`, () => {
      assert.deepEqual(compareHistories(ours, theirs), { relation, common });
    });
  }
});

describe('handing a session over', () => {
  it('rejects another session', () => {
    const other: ServerAnswer = { kind: 'session', descriptor: { id: 'other', history: [a1, a2] } };
    assert.throws(() => decideHandOver(session(a1), other), { code: 'other-session' });
    assert.throws(() => checkAfterRun(session(a1), other), { code: 'other-session' });
  });

  it('keeps hashes, new signatures, the state and unknown fields when adopting a version', () => {
    const ours = { ...session(a1 + hash('a'), `${a2}?sig=old`), state: 'http://a/state', mine: 1 };
    const theirs = { ...session(`${a1}?sig=new`, `${a2}?sig=new`, b1), theirs: 2 };
    const result = decideHandOver(ours, { kind: 'session', descriptor: theirs });
    assert.ok(result.kind === 'send');
    const { history, ...rest } = result.descriptor;
    assert.deepEqual(rest, { id: 'session-123', state: 'http://a/state', mine: 1, theirs: 2 });
    assert.deepEqual(history.slice(1), [`${a2}?sig=new`, b1]);
    assert.equal(hashOf(history[0] ?? ''), 'a'.repeat(64));
    assert.match(history[0] ?? '', /sig=new/);
  });
});

describe('after a run', () => {
  it('does not treat an unreachable server as up to date', () => {
    assert.deepEqual(checkAfterRun(session(a1), { kind: 'unreachable' }), { kind: 'unverified' });
  });
});
