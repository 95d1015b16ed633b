// The list of the workspace's files, made when it is first needed and kept fresh.
import { RelativePattern, Uri, type WorkspaceFolder, workspace } from 'vscode';
import { type Disposable, DisposableStore } from '../../base/disposable';
import { FileList } from '../../mentions/fileList';
import { gitFiles } from '../../mentions/gitFiles';

const MAX_FILES = 200_000;

export class WorkspaceFiles implements Disposable {
  readonly #lifetime = new DisposableStore();
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
    const watcher = this.#lifetime.add(workspace.createFileSystemWatcher('**/*', false, true, false));
    this.#lifetime.add(watcher.onDidCreate(stale));
    this.#lifetime.add(watcher.onDidDelete(stale));
    this.#lifetime.add(workspace.onDidChangeWorkspaceFolders(stale));
    this.#lifetime.add(workspace.onDidGrantWorkspaceTrust(stale));
  }

  /** Returns the latest list, and starts renewing a stale one. */
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

  dispose(): void {
    this.#ended.abort();
    this.#lifetime.dispose();
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
