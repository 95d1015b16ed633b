// Calls of subagents are nested in the calls that started them, in any order of arrival.
import { strict as assert } from 'node:assert';
import fc from 'fast-check';
import type { SessionEvent, ToolPatch } from '../../../../src/session/events/event';
import { Changes } from '../../../../src/session/model/changes';
import { textOf } from '../../../../src/session/model/entryText';
import type { SessionModel } from '../../../../src/session/model/model';
import type { Entry } from '../../../../src/session/model/state';
import { inNestedOrder, MAX_NESTING } from '../../../../src/session/model/state';
import { sameData } from '../../../support/sameData';
import { began, call as callOf, chunk, ended, play } from '../../../support/sessionEvents';

const call = (toolCallId: string, patch: ToolPatch = {}, announced = true): SessionEvent =>
  callOf(toolCallId, { title: toolCallId, status: 'in_progress', ...patch }, announced);
const said = (words: string, parent?: string): SessionEvent => chunk('agent', words, undefined, parent);

function nameOf(entry: Entry): string {
  if (entry.kind === 'tool') return entry.toolCallId;
  return 'content' in entry ? textOf(entry) : entry.kind;
}

const paths = ({ state }: SessionModel): string[] =>
  state.entries.map((entry) => [...state.nests.pathOf(entry), entry].map(nameOf).join('/'));

function counts({ state }: SessionModel, index = 0) {
  const entry = state.entries[index];
  return entry?.kind === 'tool' ? state.nests.countsOf(entry) : undefined;
}

describe('nested calls', () => {
  it('are nested in the call that started their subagent, even if several run in parallel', () => {
    const model = play(
      call('A'),
      call('B'),
      call('a1', { parent: 'A' }),
      call('b1', { parent: 'B' }),
      call('a2', { parent: 'A' }),
      call('own'),
    );
    assert.deepEqual(paths(model), ['A', 'B', 'A/a1', 'B/b1', 'A/a2', 'own']);
    assert.deepEqual(
      inNestedOrder(model.state.entries, model.state.nests).map(({ entry, depth }) => `${depth} ${nameOf(entry)}`),
      ['0 A', '1 a1', '1 a2', '0 B', '1 b1', '0 own'],
    );
  });

  it('count as calls of all their parents, which name one that is running', () => {
    const model = play(call('A'), call('B', { parent: 'A' }), call('b', { parent: 'B' }), call('a', { parent: 'A' }));
    assert.deepEqual(counts(model), { calls: 3, open: 3, now: 'a' });
    model.apply(call('a', { status: 'completed' }, false), 1);
    model.apply(call('b', { status: 'failed' }, false), 1);
    sameData(counts(model), { calls: 3, open: 1 });
    model.apply(began('t'), 2);
    model.apply(call('c', { parent: 'B', title: 'Read x' }), 2);
    assert.deepEqual(counts(model), { calls: 4, open: 1, now: 'Read x' });
    model.apply(ended('t', 'cancelled'), 3);
    sameData(counts(model), { calls: 4, open: 0 });
  });

  it('stay in place until their parent is known, and are nested in it then', () => {
    const model = play(call('a', { parent: 'A' }), call('stray', { parent: 'nobody' }));
    assert.deepEqual(paths(model), ['a', 'stray']);
    const changes = new Changes(() => {});
    model.observe(changes);
    model.apply(call('A'), 1);
    assert.deepEqual(paths(model), ['A/a', 'stray', 'A']);
    assert.deepEqual([...changes.entries.keys()].sort(), [0, 2]);
  });

  it('take their parent from any update, and keep the first one', () => {
    const model = play(call('A'), call('B'), call('x'));
    model.apply(call('x', { parent: 'B' }, false), 1);
    model.apply(call('x', { parent: 'A' }, false), 1);
    assert.deepEqual(paths(model), ['A', 'B', 'B/x']);
  });

  it('are limited in depth: deeper calls are at the last level', () => {
    const chain = Array.from({ length: 1000 }, (_, n) => call(`${n}`, n > 0 ? { parent: `${n - 1}` } : {}));
    const model = play(...chain);
    const depths = model.state.entries.map((entry) => model.state.nests.pathOf(entry).length);
    assert.equal(Math.max(...depths), MAX_NESTING);
    assert.equal(depths.filter((depth) => depth === MAX_NESTING).length, 1000 - MAX_NESTING);
    assert.equal(counts(model)?.calls, 999);
  });

  it('are never nested in themselves', () => {
    const model = play(call('a', { parent: 'b' }), call('b', { parent: 'a' }), call('c', { parent: 'c' }));
    assert.equal(inNestedOrder(model.state.entries, model.state.nests).length, 3);
    for (const entry of model.state.entries) assert.ok(!model.state.nests.pathOf(entry).includes(entry as never));
  });

  it('are nested in the call of their own turn if an id is reused', () => {
    const model = play(began('1'), call('A'), call('x', { parent: 'A' }), ended('1'));
    for (const event of [began('2'), call('A'), call('y', { parent: 'A' })]) model.apply(event, 1);
    const { entries, nests } = model.state;
    const calls = entries.filter((entry) => nameOf(entry) === 'A');
    assert.deepEqual(
      calls.map((entry) => nests.childrenOf(entry).map(nameOf)),
      [['x'], ['y']],
    );
  });

  it('may arrive after the end of the turn', () => {
    const model = play(began('t'), call('A'), ended('t'), call('late', { parent: 'A' }));
    const late = model.state.entries.at(-1);
    assert.equal(late?.late, true);
    assert.equal(late && model.state.nests.parentOf(late)?.toolCallId, 'A');
  });

  it("keep the text of each subagent separate, and separate from the agent's", () => {
    const model = play(
      call('A'),
      call('B'),
      said('I '),
      said('a1 ', 'A'),
      said('b ', 'B'),
      said('a2', 'A'),
      said('wait'),
      call('x', { parent: 'A' }),
      said('a3', 'A'),
    );
    assert.deepEqual(paths(model), ['A', 'B', 'I ', 'A/a1 a2', 'B/b ', 'wait', 'A/x', 'A/a3']);
  });

  it('are nested in the entry of a session that the agent runs, as are its subagents', () => {
    const model = play(
      { type: 'subagent', sessionId: 's', title: 'Explore', state: 'running' },
      call('subagent s x', { parent: 'subagent s' }),
      { type: 'subagent', sessionId: 'deeper', title: 'Deeper', state: 'running', parent: 'subagent s' },
    );
    assert.deepEqual(paths(model), ['subagent s', 'subagent s/subagent s x', 'subagent s/subagent deeper']);
    assert.deepEqual(counts(model), { calls: 2, open: 2, now: 'Deeper' });
    model.apply({ type: 'subagents_ended' }, 1);
    sameData(counts(model), { calls: 2, open: 1 });
  });

  it('report few changed entries per event, however many calls there are', () => {
    const model = play(call('A'), call('B', { parent: 'A' }));
    for (let n = 0; n < 10_000; n++) model.apply(call(`x${n}`, { parent: 'B' }), 1);
    assert.deepEqual(counts(model), { calls: 10_001, open: 10_001, now: 'x9999' });
    const changes = new Changes(() => {});
    model.observe(changes);
    for (const event of [call('last', { parent: 'B' }), call('last', { status: 'completed' }, false)]) {
      model.apply(event, 2);
      const keys = [...changes.entries.keys()].sort((a, b) => a - b);
      assert.deepEqual(keys, [0, 1, 10_002]);
      changes.reset();
    }
  });

  it('form a forest with every entry, whatever the agent sends', () => {
    const id = fc.integer({ min: 0, max: 12 }).map(String);
    const status = fc.constantFrom('pending', 'in_progress', 'completed', 'failed', 'cancelled');
    const event = fc.oneof(
      fc
        .record({ id, parent: fc.option(id, { nil: undefined }), status, announced: fc.boolean() })
        .map((one) =>
          call(one.id, { status: one.status as never, ...(one.parent && { parent: one.parent }) }, one.announced),
        ),
      fc
        .record({ parent: fc.option(id, { nil: undefined }), words: fc.constantFrom('a', 'b') })
        .map((one) => said(one.words, one.parent)),
      fc.constant<SessionEvent>({ type: 'ids_renewed' }),
      fc.constantFrom(began('t'), ended('t')),
    );
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60 }), (events) => {
        const { state } = play(...events);
        const { entries, nests } = state;
        const placed = inNestedOrder(entries, nests);
        assert.equal(new Set(placed.map(({ entry }) => entry)).size, entries.length);
        assert.equal(placed.length, entries.length);
        for (const { entry, depth } of placed) {
          const path = nests.pathOf(entry);
          assert.equal(path.length, depth);
          assert.ok(depth <= MAX_NESTING);
          assert.ok(depth === 0 || nests.childrenOf(path.at(-1)!).includes(entry));
        }
        for (const entry of entries) {
          if (entry.kind !== 'tool') continue;
          const under = placed.filter((one) => one.entry.kind === 'tool' && nests.pathOf(one.entry).includes(entry));
          const open = under.filter(
            ({ entry: one }) => one.kind === 'tool' && !['completed', 'failed', 'cancelled'].includes(one.status),
          );
          assert.equal(nests.countsOf(entry)?.calls ?? 0, under.length);
          assert.equal(nests.countsOf(entry)?.open ?? 0, open.length);
        }
      }),
      { numRuns: 500 },
    );
  });
});
