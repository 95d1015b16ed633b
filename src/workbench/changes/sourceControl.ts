// Pending reviews in VS Code's source control view and in the gutter, while there are some.
import { join } from 'node:path';
import { commands, l10n, Uri, window, workspace } from 'vscode';
import { type Disposable, DisposableStore } from '../../base/disposable';
import { showsSourceControl } from '../config/settings';
import { titleOf } from '../sessions/sessionLabels';
import { type SourceControlGroup, type SourceControlRow, SourceControlView } from '../ui/sourceControlView';
import { reviewsInFront } from './comparisons';
import { versionUri } from './documents/versionDocuments';
import type { ReviewIndex, WaitingFile } from './reviewIndex';
import { NO_REVIEW, type ReviewKeys } from './reviewKeys';

const MAX_ROWS = 2_000;

export class ReviewSourceControl implements Disposable {
  readonly #index: ReviewIndex;
  readonly #lifetime = new DisposableStore();
  #view: SourceControlView | undefined;

  constructor(index: ReviewIndex) {
    this.#index = index;
    this.#lifetime.add(index.onDidChange(() => this.#draw()));
    this.#lifetime.add(
      workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration('parley.changes')) this.#draw();
      }),
    );
    this.#lifetime.add(window.tabGroups.onDidChangeTabs(() => this.#look()));
    this.#draw();
    this.#look();
  }

  dispose(): void {
    this.#lifetime.dispose();
    this.#view?.dispose();
    publish(NO_REVIEW);
  }

  #draw(): void {
    const { files, settled } = this.#index;
    const paths = files.slice(0, MAX_ROWS).map(({ path }) => Uri.file(path).fsPath);
    const changedFiles = [...paths, ...settled.slice(-MAX_ROWS).map((path) => Uri.file(path).fsPath)];
    publish({ hasWaitingChanges: files.length > 0, waitingFiles: paths, changedFiles });
    if (files.length === 0 || !showsSourceControl()) {
      this.#view?.dispose();
      this.#view = undefined;
      return;
    }
    this.#view ??= new SourceControlView('parley', 'Parley', (uri) => this.#original(uri));
    this.#view.draw(groupsOf(files));
  }

  #look(): void {
    publish({ isReviewActive: reviewsInFront().length > 0 });
  }

  #original(uri: Uri): Uri | undefined {
    const waiting = uri.scheme === 'file' ? this.#index.at(uri.fsPath) : undefined;
    if (!waiting?.file.base) return undefined;
    const { root, path, oldPath, base } = waiting.file;
    return versionUri(join(root, oldPath ?? path), { session: waiting.conversation.key, root, version: base });
  }
}

function publish(keys: Partial<ReviewKeys>): void {
  for (const [name, value] of Object.entries(keys)) void commands.executeCommand('setContext', `parley.${name}`, value);
}

function groupsOf(files: readonly WaitingFile[]): readonly SourceControlGroup[] {
  const groups = new Map<string, { label: string; rows: SourceControlRow[] }>();
  for (const one of files) {
    const { key } = one.conversation;
    const group = groups.get(key) ?? { label: titleOf(one.conversation), rows: [] };
    groups.set(key, group);
    if (group.rows.length < MAX_ROWS) group.rows.push(rowOf(one));
  }
  return [...groups].map(([id, group]) => ({ id, ...group }));
}

function rowOf({ conversation, file, path }: WaitingFile): SourceControlRow {
  const { base, left, state, added, removed, isBinary } = file;
  const kind = !base ? l10n.t('Added') : left ? l10n.t('Modified') : l10n.t('Deleted');
  const counts = isBinary ? kind : `${kind}, +${added} −${removed}`;
  const isConflict = state === 'conflict';
  return {
    path,
    session: conversation.key,
    tooltip: isConflict ? l10n.t('{0}. Conflict: you edited lines of the change', counts) : counts,
    isDeleted: left === undefined,
    isWarning: isConflict,
    command: 'parley.changes.openDiff',
    commandTitle: l10n.t('Open Diff'),
  };
}
