// Suggestions for `@` in the composer. The chosen one becomes an attachment.
import { posix } from 'node:path';
import { l10n, type TextEditor, Uri, window, workspace } from 'vscode';
import type { Disposable } from '../../base/disposable';
import { revealControls } from '../../base/revealControls';
import { oneLine } from '../../base/text';
import type { FoundPath } from '../../mentions/fileList';
import { type Commit, commitOf, commitText, GitCommits } from '../../mentions/gitCommits';
import { changesText, gitChanges, isInRepository } from '../../mentions/gitFiles';
import { folded, rankOfPath, rankOfTitle } from '../../mentions/rank';
import type { MentionView } from '../../panel/contract';
import type { QueuedAttachment } from '../../session/queue/queue';
import { problemsIn } from '../editorTools/readers/problems';
import { type FoundSymbol, symbolsNamed, symbolsOf } from '../editorTools/symbolPosition';
import { agoLabel } from '../sessions/sessionLabels';
import { embeddedAttachment, fileAttachment, linesAttachment, selectionAttachment } from './attachments';
import type { EarlierSessions, MentionPlace } from './earlierSessions';
import type { TerminalCommands } from './terminalCommands';
import { WorkspaceFiles } from './workspaceFiles';

const MOST = 20;
const MOST_RECENT = 4;
const MOST_OPEN = 10;
const MOST_SESSIONS = 5;
const MOST_SYMBOLS = 5;
const MOST_COMMITS = 5;
const LEAST_LETTERS = 2;
const SYMBOLS_TIMEOUT_MS = 10_000;
const MOST_PROBLEMS = 200;
const SELECTION = 'selection';
const PROBLEMS = 'problems';
const CHANGES = 'changes';
const KINDS = ['file', 'folder', 'symbol', 'session', 'commit', 'terminal'] as const;
const SCOPED = new RegExp(`^(${KINDS.join('|')}):(.*)$`);
const PATH = 'path:';

interface MentionSources {
  readonly sessions: Pick<EarlierSessions, 'named' | 'attachment'>;
  readonly terminals: Pick<TerminalCommands, 'offers' | 'attachment'>;
}

export class Mentions implements Disposable {
  readonly #files = new WorkspaceFiles();
  readonly #commits = new GitCommits();
  readonly #sessions: MentionSources['sessions'];
  readonly #terminals: MentionSources['terminals'];
  #symbols: ReadonlyMap<string, FoundSymbol> = new Map();

  constructor({ sessions, terminals }: MentionSources) {
    this.#sessions = sessions;
    this.#terminals = terminals;
  }

  /**
   * Yields suggestions, best first: files, then also commits, earlier sessions and symbols as they
   * are found. `kind:` before the letters searches only that kind.
   * @throws the reason of `signal`
   */
  async *offers(query: string, place: MentionPlace, signal: AbortSignal): AsyncGenerator<readonly MentionView[]> {
    this.#files.warm();
    if (query === '') {
      yield await this.#overview(place, signal);
      return;
    }
    const { roots } = place;
    const [, kind, letters = query] = SCOPED.exec(query) ?? [];
    const isAsked = (...kinds: readonly string[]): boolean => kind === undefined || kinds.includes(kind);
    const most = (count: number): number => (kind === undefined ? count : MOST);
    const wanted = letters.toLowerCase();
    const fits = ({ label }: MentionView): boolean => label.toLowerCase().includes(wanted);
    const recent = isAsked('file') ? await this.#recent() : [];
    const immediate = [
      ...(kind === undefined ? await immediateOffers(roots) : []),
      ...(isAsked('terminal') ? this.#terminals.offers() : []),
      ...recent.slice(0, MOST_OPEN),
    ].filter(fits);
    const kinds = kind === undefined ? await this.#kinds(place, signal, wanted) : [];
    const ids = new Set(immediate.map(({ id }) => id));
    const only = kind === 'file' || kind === 'folder' ? kind : undefined;
    const found = kind === undefined || only ? await this.#files.search(wanted, only, signal) : [];
    const files = found.map(fileOffer).filter(({ id }) => !ids.has(id));
    const slowOffers: (readonly MentionView[])[] = [[], [], []];
    const listed = (): readonly MentionView[] => {
      const more = [...kinds, ...slowOffers.flat()];
      const all = [...[...immediate, ...files].slice(0, MOST - more.length), ...more];
      return all.toSorted((one, other) => rankOf(one, wanted) - rankOf(other, wanted));
    };
    yield listed();
    if (kind === undefined && wanted.length < LEAST_LETTERS) return;
    const pendingSearches = new Map(
      [
        isAsked('symbol') ? this.#symbolOffers(letters, roots, most(MOST_SYMBOLS), signal) : [],
        isAsked('session') ? this.#sessions.named(letters, place, most(MOST_SESSIONS), signal) : [],
        isAsked('commit') ? commitOffers(this.#commits, wanted, roots[0], most(MOST_COMMITS), signal) : [],
      ].map((offers, index) => [index, Promise.resolve(offers).then((more) => ({ index, more }))]),
    );
    while (pendingSearches.size > 0) {
      const { index, more } = await Promise.race(pendingSearches.values());
      pendingSearches.delete(index);
      if (more.length === 0) continue;
      slowOffers[index] = more;
      yield listed();
    }
  }

  async attachments(id: string, roots: readonly string[]): Promise<readonly QueuedAttachment[]> {
    if (id === SELECTION) {
      const editor = selectedEditor();
      const attachment = editor && selectionAttachment(editor);
      return attachment ? [attachment] : [];
    }
    if (id === PROBLEMS) return problemsAttachment(roots);
    if (id === CHANGES) return changesAttachment(roots);
    const symbol = this.#symbols.get(id);
    if (symbol) return [await symbolAttachment(symbol)];
    const other =
      (await this.#terminals.attachment(id)) ??
      (await this.#sessions.attachment(id)) ??
      (await commitAttachment(id, roots[0]));
    if (other) return [other];
    if (!id.startsWith(PATH)) return [];
    const path = id.slice(PATH.length);
    // The page may only name what it was offered.
    const isOffered = this.#files.recent().some((file) => file.path === path) || (await this.#files.list()).has(path);
    const uri = isOffered ? this.#files.uriOf(path) : undefined;
    return uri ? [await fileAttachment(uri)] : [];
  }

  async dropped(addresses: readonly string[]): Promise<readonly QueuedAttachment[]> {
    const uris = addresses.map(normalUri).filter((uri) => workspace.getWorkspaceFolder(uri));
    return Promise.all(uris.map(fileAttachment));
  }

  dispose(): void {
    this.#files.dispose();
    this.#commits.dispose();
  }

  async #overview(place: MentionPlace, signal: AbortSignal): Promise<readonly MentionView[]> {
    const recent = (await this.#recent()).slice(0, MOST_RECENT);
    const things = await immediateOffers(place.roots);
    const last = this.#terminals.offers().slice(0, 1);
    return [...recent, ...things, ...last, ...(await this.#kinds(place, signal))];
  }

  async #kinds(place: MentionPlace, signal: AbortSignal, wanted = ''): Promise<readonly MentionView[]> {
    const has: Readonly<Record<string, () => unknown>> = {
      file: () => workspace.workspaceFolders,
      folder: () => workspace.workspaceFolders,
      symbol: () => workspace.workspaceFolders,
      session: async () => (await this.#sessions.named('', place, 1, signal)).length > 0,
      commit: () => hasCommits(place.roots),
      terminal: () => this.#terminals.offers().length > 0,
    };
    const asked = KINDS.filter((kind) => kind.startsWith(wanted));
    const found = await Promise.all(asked.map((kind) => has[kind]?.()));
    return asked.filter((_, index) => found[index]).map(kindOffer);
  }

  async #recent(): Promise<readonly MentionView[]> {
    const files = await this.#files.existing(this.#files.recent().slice(0, 2 * MOST_OPEN));
    return files.map(({ path, isOpen }) => ({
      ...fileOffer({ path, isFolder: false }),
      description: isOpen ? l10n.t('Open editor') : undefined,
    }));
  }

  async #symbolOffers(letters: string, roots: readonly string[], most: number, signal: AbortSignal) {
    const file = this.#files.uriOf(this.#files.recent()[0]?.path ?? '')?.fsPath;
    const symbols =
      letters === ''
        ? file === undefined
          ? []
          : (await symbolsOf(file, signal)).slice(0, most)
        : await symbolsNamed(letters, roots, most, signal);
    if (symbols.length === 0) return [];
    this.#symbols = new Map(symbols.map((symbol, index) => [`symbol:${index}:${symbol.name}`, symbol]));
    return [...this.#symbols].map(symbolOffer);
  }
}

function rankOf({ kind, label, prefix }: MentionView, wanted: string): number {
  if (prefix !== undefined) return rankOfTitle(prefix.slice(0, -1), wanted);
  if (kind === 'file' || kind === 'folder' || kind === 'selection')
    return rankOfPath(label, label.toLowerCase(), wanted);
  if (kind !== 'commit') return rankOfTitle(label, wanted);
  return Math.min(rankOfTitle(label.slice(0, SHORT_HASH), wanted), rankOfTitle(label.slice(SHORT_HASH), wanted));
}

function kindOffer(kind: (typeof KINDS)[number]): MentionView {
  const labels = {
    file: l10n.t('Files'),
    folder: l10n.t('Folders'),
    symbol: l10n.t('Symbols'),
    session: l10n.t('Earlier Sessions'),
    commit: l10n.t('Commits'),
    terminal: l10n.t('Terminal Commands'),
  };
  return { id: `kind:${kind}`, kind, label: labels[kind], description: `@${kind}:`, prefix: `${kind}:` };
}

function fileOffer({ path, isFolder }: FoundPath): MentionView {
  return { id: PATH + path, kind: isFolder ? 'folder' : 'file', label: path };
}

/** Removes `..`, which could lead out of a folder that the URI starts with. */
function normalUri(address: string): Uri {
  const uri = Uri.parse(address);
  return uri.with({ path: posix.normalize(uri.path) });
}

function selectedEditor(): TextEditor | undefined {
  const editors = window.activeTextEditor ? [window.activeTextEditor] : window.visibleTextEditors;
  return editors.find(({ selection, document }) => !selection.isEmpty && document.uri.scheme === 'file');
}

function selectionOffer(): MentionView | undefined {
  const editor = selectedEditor();
  const attachment = editor && selectionAttachment(editor);
  if (!attachment) return undefined;
  return { id: SELECTION, kind: 'selection', label: attachment.label, description: l10n.t('Selection') };
}

async function immediateOffers(roots: readonly string[]): Promise<readonly MentionView[]> {
  return [selectionOffer(), problemsOffer(roots), await changesOffer(roots)].filter((offer) => offer !== undefined);
}

function problemsOffer(roots: readonly string[]): MentionView | undefined {
  const { length } = problemsIn(roots, { severity: 'warning' });
  if (length === 0) return undefined;
  const description = length === 1 ? l10n.t('1 problem') : l10n.t('{0} problems', length);
  return { id: PROBLEMS, kind: 'problems', label: PROBLEMS, description };
}

function problemsAttachment(roots: readonly string[]): readonly QueuedAttachment[] {
  const problems = problemsIn(roots, { severity: 'warning' });
  if (problems.length === 0) return [];
  const lines = problems.slice(0, MOST_PROBLEMS).map(({ path, line, column, severity, code, message }) => {
    const place = `${workspace.asRelativePath(path)}:${line}:${column}`;
    return `${place} ${severity}${code === undefined ? '' : ` ${code}`}: ${message}`;
  });
  const left = problems.length - lines.length;
  if (left > 0) lines.push(`… and ${left} more`);
  return [embeddedAttachment('problems', 'problems', PROBLEMS, lines.join('\n'))];
}

/** Only in trusted folders, as git may run filters of the repository. */
async function hasCommits([root]: readonly string[]): Promise<boolean> {
  return root !== undefined && workspace.isTrusted && (await isInRepository(root));
}

async function changesOffer(roots: readonly string[]): Promise<MentionView | undefined> {
  if (!(await hasCommits(roots))) return undefined;
  return { id: CHANGES, kind: 'changes', label: CHANGES, description: l10n.t('Changes since the last commit') };
}

async function changesAttachment([root]: readonly string[]): Promise<readonly QueuedAttachment[]> {
  if (root === undefined || !workspace.isTrusted) return [];
  const changes = await gitChanges(root, new AbortController().signal);
  if (!changes || (changes.patch === '' && changes.untracked.length === 0)) return [];
  return [embeddedAttachment('changes', 'changes', CHANGES, changesText(changes))];
}

function symbolOffer([id, { name, kind, path }]: readonly [string, FoundSymbol]): MentionView {
  return { id, kind: 'symbol', label: name, description: `${kind}, ${workspace.asRelativePath(path)}` };
}

/** Workspace symbols have only the position of the name. */
async function symbolAttachment(symbol: FoundSymbol): Promise<QueuedAttachment> {
  const { name, path, line } = symbol;
  const inTime = AbortSignal.timeout(SYMBOLS_TIMEOUT_MS);
  const [document, all] = await Promise.all([
    workspace.openTextDocument(Uri.file(path)),
    symbolsOf(path, inTime).catch(() => []),
  ]);
  const { endLine } = all.find((one) => one.name === name && one.line === line) ?? symbol;
  const last = Math.min(endLine, document.lineCount);
  const range = document.lineAt(line - 1).range.union(document.lineAt(last - 1).range);
  return linesAttachment(document, line, last, document.getText(range), name);
}

const HASH = /^[0-9a-f]{4,64}$/;
const ID = /^commit:([0-9a-f]{40,64})$/;
const SHORT_HASH = 7;
const MAX_WORDS = 60;

/** @param wanted in lower case @param folder absolute, of the repository */
async function commitOffers(
  commits: GitCommits,
  wanted: string,
  folder: string | undefined,
  most: number,
  signal: AbortSignal,
): Promise<readonly MentionView[]> {
  if (!folder || !workspace.isTrusted) return [];
  const newest = await commits.newest(folder);
  if (wanted === '') return newest.slice(0, most).map(offerOf);
  const letters = folded(wanted);
  const isHash = HASH.test(wanted);
  const found = newest.filter(
    ({ hash, subject }) => (isHash && hash.startsWith(wanted)) || (letters && folded(subject).includes(letters)),
  );
  const isOlder = found.length === 0 && isHash && wanted.length >= SHORT_HASH;
  return (isOlder ? await commitOf(folder, wanted, signal) : found.slice(0, most)).map(offerOf);
}

/** Returns undefined if there is no such commit. @throws ParleyError if git fails */
async function commitAttachment(id: string, folder: string | undefined): Promise<QueuedAttachment | undefined> {
  const hash = ID.exec(id)?.[1];
  const found = hash && folder && workspace.isTrusted ? await commitText(folder, hash) : undefined;
  if (!found) return undefined;
  return embeddedAttachment('commit', `commit/${hash}`, labelOf(found.commit), found.text);
}

function offerOf(commit: Commit): MentionView {
  const description = `${inLine(commit.author)} · ${agoLabel(commit.at, Date.now())}`;
  return { id: `commit:${commit.hash}`, kind: 'commit', label: labelOf(commit), description };
}

function labelOf({ hash, subject }: Commit): string {
  return `${hash.slice(0, SHORT_HASH)} ${inLine(subject)}`.trim();
}

/** Cleans text that anybody may have written. */
function inLine(text: string): string {
  return oneLine(revealControls(text), MAX_WORDS);
}
