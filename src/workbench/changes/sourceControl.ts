// Pending reviews in VS Code: the Source Control view, gutter marks, and badges of files and tabs.
import { join } from 'node:path';
import { commands, l10n, Uri, window, workspace } from 'vscode';
import { type Disposable, DisposableStore, Part } from '../../base/disposable';
import { showsSourceControl } from '../config/settings';
import { pathKey } from '../editor/openDocuments';
import type { Conversations } from '../sessions/conversations';
import { titleOf } from '../sessions/sessionLabels';
import { FileMarks, type SourceControlGroup, type SourceControlRow, SourceControlView } from '../ui/fileMarks';
import { activeReviews } from './comparisons';
import { versionUri } from './documents/versionDocuments';
import type { ReviewIndex, WaitingFile } from './reviewIndex';
import { NO_REVIEW, type ReviewKeys } from './reviewKeys';

const MAX_ROWS = 2_000;

export class ReviewSourceControl extends Part {
  readonly #index: ReviewIndex;
  #view: SourceControlView | undefined;

  constructor(index: ReviewIndex) {
    super();
    this.#index = index;
    this.own(index.onDidChange(() => this.#draw()));
    this.own(
      workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration('parley.changes')) this.#draw();
      }),
    );
    this.own(window.tabGroups.onDidChangeTabs(() => this.#updateKeys()));
    this.#draw();
    this.#updateKeys();
  }

  override dispose(): void {
    super.dispose();
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
    this.#view ??= new SourceControlView('parley', l10n.t('Changes to Review'), (uri) => this.#original(uri));
    this.#view.draw(groupsOf(files));
  }

  #updateKeys(): void {
    publish({ isReviewActive: activeReviews().length > 0 });
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

/** A badge that git does not use, in the colour of files edited by VS Code's chat. */
const BADGE = '◆';
const COLOR = 'chat.editedFileForeground';

export function markReview(index: ReviewIndex): Disposable {
  const lifetime = new DisposableStore();
  const marks = lifetime.add(
    new FileMarks(BADGE, COLOR, (path) => {
      const agent = index.at(path)?.conversation.agent.name;
      return agent && l10n.t('Changed by {0}, not reviewed', agent);
    }),
  );
  let marked: ReadonlyMap<string, string> = new Map();
  const draw = (): void => {
    const before = marked;
    const after = new Map(index.files.map(({ path, conversation }) => [path, conversation.agent.name]));
    marked = after;
    const touched = new Set([...before.keys(), ...after.keys()]);
    void marks.refresh([...touched].filter((path) => before.get(path) !== after.get(path)));
  };
  lifetime.add(index.onDidChange(draw));
  draw();
  return lifetime;
}

export class UndoneWatch extends Part {
  readonly #conversations: Pick<Conversations, 'list'>;

  constructor(conversations: Pick<Conversations, 'list'>) {
    super();
    this.#conversations = conversations;
    // Also fires when only the dirty state changed, which VS Code updates after the content; until
    // then the document counts as equal to the disk.
    this.own(workspace.onDidChangeTextDocument(({ document }) => this.#changed(document.uri)));
    this.own(workspace.onDidCreateFiles(({ files }) => this.#changed(...files)));
    this.own(workspace.onDidDeleteFiles(({ files }) => this.#changed(...files)));
  }

  #changed(...uris: readonly Uri[]): void {
    const keys = new Set(uris.filter(({ scheme }) => scheme === 'file').map(({ fsPath }) => pathKey(fsPath)));
    const lengths = new Set([...keys].map(({ length }) => length));
    for (const { changes } of this.#conversations.list())
      for (const path of changes.review?.undonePaths ?? [])
        if (lengths.has(path.length) && keys.has(pathKey(path))) void changes.review?.editorChanged(path);
  }
}
