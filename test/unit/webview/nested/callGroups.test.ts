// Runs of reads and searches become groups, in whatever order their calls arrive.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { ItemView } from '../../../../src/panel/contract';
import { CallGroups } from '../../../../src/webview/nested/callGroups';

type ToolItem = Extract<ItemView, { kind: 'tool' }>;

function call(index: number, patch: Partial<ToolItem> = {}): ToolItem {
  return {
    kind: 'tool',
    id: `c${index}`,
    turnId: 't1',
    at: 0,
    title: 'Read',
    toolKind: 'read',
    status: 'completed',
    content: [],
    locations: [{ path: `/w/${index}.ts`, label: `${index}.ts` }],
    hasRaw: false,
    ...patch,
  };
}

const message = (index: number): ItemView => ({
  kind: 'agent',
  id: `m${index}`,
  turnId: 't1',
  at: 0,
  content: [],
  duration: 0,
});

function create(options: Partial<ConstructorParameters<typeof CallGroups>[0]> = {}) {
  const expanded = new Map<string, boolean>();
  return new CallGroups({
    isExpanded: (id) => expanded.get(id),
    setExpanded: (id, open) => void expanded.set(id, open),
    isInUse: () => false,
    ...options,
  });
}

/** Returns each index with the bounds of its group. */
function groupsOf(groups: CallGroups, count: number): string {
  return Array.from({ length: count }, (_, index) => {
    const group = groups.at(index);
    return group ? `${group.first}-${group.last}` : '.';
  }).join(' ');
}

describe('webview/callGroups', () => {
  it('groups three or more reads and searches of one turn, and nothing else', () => {
    const groups = create();
    const items: ItemView[] = [
      call(0),
      call(1),
      message(2),
      call(3),
      call(4, { toolKind: 'search' }),
      call(5),
      call(6, { toolKind: 'edit' }),
      call(7),
      call(8),
      call(9, { status: 'failed' }),
      call(10),
      call(11),
      call(12, { turnId: 't2' }),
      call(13, { decision: { outcome: 'allowed' } }),
    ];
    for (const [index, item] of items.entries()) groups.set(index, item);
    assert.equal(groupsOf(groups, items.length), '. . . 3-5 3-5 3-5 . . . . . . . .');
    assert.deepEqual(groups.counts(groups.at(4)!), { read: 2, search: 1 });
    assert.deepEqual(
      [3, 4, 5].map((index) => groups.hides(index)),
      [false, true, true],
    );
  });

  it('counts a file that is read twice once', () => {
    const groups = create();
    for (const index of [0, 1, 2]) groups.set(index, call(index, { locations: [{ path: '/w/a.ts', label: 'a.ts' }] }));
    assert.deepEqual(groups.counts(groups.at(0)!), { read: 1, search: 0 });
  });

  it('forms the same groups in whatever order items arrive and change', () => {
    const kinds = fc.array(fc.constantFrom('call', 'call', 'call', 'message'), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(kinds, fc.infiniteStream(fc.nat()), (all, order) => {
        const item = (index: number): ItemView => (all[index] === 'call' ? call(index) : message(index));
        const straight = create();
        for (const index of all.keys()) straight.set(index, item(index));
        const mixed = create();
        const places = [...all.keys()].sort(() => ((order.next().value ?? 0) % 2) - 0.5);
        for (const index of places) mixed.set(index, call(index, { status: 'in_progress' }));
        for (const index of places) mixed.set(index, call(index));
        for (const index of places) mixed.set(index, item(index));
        assert.equal(groupsOf(mixed, all.length), groupsOf(straight, all.length));
      }),
    );
  });

  it('returns everything that must be redrawn', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(12), fc.boolean()), { maxLength: 60 }), (steps) => {
        const groups = create();
        const describeAt = (index: number): string =>
          `${groups.hides(index)} ${groups.at(index)?.first === index && groups.at(index)?.last}`;
        for (const [index, isCall] of steps) {
          const before = Array.from({ length: 13 }, (_, at) => describeAt(at));
          const named = groups.set(index, isCall ? call(index) : message(index));
          for (const [at, was] of before.entries())
            assert.ok(at === index || describeAt(at) === was || named.includes(at), `${at} after a change of ${index}`);
        }
      }),
    );
  });

  it('stays collapsed or expanded as the user chose while the run grows at both ends', () => {
    const groups = create();
    for (const index of [3, 4, 5]) groups.set(index, call(index));
    assert.equal(groups.at(4)?.isOpen, false);
    groups.toggle(groups.at(4)!);
    groups.set(6, call(6));
    groups.set(2, call(2));
    assert.deepEqual(groups.at(6), { first: 2, last: 6, isOpen: true });
    groups.toggle(groups.at(6)!);
    groups.set(7, call(7));
    assert.equal(groups.at(7)?.isOpen, false);
  });

  it('does not collapse calls that the user has expanded or is in', () => {
    for (const options of [
      { isExpanded: (id: string) => id === 'c1' || undefined },
      { isInUse: (at: number) => at === 1 },
    ]) {
      const groups = create(options);
      for (const index of [0, 1, 2]) groups.set(index, call(index));
      assert.equal(groups.at(1)?.isOpen, true);
    }
  });
});
