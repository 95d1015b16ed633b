// What happened in a session while it wasn't shown, from its events alone.
import { strict as assert } from 'node:assert';
import { join, resolve } from 'node:path';
import type { FileChange } from '../../../../src/changes/model/fileChange';
import { type AwaySource, awayView } from '../../../../src/client/view/awayView';
import type { SessionEvent, ToolPatch } from '../../../../src/session/events/event';
import { SessionModel } from '../../../../src/session/model/model';
import { sameData } from '../../../support/sameData';

const ROOT = resolve('/w');

describe('what happened while the user was away', () => {
  let model: SessionModel;
  let changed: Record<string, readonly Partial<FileChange>[]>;

  beforeEach(() => {
    model = new SessionModel();
    changed = {};
  });

  const apply = (at: number, event: SessionEvent): void => void model.apply(event, at);
  const call = (at: number, toolCallId: string, patch: ToolPatch): void =>
    apply(at, { type: 'tool_call', toolCallId, announced: true, patch });
  const source = (): AwaySource => ({
    model,
    roots: [ROOT],
    changes: {
      total: (turnId) => {
        const files = changed[turnId]?.length ?? 0;
        return files > 0 ? { files, added: 0, removed: 0, incomplete: undefined } : undefined;
      },
      changesOf: async (turnId) => (changed[turnId] ?? []) as FileChange[],
    },
  });
  const begin = (at: number, turnId: string): void => apply(at, { type: 'turn_started', turnId, origin: 'user', at });
  const end = (at: number, turnId: string): void =>
    apply(at, { type: 'turn_ended', turnId, stopReason: 'end_turn', barrier: 'response', at });

  it('lists commands with their exit codes, and begins at the first unseen event', async () => {
    begin(1, 't1');
    call(2, 'before', { kind: 'execute', title: '`ls`', status: 'completed' });
    call(9, 'open', { kind: 'execute', title: '`npm run build`', status: 'in_progress' });
    call(20, 'c', {
      kind: 'execute',
      title: 'Run the tests',
      status: 'completed',
      content: [{ type: 'terminal', terminalId: 'x' }],
    });
    apply(21, { type: 'terminal', terminalId: 'x', command: 'npm test', append: 'no', exit: { exitCode: 1 } });
    call(22, 'open', { status: 'failed' });
    const view = await awayView(source(), { since: 15 });
    assert.equal(view?.index, 2);
    sameData(view?.commands, {
      total: 2,
      shown: [
        { line: 'npm run build', index: 1, state: 'failed' },
        { line: 'npm test', index: 2, state: 'done', exitCode: 1 },
      ],
    });
  });

  it('lists the files of all turns', async () => {
    const file = (path: string, added: number, removed: number) => ({ root: ROOT, path, added, removed });
    for (const [index, id] of ['t1', 't2', 't3'].entries()) {
      begin(index * 10 + 1, id);
      call(index * 10 + 2, `c${id}`, {
        kind: 'edit',
        title: 'Edit',
        status: 'completed',
        content: [{ type: 'diff', path: join(ROOT, 'a.ts'), newText: 'x' }],
      });
      end(index * 10 + 3, id);
    }
    changed = { t1: [file('old.ts', 1, 1)], t2: [file('a.ts', 1, 0)], t3: [file('a.ts', 2, 3), file('b.ts', 1, 0)] };
    const view = await awayView(source(), { since: 11 });
    assert.equal(view?.turns, 2);
    assert.equal(view?.files.total, 2);
    const [a, b] = view?.files.shown ?? [];
    assert.deepEqual([a?.label, a?.added, a?.removed, b?.label, b?.added], ['a.ts', 3, 3, 'b.ts', 1]);
    assert.equal(model.state.entries[a?.index ?? -1]?.turnId, 't3');
    assert.equal(b?.index, undefined);
  });

  it('lists what rules have answered', async () => {
    begin(1, 't1');
    call(2, 'c', { kind: 'execute', title: '`npm test`', status: 'completed' });
    call(3, 'd', { kind: 'execute', title: '`rm x`', status: 'failed' });
    const answered = (toolCallId: string, kind: 'allow_once' | 'reject_once', rule?: string): void => {
      const asked = { permissionId: toolCallId, toolCallId, title: 'x', options: [{ optionId: 'o', name: 'O', kind }] };
      apply(4, { type: 'permission_asked', ...asked });
      const answer = { outcome: 'selected', optionId: 'o', by: rule ? 'rule' : 'user', ...(rule && { rule }) } as const;
      apply(5, { type: 'permission_closed', permissionId: toolCallId, ...answer });
    };
    answered('c', 'allow_once', 'Allow npm');
    answered('d', 'reject_once');
    const view = await awayView(source(), { since: 2 });
    const rules = view?.decisions.shown.map(({ title, rule, outcome }) => [title, rule, outcome]);
    assert.deepEqual(rules, [['npm test', 'Allow npm', 'allowed']]);
  });

  it('is bounded for any session, with one line per row', async () => {
    for (let index = 0; index < 500; index++)
      call(index, `c${index}`, { kind: 'execute', title: `echo ${index}\n${'x'.repeat(5000)}`, status: 'completed' });
    const view = await awayView(source(), { since: 0 });
    assert.equal(view?.commands.total, 500);
    assert.equal(view?.commands.shown.at(-1)?.line.startsWith('echo 499 xxx'), true);
    assert.ok(JSON.stringify(view).length < 5000, `${JSON.stringify(view).length}`);
  });

  it('includes the cost since then, only if the earlier cost is known', async () => {
    call(5, 'c', { kind: 'read', title: 'Read', status: 'completed' });
    apply(6, { type: 'usage', usage: { used: 1, size: 2, cost: { amount: 3, currency: 'USD' } } });
    const cost = async (before?: number, currency = 'USD') =>
      (await awayView(source(), { since: 1, ...(before !== undefined && { cost: { amount: before, currency } }) }))
        ?.cost?.amount;
    assert.deepEqual([await cost(), await cost(1), await cost(1, 'EUR')], [undefined, 2, undefined]);
  });

  it('is empty if nothing happened', async () => {
    call(1, 'c', { kind: 'read', title: 'Read', status: 'completed' });
    assert.equal(await awayView(source(), { since: 10 }), undefined);
  });
});
