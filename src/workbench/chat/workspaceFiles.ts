// The workspace files that `@` suggests: as listed by git or the editor, and those used last.
import { access } from 'node:fs/promises';
import { RelativePattern, TabInputText, type TextEditor, Uri, type WorkspaceFolder, window, workspace } from 'vscode';
import { Part } from '../../base/disposable';
import { succeeds } from '../../base/within';
import { FileList } from '../../mentions/fileList';
import { gitFiles } from '../../mentions/gitFiles';

export interface RecentFile {
  readonly path: string;
  readonly isOpen: boolean;
}

const MOST_FOUND = 20;
const MAX_FILES = 200_000;
const MAX_VISITED = 50;

export class WorkspaceFiles extends Part {
  readonly #ended = new AbortController();
  #list: Promise<FileList> | undefined;
  #isStale = false;
  #isRenewing = false;
  readonly #visited = new Set<string>();

  constructor() {
    super();
    this.#visit(window.activeTextEditor);
    this.own(window.onDidChangeActiveTextEditor((editor) => this.#visit(editor)));
  }

  /** Workspace files used last, latest first, then other open editors. */
  recent(): readonly RecentFile[] {
    const tabs = window.tabGroups.all.flatMap((group) => group.tabs);
    const open = new Set(tabs.flatMap(({ input }) => (input instanceof TabInputText ? [input.uri.toString()] : [])));
    const all = new Set([...[...this.#visited].reverse(), ...open]);
    return [...all].flatMap((address) => {
      const uri = Uri.parse(address);
      if (!workspace.getWorkspaceFolder(uri)) return [];
      return [{ path: workspace.asRelativePath(uri), isOpen: open.has(address) }];
    });
  }

  async search(wanted: string, only: 'file' | 'folder' | undefined, signal: AbortSignal) {
    const list = await this.list();
    return this.existing(await list.search(wanted, MOST_FOUND, signal, only));
  }

  async existing<T extends { readonly path: string }>(found: readonly T[]): Promise<readonly T[]> {
    const exist = await Promise.all(
      found.map(({ path }) => {
        const uri = this.uriOf(path);
        return uri?.scheme !== 'file' || succeeds(access(uri.fsPath));
      }),
    );
    return found.filter((_, index) => exist[index]);
  }

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

  #visit(editor: TextEditor | undefined): void {
    if (editor?.document.uri.scheme !== 'file') return;
    const address = editor.document.uri.toString();
    this.#visited.delete(address);
    this.#visited.add(address);
    const [oldest = ''] = this.#visited;
    if (this.#visited.size > MAX_VISITED) this.#visited.delete(oldest);
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
    // Git reads the folder's configuration, so only in trusted folders.
    const isTold = workspace.isTrusted && folder.uri.scheme === 'file';
    const listed = isTold ? await gitFiles(folder.uri.fsPath, this.#ended.signal) : undefined;
    if (listed) return listed.slice(0, MAX_FILES);
    const found = await workspace.findFiles(new RelativePattern(folder, '**/*'), excluded(folder), MAX_FILES);
    const start = folder.uri.path.length + 1;
    return found.map(({ path }) => path.slice(start));
  }
}

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
