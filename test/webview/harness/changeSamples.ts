// Sample lists of changed files, and a host that sends them.
import type { ChangedFileView, ChangesScope, ItemView, TurnView } from '../../../src/panel/contract';
import type { Panel, PanelOptions } from './browser';
import { DIFF, message, tool } from './samples';

const AT = Date.UTC(2026, 10, 21, 9, 0, 0);

export const FILES: readonly ChangedFileView[] = [
  file('CHANGELOG.md', { added: 4 }),
  file('docs/upload.md', { change: 'added', added: 81, removed: 0, alsoYours: true }),
  file('media/icon.png', { isBinary: true, added: 0, removed: 0 }),
  file('src/server/startServer.ts', {
    change: 'renamed',
    oldLabel: 'src/server/start.ts',
    removed: 12,
    state: 'conflict',
  }),
  file('src/server/sleep.ts', { change: 'deleted', added: 0, removed: 1204, state: 'undone' }),
  file('test/integration/uploads/upload.test.ts', { added: 2, index: 1, state: 'kept' }),
];

/** @param path relative to the folder */
export function file(path: string, patch: Partial<ChangedFileView> = {}): ChangedFileView {
  return {
    id: `/work/app/${path}`,
    label: path,
    change: 'modified',
    added: 3,
    removed: 1,
    state: 'unreviewed',
    ...patch,
  };
}

export function manyFiles(count: number): readonly ChangedFileView[] {
  return Array.from({ length: count }, (_, index) => file(`src/part${String(index).padStart(4, '0')}.ts`));
}

export function countOf(files: readonly ChangedFileView[], version = 1) {
  const added = files.reduce((sum, file) => sum + file.added, 0);
  const removed = files.reduce((sum, file) => sum + file.removed, 0);
  return { files: files.length, added, removed, version };
}

export function turnOf(files: readonly ChangedFileView[], patch: Partial<TurnView> = {}): TurnView {
  return {
    id: 't1',
    number: 1,
    origin: 'user',
    startedAt: AT,
    endedAt: AT + 12_400,
    stopReason: 'end_turn',
    barrier: 'turn_complete',
    tools: 3,
    files: 1,
    changes: countOf(files),
    ...patch,
  };
}

export function runningTurn(files: readonly ChangedFileView[]): TurnView {
  return { id: 't1', number: 1, origin: 'user', startedAt: AT, tools: 1, files: 0, changes: countOf(files) };
}

export function turnEnd(turn: TurnView): ItemView {
  return { kind: 'turn_end', id: `end ${turn.id}`, turnId: turn.id, at: AT, turn };
}

export function changedConversation(files: readonly ChangedFileView[] = FILES): ItemView[] {
  const userMessage = message('u1', 'user', 'The upload test fails one run in ten. Find out why and fix it.');
  return [
    { ...userMessage, canRestore: true, canEdit: true } as ItemView,
    tool('c3', {
      title: 'Edit test/upload.test.ts',
      toolKind: 'edit',
      content: [{ type: 'diff', diff: { ...DIFF, path: '/work/app/test/integration/uploads/upload.test.ts' } }],
      locations: [{ path: DIFF.path, label: DIFF.label }],
    }),
    message('a1', 'agent', 'The test waits for the event now.'),
    turnEnd(turnOf(files)),
  ];
}

export const REVIEW: PanelOptions = {
  session: { review: countOf(FILES), turnCount: 1 },
  items: changedConversation(),
};

export class ListHost {
  readonly #panel: Panel;
  #answered = 0;
  version = 1;
  files: readonly ChangedFileView[];

  constructor(panel: Panel, files: readonly ChangedFileView[]) {
    this.#panel = panel;
    this.files = files;
  }

  async answer(): Promise<{ readonly from: number; readonly to: number; readonly scope: ChangesScope }> {
    const request = await this.#panel.page.evaluate(async (skip) => {
      const count = (): number => host.posted.filter(({ type }) => type === 'changes').length;
      while (count() <= skip) await new Promise(requestAnimationFrame);
      return host.posted.filter(({ type }) => type === 'changes')[skip]!;
    }, this.#answered);
    this.#answered += 1;
    if (request.type !== 'changes') throw new Error('another message');
    const { scope, from, to } = request;
    await this.#panel.send({
      type: 'changes',
      scope,
      version: this.version,
      total: this.files.length,
      from,
      files: this.files.slice(from, to),
    });
    return request;
  }

  async requests(): Promise<number> {
    return (await this.#panel.posted('changes')).length;
  }
}
