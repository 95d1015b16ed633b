// The replay of a reopened session in the model.
import { strict as assert } from 'node:assert';
import type { SessionEvent } from '../../../../src/session/events/event';
import { began, call as callOf, chunk, play } from '../../../support/sessionEvents';

const user = (words: string, messageId?: string) => chunk('user', words, messageId);
const agent = (words: string) => chunk('agent', words);
const call = (id: string, status: 'pending' | 'completed') => callOf(id, { title: 'Look', status });
const plan = (content: string): SessionEvent => ({
  type: 'plan',
  planId: 'plan',
  entries: [{ content, status: 'completed' }],
});
const begins = began('t1');

describe('the replay of a session', () => {
  it('replaces the old transcript once that is cleared', () => {
    const model = play(user('old'), { type: 'cleared', replay: true }, user('one'));
    assert.equal(model.state.entries.length, 1);
  });

  it('creates turns that neither run nor end', () => {
    const past = [user('on'), user('e'), agent('1'), user('two'), agent('2')];
    const { state } = play({ type: 'cleared', replay: true }, ...past);
    assert.equal(state.turn, undefined);
    assert.deepEqual(
      state.turns.map(({ id, replayed, endedAt, stopReason }) => ({ id, replayed, endedAt, stopReason })),
      ['r1', 'r2'].map((id) => ({ id, replayed: true, endedAt: undefined, stopReason: undefined })),
    );
    assert.deepEqual(
      state.entries.map((entry) => [entry.kind, entry.turnId, entry.late]),
      [
        ['user', 'r1', undefined],
        ['agent', 'r1', undefined],
        ['user', 'r2', undefined],
        ['agent', 'r2', undefined],
      ],
    );
  });

  it('puts messages before the first user message outside of turns', () => {
    const { state } = play({ type: 'cleared', replay: true }, agent('hello'), user('one'));
    assert.equal(state.entries[0]?.turnId, undefined);
    assert.equal(state.turns.length, 1);
  });

  it('keeps plans and calls of different turns apart when the agent reuses ids in each', () => {
    const { state } = play(
      { type: 'cleared', replay: true },
      user('one', 'a'),
      call('c', 'completed'),
      plan('x'),
      user('two', 'b'),
      call('c', 'completed'),
      plan('y'),
    );
    assert.deepEqual(
      state.entries.map(({ kind }) => kind),
      ['user', 'tool', 'plan', 'user', 'tool', 'plan'],
    );
    assert.deepEqual(
      state.turns.map(({ tools }) => tools),
      [1, 1],
    );
  });

  it('closes calls that were left open', () => {
    const model = play(
      { type: 'cleared', replay: true },
      user('one'),
      call('c', 'pending'),
      user('two'),
      call('d', 'pending'),
    );
    const statuses = (): string[] =>
      model.state.entries.flatMap((entry) => (entry.kind === 'tool' ? [entry.status] : []));
    assert.deepEqual(statuses(), ['cancelled', 'pending']);
    model.apply(begins, 9);
    assert.deepEqual(statuses(), ['cancelled', 'cancelled']);
  });

  it('ends when a live turn starts, even if the agent never ends it', () => {
    const model = play({ type: 'cleared', replay: true }, user('one'), agent('1'), begins);
    assert.equal(model.state.replaying, false);
    model.apply(user('another client'), 10);
    assert.deepEqual(
      model.state.turns.map(({ id }) => id),
      ['r1', 't1'],
    );
  });

  it('starts only when the event says so, not on every clear', () => {
    assert.equal(play({ type: 'cleared' }, user('one')).state.turns.length, 0);
  });
});
