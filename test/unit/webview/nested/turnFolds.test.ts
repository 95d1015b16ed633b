// The activity of a turn becomes one line, in whatever order its entries arrive.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { ItemView } from '../../../../src/panel/contract';
import { TurnFolds } from '../../../../src/webview/nested/turnFolds';

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

function message(index: number, kind: 'agent' | 'thought' = 'agent', turnId = 't1'): ItemView {
  return { kind, id: `m${index}`, turnId, at: 0, content: [], duration: 0 };
}

const terminal = { id: 'x', output: '', truncated: false, running: false, openable: true };

function create(needsUser: ReadonlySet<number> = new Set(), inUse: ReadonlySet<number> = new Set()): TurnFolds {
  const expanded = new Map<string, boolean>();
  return new TurnFolds({
    isExpanded: (id) => expanded.get(id),
    setExpanded: (id, open) => void expanded.set(id, open),
    isInUse: (index) => inUse.has(index),
    needsUser: (index) => needsUser.has(index),
  });
}

/** `line`: the line of a collapsed turn; `in`: in an expanded one; `.`: single; `-`: not drawn. */
function stateOf(folds: TurnFolds, index: number): string {
  if (folds.hides(index)) return '-';
  const group = folds.at(index);
  return group ? (group.isOpen ? 'in' : 'line') : '.';
}

function statesOf(folds: TurnFolds, count: number): string {
  return Array.from({ length: count }, (_, index) => stateOf(folds, index)).join(' ');
}

describe('webview/turnFolds', () => {
  it("folds the calls and thoughts of a turn around the agent's messages", () => {
    const folds = create();
    const items = [message(0, 'thought'), call(1), message(2), call(3, { toolKind: 'execute' }), message(4), call(5)];
    for (const [index, item] of items.entries()) folds.set(index, item);
    assert.equal(statesOf(folds, 6), 'line - . - . -');
    folds.toggle(folds.at(5)!);
    assert.equal(statesOf(folds, 6), 'in in . in . in');
    folds.set(6, call(6, { turnId: 't2' }));
    folds.set(7, call(7, { turnId: 't2' }));
    assert.equal(statesOf(folds, 8), 'in in . in . in line -');
  });

  it('counts activities, and a file that was read twice once', () => {
    const folds = create();
    const kinds = ['read', 'read', 'edit', 'delete', 'execute', 'execute', 'search', 'fetch', 'other'];
    for (const [index, toolKind] of kinds.entries()) folds.set(index, call(index, { toolKind }));
    folds.set(9, call(9, { locations: call(0).locations }));
    folds.set(10, call(10, { nested: { calls: 3, open: 0 } }));
    const counts = { read: 2, edit: 2, run: 2, search: 1, subagent: 1, other: 2 };
    assert.deepEqual(folds.counts(folds.at(0)!), counts);
    folds.set(0, call(0, { status: 'failed' }));
    assert.deepEqual(folds.counts(folds.at(1)!), counts, 'the other call has read the file too');
  });

  it('leaves calls single that failed, were rejected, need the user, are late or plan', () => {
    const folds = create(new Set([6]));
    const failing = { type: 'terminal', terminal: { ...terminal, exitCode: 1 } } as const;
    const items = [
      call(0),
      call(1, { status: 'failed' }),
      call(2, { toolKind: 'execute', content: [failing] }),
      call(3, { decision: { outcome: 'rejected' } }),
      call(4, { decision: { outcome: 'allowed' } }),
      call(5, { status: 'paused' }),
      call(6),
      call(7, { late: true }),
      call(8, { toolKind: 'switch_mode' }),
      call(9, { status: 'in_progress' }),
    ];
    for (const [index, item] of items.entries()) folds.set(index, item);
    assert.equal(statesOf(folds, 10), 'line . . . - . . . . -');
  });

  it('leaves a single call, or thoughts alone, unfolded', () => {
    const folds = create();
    folds.set(0, message(0, 'thought'));
    folds.set(1, message(1, 'thought'));
    folds.set(2, call(2, { turnId: 't2' }));
    assert.equal(statesOf(folds, 3), '. . .');
    assert.deepEqual(folds.set(3, call(3)), [0, 1]);
    assert.equal(statesOf(folds, 4), 'line - . -');
  });

  it('stays expanded if the user is in the first call when the second one arrives', () => {
    const inUse = new Set<number>();
    const folds = create(new Set(), inUse);
    folds.set(0, call(0));
    inUse.add(0);
    folds.set(1, call(1));
    assert.equal(statesOf(folds, 2), 'in in');
    folds.toggle(folds.at(0)!);
    assert.equal(statesOf(folds, 2), 'line -');
  });

  it('redraws nothing for an update that changes neither members nor counts', () => {
    const folds = create();
    for (let index = 0; index < 4; index++) folds.set(index, call(index, { status: 'in_progress' }));
    assert.deepEqual(folds.set(2, call(2)), []);
    assert.deepEqual(new Set(folds.set(2, call(2, { toolKind: 'edit' }))), new Set([0]));
  });

  it('returns all entries to redraw', () => {
    const item = fc.record({
      index: fc.nat(11),
      turnId: fc.constantFrom('t1', 't2'),
      kind: fc.constantFrom('call', 'failed', 'thought', 'agent'),
      toggles: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(item, { maxLength: 40 }), (steps) => {
        const folds = create();
        const drawn = new Map<number, string>();
        for (const { index, turnId, kind, toggles } of steps) {
          const next =
            kind === 'call' || kind === 'failed'
              ? call(index, { turnId, status: kind === 'call' ? 'completed' : 'failed' })
              : message(index, kind, turnId);
          for (const at of [index, ...folds.set(index, next)]) drawn.set(at, stateOf(folds, at));
          const group = toggles ? folds.at(index) : undefined;
          if (group) {
            folds.toggle(group);
            for (const at of drawn.keys()) drawn.set(at, stateOf(folds, at));
          }
          for (const [at, state] of drawn) assert.equal(state, stateOf(folds, at), `entry ${at}`);
        }
      }),
    );
  });
});
