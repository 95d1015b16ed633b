// What `@` in the composer offers: the selection, problems, commands of terminals, open editors, files,
// folders, commits, earlier sessions and symbols. What is chosen becomes an attachment.
import { posix } from 'node:path';
import {
  l10n,
  RelativePattern,
  TabInputText,
  type TextEditor,
  Uri,
  type WorkspaceFolder,
  window,
  workspace,
} from 'vscode';
import { type Disposable, Part } from '../../base/disposable';
import { revealControls } from '../../base/revealControls';
import { oneLine } from '../../base/text';
import { FileList } from '../../mentions/fileList';
import { type Commit, commitOf, commitText, GitCommits } from '../../mentions/gitCommits';
import { changesText, gitChanges, gitFiles, isInRepository } from '../../mentions/gitFiles';
import type { MentionView } from '../../panel/contract';
import type { QueuedAttachment } from '../../session/queue/queue';
import { problemsIn } from '../editorTools/readers/problems';
import { type FoundSymbol, symbolsNamed, symbolsOf } from '../editorTools/symbolPosition';
import { agoLabel } from '../sessions/sessionLabels';
import { embeddedAttachment, fileAttachment, linesAttachment, selectionAttachment } from './attachments';
import { type EarlierSessions, folded, type MentionPlace } from './earlierSessions';
import type { TerminalCommands } from './terminalCommands';

const MOST = 20;
const FIRST_COMMANDS = 3;
const MOST_OPEN = 10;
const MOST_SESSIONS = 5;
const MOST_SYMBOLS = 5;
const LEAST_LETTERS = 2;
/** In milliseconds. */
const SYMBOLS_MS = 10_000;
const MOST_PROBLEMS = 200;
const SELECTION = 'selection';
const PROBLEMS = 'problems';
const CHANGES = 'changes';
const TERMINAL = 'terminal';
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
   * Offers for the letters after `@`: first files, then commits, earlier sessions and symbols as
   * they are found.
   * @throws the reason of `signal`
   */
  async *offers(query: string, place: MentionPlace, signal: AbortSignal): AsyncGenerator<readonly MentionView[]> {
    const { roots } = place;
    const wanted = query.toLowerCase();
    const fits = ({ label }: MentionView): boolean => label.toLowerCase().includes(wanted);
    const first = [selectionOffer(), problemsOffer(roots), await changesOffer(roots)].filter(
      (offer) => offer !== undefined,
    );
    const commands = this.#terminals.offers().filter((offer) => TERMINAL.startsWith(wanted) || fits(offer));
    const ran = wanted === '' ? commands.slice(0, FIRST_COMMANDS) : commands;
    const here = [...first.filter(fits), ...ran, ...openFiles().filter(fits).slice(0, MOST_OPEN)];
    this.#files.warm();
    if (wanted === '') {
      yield here;
      return;
    }
    const ids = new Set(here.map(({ id }) => id));
    const list = await this.#files.list();
    const found = await list.search(wanted, MOST, signal);
    const files = found
      .map(({ path, isFolder }): MentionView => ({ id: PATH + path, kind: isFolder ? 'folder' : 'file', label: path }))
      .filter(({ id }) => !ids.has(id));
    let asked: readonly MentionView[] = [];
    let late: readonly MentionView[] = [];
    const shown = (): readonly MentionView[] => [
      ...[...here, ...asked, ...files].slice(0, MOST - late.length),
      ...late,
    ];
    yield shown();
    if (wanted.length < LEAST_LETTERS) return;
    const waiting = new Map(
      [
        commitOffers(this.#commits, wanted, roots[0], signal),
        this.#sessions.named(query, place, MOST_SESSIONS, signal),
        this.#symbolOffers(query, roots, signal),
      ].map((offers, index) => [index, offers.then((more) => ({ index, more }))]),
    );
    while (waiting.size > 0) {
      const { index, more } = await Promise.race(waiting.values());
      waiting.delete(index);
      if (more.length === 0) continue;
      if (index === 0 && asksForCommits(wanted)) asked = more;
      else late = [...late, ...more];
      yield shown();
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
    // The page may name only what it was offered.
    const isOffered = openFiles().some((offer) => offer.id === id) || (await this.#files.list()).has(path);
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

  async #symbolOffers(query: string, roots: readonly string[], signal: AbortSignal): Promise<readonly MentionView[]> {
    const symbols = await symbolsNamed(query, roots, MOST_SYMBOLS, signal);
    if (symbols.length === 0) return [];
    this.#symbols = new Map(symbols.map((symbol, index) => [`symbol:${index}:${symbol.name}`, symbol]));
    return [...this.#symbols].map(symbolOffer);
  }
}

/** Without `..`, which could leave a folder that the address begins with. */
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

async function changesOffer([root]: readonly string[]): Promise<MentionView | undefined> {
  // Git may run filters of the repository.
  if (root === undefined || !workspace.isTrusted || !(await isInRepository(root))) return undefined;
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

/** The list of workspace symbols has only the place of the name. */
async function symbolAttachment(symbol: FoundSymbol): Promise<QueuedAttachment> {
  const { name, path, line } = symbol;
  const inTime = AbortSignal.timeout(SYMBOLS_MS);
  const [document, all] = await Promise.all([
    workspace.openTextDocument(Uri.file(path)),
    symbolsOf(path, inTime).catch(() => []),
  ]);
  const { endLine } = all.find((one) => one.name === name && one.line === line) ?? symbol;
  const last = Math.min(endLine, document.lineCount);
  const range = document.lineAt(line - 1).range.union(document.lineAt(last - 1).range);
  return linesAttachment(document, line, last, document.getText(range), name);
}

function openFiles(): readonly MentionView[] {
  const offers = new Map<string, MentionView>();
  for (const { tabs } of window.tabGroups.all)
    for (const { input } of tabs) {
      if (!(input instanceof TabInputText) || !workspace.getWorkspaceFolder(input.uri)) continue;
      const label = workspace.asRelativePath(input.uri);
      offers.set(label, { id: PATH + label, kind: 'file', label, description: l10n.t('Open editor') });
    }
  return [...offers.values()];
}

const MOST_FOUND = 5;
const MOST_NEWEST = 8;
const LEAST_HASH = 3;
const HASH = /^[0-9a-f]{4,64}$/;
const ID = /^commit:([0-9a-f]{40,64})$/;
const WORD = /^comm(it?|its)?$/;
const SHORT_HASH = 7;
const MAX_WORDS = 60;

function asksForCommits(wanted: string): boolean {
  return WORD.test(wanted);
}

/** @param wanted in lower case @param folder of the repository; absolute */
async function commitOffers(
  commits: GitCommits,
  wanted: string,
  folder: string | undefined,
  signal: AbortSignal,
): Promise<readonly MentionView[]> {
  if (!folder || !workspace.isTrusted) return [];
  const newest = await commits.newest(folder);
  if (asksForCommits(wanted)) return newest.slice(0, MOST_NEWEST).map(offerOf);
  if (wanted.length < LEAST_HASH) return [];
  const letters = folded(wanted);
  const isHash = HASH.test(wanted);
  const found = newest.filter(
    ({ hash, subject }) => (isHash && hash.startsWith(wanted)) || (letters && folded(subject).includes(letters)),
  );
  const isOlder = found.length === 0 && isHash && wanted.length >= SHORT_HASH;
  return (isOlder ? await commitOf(folder, wanted, signal) : found.slice(0, MOST_FOUND)).map(offerOf);
}

/** Returns undefined if the id is no commit's. @throws ParleyError if git fails */
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

/** Anybody can have written it. */
function inLine(text: string): string {
  return oneLine(revealControls(text), MAX_WORDS);
}

const MAX_FILES = 200_000;

class WorkspaceFiles extends Part {
  readonly #ended = new AbortController();
  #list: Promise<FileList> | undefined;
  #isStale = false;
  #isRenewing = false;

  warm(): void {
    if (this.#list) return;
    this.#list = this.#make();
    const stale = (): void => {
      this.#isStale = true;
    };
    const watcher = this.own(workspace.createFileSystemWatcher('**/*', false, true, false));
    this.own(watcher.onDidCreate(stale));
    this.own(watcher.onDidDelete(stale));
    this.own(workspace.onDidChangeWorkspaceFolders(stale));
    this.own(workspace.onDidGrantWorkspaceTrust(stale));
  }

  async list(): Promise<FileList> {
    this.warm();
    if (this.#isStale && !this.#isRenewing) void this.#renew();
    return this.#list ?? FileList.of([]);
  }

  uriOf(path: string): Uri | undefined {
    for (const folder of workspace.workspaceFolders ?? []) {
      const prefix = prefixOf(folder);
      if (path.startsWith(prefix)) return Uri.joinPath(folder.uri, path.slice(prefix.length));
    }
    return undefined;
  }

  override dispose(): void {
    this.#ended.abort();
    super.dispose();
  }

  async #renew(): Promise<void> {
    this.#isRenewing = true;
    this.#isStale = false;
    try {
      const list = await this.#make();
      this.#list = Promise.resolve(list);
    } finally {
      this.#isRenewing = false;
    }
  }

  async #make(): Promise<FileList> {
    const folders = workspace.workspaceFolders ?? [];
    const lists = await Promise.all(
      folders.map(async (folder) => {
        const prefix = prefixOf(folder);
        const files = await this.#filesOf(folder);
        return prefix === '' ? files : files.map((path) => `${prefix}${path}`);
      }),
    );
    return FileList.of(lists.flat());
  }

  async #filesOf(folder: WorkspaceFolder): Promise<readonly string[]> {
    // Git reads the folder's configuration.
    const isTold = workspace.isTrusted && folder.uri.scheme === 'file';
    const listed = isTold ? await gitFiles(folder.uri.fsPath, this.#ended.signal) : undefined;
    if (listed) return listed.slice(0, MAX_FILES);
    const found = await workspace.findFiles(new RelativePattern(folder, '**/*'), excluded(folder), MAX_FILES);
    const start = folder.uri.path.length + 1;
    return found.map(({ path }) => path.slice(start));
  }
}

/** In a multi-root workspace, paths begin with the folder's name. */
function prefixOf(folder: WorkspaceFolder): string {
  return (workspace.workspaceFolders?.length ?? 0) > 1 ? `${folder.name}/` : '';
}

function excluded({ uri }: WorkspaceFolder): string {
  const patterns = ['files.exclude', 'search.exclude'].flatMap((section) => {
    const all = workspace.getConfiguration(undefined, uri).get<Record<string, unknown>>(section) ?? {};
    return Object.entries(all).flatMap(([pattern, isOn]) => (isOn === true ? [pattern] : []));
  });
  return `{${['**/node_modules', ...patterns].join(',')}}`;
}
