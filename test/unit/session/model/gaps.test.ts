// Gaps in the transcript of an imported session are filled in place.
import assert from 'node:assert/strict';
import type { GapFilling, PastEvent, SessionEvent } from '../../../../src/session/events/event';
import { Changes } from '../../../../src/session/model/changes';
import { textOf } from '../../../../src/session/model/entryText';
import type { Entry } from '../../../../src/session/model/state';
import { began, call, chunk, ended, play, prompted, text } from '../../../support/sessionEvents';

const AT = 1_700_000_000_000;

const gap = (gapId: string, state: 'loading' | 'retryable' | 'final' = 'retryable'): SessionEvent => ({
  type: 'gap',
  gapId,
  text: `${gapId} is missing`,
  state,
});
const user = (messageId: string): PastEvent => ({
  type: 'message',
  role: 'user',
  messageId,
  content: [text(messageId)],
});
const answerOf = (number: number) =>
  [
    call(`past:${number}`, { title: 'look', status: 'completed' }),
    chunk('agent', 'found', 'past:2'),
  ] as readonly PastEvent[];
const answer = answerOf(1);

function words(entry: Entry): string {
  if (entry.kind === 'gap') return `gap ${entry.gapId} ${entry.state}`;
  if (entry.kind === 'tool') return `tool ${entry.title} ${entry.status}`;
  if (entry.kind === 'user' || entry.kind === 'agent') return `${entry.kind} ${textOf(entry)}`;
  return entry.kind;
}

describe('gaps in a transcript', () => {
  it('are replaced by the message once it is loaded', () => {
    const model = play(gap('a', 'loading'), user('two'));
    model.apply({ type: 'gap_filled', gapId: 'a', at: AT - 5, events: [user('one')] }, AT);
    assert.deepEqual(model.state.entries.map(words), ['user one', 'user two']);
    assert.equal(model.state.entries[0]?.at, AT - 5, 'with the time at which it was said');
    assert.equal(model.state.entries[0]?.id, 'e0');
  });

  it('show the reason of the latest attempt', () => {
    const model = play(gap('a', 'loading'));
    model.apply(gap('a', 'final'), AT);
    assert.deepEqual(model.state.entries.map(words), ['gap a final']);
  });

  it('apply later updates to the right entry after a gap becomes several', () => {
    const model = play(
      gap('a'),
      gap('b'),
      began('t1'),
      prompted('t1', 'go'),
      call('live', { title: 'run', status: 'in_progress' }),
      chunk('agent', 'wor', 'm'),
    );
    model.apply({ type: 'gap_filled', gapId: 'a', at: AT, events: answer }, AT);
    model.apply({ type: 'gap_filled', gapId: 'b', at: AT, events: [user('b')] }, AT);
    const rest = [chunk('agent', 'king', 'm'), call('live', { title: 'ran' }, false), chunk('user', 'go'), ended('t1')];
    for (const event of rest) model.apply(event, AT);
    const { entries } = model.state;
    const live = entries.filter((entry) => entry.turnId === 't1');
    assert.deepEqual(entries.slice(0, 3).map(words), ['tool look completed', 'agent found', 'user b']);
    assert.deepEqual(live.slice(0, 3).map(words), ['user go', 'tool ran cancelled', 'agent working']);
    assert.deepEqual(
      entries.map(({ index }) => index),
      entries.map((_, index) => index),
    );
    assert.equal(new Set(entries.map(({ id }) => id)).size, entries.length, 'every entry has its own id');
  });

  it('notify the reader that entries have moved', () => {
    const model = play(gap('a'), user('two'));
    const changes = new Changes(() => {});
    model.observe(changes);
    model.apply({ type: 'gap_filled', gapId: 'a', at: AT, events: [user('one')] }, AT);
    assert.deepEqual([changes.cleared, [...changes.entries]], [false, [[0, true]]], 'one for one moves nothing');
    model.apply(gap('b'), AT);
    model.apply({ type: 'gap_filled', gapId: 'b', at: AT, events: answer }, AT);
    assert.equal(changes.cleared, true);
  });

  it('are filled only once, and only if the id is known', () => {
    const model = play(gap('a'));
    for (const gapId of ['b', 'a', 'a']) model.apply({ type: 'gap_filled', gapId, at: AT, events: [user('one')] }, AT);
    assert.deepEqual(model.state.entries.map(words), ['user one']);
    model.apply(gap('c'), AT);
    model.apply({ type: 'gap_filled', gapId: 'c', at: AT, events: [] }, AT);
    assert.deepEqual(model.state.entries.map(words), ['user one', 'gap c final'], 'an empty message leaves its place');
  });

  const gapsOf = (count: number): SessionEvent => ({
    type: 'gaps',
    prefix: 'g',
    first: 0,
    count,
    text: 'on its way',
    state: 'loading',
  });

  it('are added for a whole history by one event, and updated by another', () => {
    const model = play(gapsOf(3), user('now'));
    const loading = ['gap g0 loading', 'gap g1 loading', 'gap g2 loading', 'user now'];
    assert.deepEqual(model.state.entries.map(words), loading);
    model.apply({ type: 'gap_filled', gapId: 'g1', at: AT, events: [user('one')] }, AT);
    model.apply({ type: 'gaps', prefix: 'g', first: 2, count: 1, text: 'stopped', state: 'retryable' }, AT);
    assert.deepEqual(model.state.entries.map(words), ['gap g0 loading', 'user one', 'gap g2 retryable', 'user now']);
  });

  it('replace a single gap by those of a whole history, with ids that no filling uses', () => {
    const model = play(gap('all'), user('now'));
    const changes = new Changes(() => {});
    model.observe(changes);
    const gaps = { ...gapsOf(3), inPlaceOf: 'all' } as SessionEvent;
    model.apply(gaps, AT);
    assert.equal(changes.cleared, true);
    model.apply(gaps, AT);
    for (const gapId of ['g0', 'g2']) model.apply({ type: 'gap_filled', gapId, at: AT, events: answer }, AT);
    const filling = play(gap('a'), { type: 'gap_filled', gapId: 'a', at: AT, events: answer }).state.entries.map(words);
    const { entries } = model.state;
    assert.deepEqual(entries.map(words), [...filling, 'gap g1 loading', ...filling, 'user now']);
    assert.deepEqual(
      entries.map(({ index }) => index),
      entries.map((_, index) => index),
    );
    assert.equal(new Set(entries.map(({ id }) => id)).size, entries.length, 'every entry has its own id');
  });

  it('are limited to the maximum number of messages in a history', () => {
    assert.equal(play(gapsOf(1e9)).state.entries.length, 20_000);
  });

  it('move entries once for many messages that arrive together', () => {
    const fill = (index: number): GapFilling => ({
      gapId: `g${(index * 37) % 100}`,
      at: AT,
      events: index % 3 === 0 ? answerOf(index) : index % 7 === 0 ? [] : [user(`m${index}`)],
    });
    const fillings = Array.from({ length: 60 }, (_, index) => fill(index));
    const together = play(gapsOf(100), user('end'));
    let told = 0;
    together.observe(new Changes(() => told++));
    together.apply({ type: 'gaps_filled', fillings }, AT);
    const empty = fillings.filter(({ events }) => events.length === 0).length;
    assert.equal(told, empty + 1, 'one change for all that was filled');

    const apart = play(gapsOf(100), user('end'));
    for (const filling of fillings) apart.apply({ type: 'gap_filled', ...filling }, AT);
    assert.deepEqual(together.state.entries, apart.state.entries);
    for (const model of [together, apart]) {
      model.apply(gap('g99', 'final'), AT);
      model.apply(call('past:3', { title: 'seen' }, false), AT);
    }
    assert.deepEqual(together.state.entries, apart.state.entries, 'what comes later finds its place');
  });
});
