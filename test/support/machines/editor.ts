// The `vscode` of a process without an editor: settings, state and secrets in files, dialogs that
// the test answers, pages that are not shown. It is what the product's own composition needs to run
// on a machine of a test; tests of what VS Code itself does run in VS Code.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Emitter } from '../../../src/base/event';

type Listener<T> = (event: T) => unknown;
interface Disposable {
  dispose(): void;
}

export class EventEmitter<T> {
  readonly #emitter = new Emitter<T>();
  readonly event = (listener: Listener<T>): Disposable => this.#emitter.event((event) => void listener(event));
  fire(event: T): void {
    this.#emitter.fire(event);
  }
  dispose(): void {
    this.#emitter.dispose();
  }
}

const never = (): Disposable => ({ dispose() {} });

export class CancellationTokenSource {
  readonly #emitter = new EventEmitter<void>();
  readonly token = { isCancellationRequested: false, onCancellationRequested: this.#emitter.event };
  cancel(): void {
    this.token.isCancellationRequested = true;
    this.#emitter.fire();
  }
  dispose(): void {
    this.#emitter.dispose();
  }
}

export class Uri {
  readonly scheme: string;
  readonly path: string;
  readonly query: string;
  private constructor(scheme: string, path: string, query = '') {
    this.scheme = scheme;
    this.path = path;
    this.query = query;
  }
  static file(path: string): Uri {
    return new Uri('file', path);
  }
  static joinPath(base: Uri, ...parts: readonly string[]): Uri {
    return new Uri(base.scheme, join(base.path, ...parts));
  }
  static parse(text: string): Uri {
    const { protocol, pathname, search } = new URL(text);
    return new Uri(protocol.slice(0, -1), pathname, search.slice(1));
  }
  get fsPath(): string {
    return this.path;
  }
  toString(): string {
    return `${this.scheme}://${this.path}${this.query === '' ? '' : `?${this.query}`}`;
  }
}

export class MarkdownString {
  value = '';
  appendText(text: string): this {
    this.value += text;
    return this;
  }
}

class Named {
  readonly id: string;
  constructor(id: string) {
    this.id = id;
  }
}
export class ThemeColor extends Named {}
export class ThemeIcon extends Named {}
export class TabInputText extends Named {}
export class TabInputTextDiff extends Named {}
export class TabInputWebview extends Named {}

export class Position extends Named {}
export class Range extends Named {}
export class Selection extends Named {}
export class SelectionRange extends Named {}
export class CodeAction extends Named {}
export class CodeLens extends Named {}
export class ProcessExecution extends Named {}
export class RelativePattern extends Named {}
export class ShellExecution extends Named {}
export class Task extends Named {}
export class TextEdit extends Named {}
export class TreeItem extends Named {}
export class WorkspaceEdit extends Named {}
export class FileSystemError extends Error {}

export const version = '1.0.0';
export const UIKind = { Desktop: 1, Web: 2 };
export const QuickInputButtons = { Back: {} };
export const ViewColumn = { Active: -1, Beside: -2 };
export const TreeItemCollapsibleState = { None: 0, Collapsed: 1, Expanded: 2 };
export const TextEditorSelectionChangeKind = { Keyboard: 1, Mouse: 2, Command: 3 };
export const TextEditorRevealType = { InCenterIfOutsideViewport: 2 };
export const StatusBarAlignment = { Left: 1, Right: 2 };
export const QuickPickItemKind = { Separator: -1, Default: 0 };
export const ProgressLocation = { Window: 10, Notification: 15 };
export const FileType = { Unknown: 0, File: 1, Directory: 2 };
export const ConfigurationTarget = { Global: 1, Workspace: 2, WorkspaceFolder: 3 };
export const EndOfLine = { LF: 1, CRLF: 2 };
export const CodeActionKind = { QuickFix: {}, SourceOrganizeImports: {} };
export class Diagnostic extends Named {}
export const DiagnosticSeverity = { Error: 0, Warning: 1, Information: 2, Hint: 3 };
export const SymbolKind = {};
export const TaskPanelKind = { Shared: 1, Dedicated: 2, New: 3 };
export const TaskRevealKind = { Always: 1, Silent: 2, Never: 3 };
export const TaskScope = { Global: 1, Workspace: 2 };

class Stored {
  readonly #file: string;
  readonly #values: Map<string, unknown>;

  constructor(file: string) {
    this.#file = file;
    let text = '{}';
    try {
      text = readFileSync(file, 'utf8');
    } catch {
      // The first start.
    }
    this.#values = new Map(Object.entries(JSON.parse(text) as object));
  }

  get(key: string, fallback?: unknown): unknown {
    return this.#values.get(key) ?? fallback;
  }

  keys(): readonly string[] {
    return [...this.#values.keys()];
  }

  async update(key: string, value: unknown): Promise<void> {
    if (value === undefined) this.#values.delete(key);
    else this.#values.set(key, value);
    mkdirSync(dirname(this.#file), { recursive: true });
    writeFileSync(`${this.#file}.new`, JSON.stringify(Object.fromEntries(this.#values)));
    renameSync(`${this.#file}.new`, this.#file);
  }
}

export const editor = {
  settings: {} as Record<string, unknown>,
  shown: [] as string[],
  presses: [] as string[],
  folder: '',
  clipboard: '',
};

const didChangeConfiguration = new EventEmitter<{ affectsConfiguration(section: string): boolean }>();

export function changeSettings(changed: Readonly<Record<string, unknown>>): void {
  Object.assign(editor.settings, changed);
  didChangeConfiguration.fire({
    affectsConfiguration: (section) =>
      Object.keys(changed).some((name) => name === section || name.startsWith(`${section}.`)),
  });
}

/**
 * What VS Code hands to an extension.
 * @param root of the repository
 * @param storage where everything of this machine is kept
 */
export function contextOf(root: string, storage: string): unknown {
  const extension = join(storage, 'extension');
  mkdirSync(join(extension, 'dist/webview'), { recursive: true });
  for (const name of ['main.css', 'main.js', 'early.js', 'shell.html', 'diagramFrame.js'])
    writeFileSync(join(extension, 'dist/webview', name), '');
  const globalState = new Stored(join(storage, 'globalState.json'));
  const secrets = new Stored(join(storage, 'secrets.json'));
  const didChangeSecrets = new EventEmitter<{ key: string }>();
  return {
    subscriptions: [],
    extensionUri: Uri.file(extension),
    extension: { packageJSON: JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as unknown },
    globalStorageUri: Uri.file(join(storage, 'global')),
    globalState,
    workspaceState: new Stored(join(storage, 'workspaceState.json')),
    secrets: {
      keys: async () => [...secrets.keys()],
      get: async (key: string) => secrets.get(key),
      async store(key: string, value: string) {
        await secrets.update(key, value);
        didChangeSecrets.fire({ key });
      },
      async delete(key: string) {
        await secrets.update(key, undefined);
        didChangeSecrets.fire({ key });
      },
      onDidChange: didChangeSecrets.event,
    },
  };
}

export const l10n = {
  bundle: undefined,
  t: (text: string, ...values: readonly unknown[]): string =>
    text.replace(/\{(\d+)\}/g, (_whole, index) => String(values[Number(index)])),
};

export const env = {
  language: 'en',
  uriScheme: 'vscode',
  remoteName: undefined,
  clipboard: {
    async writeText(text: string) {
      editor.clipboard = text;
    },
    readText: async () => editor.clipboard,
  },
  openExternal: async () => false,
  asExternalUri: async (uri: Uri) => uri,
};

export const extensions = { getExtension: () => undefined };

export const languages = { registerCodeLensProvider: never };

export const lm = { tools: [] };

export const tasks = {};

export const scm = {
  createSourceControl: () => ({
    inputBox: {},
    createResourceGroup: () => ({ label: '', resourceStates: [], dispose() {} }),
    dispose() {},
  }),
};

export const commands = {
  executeCommand: async (): Promise<undefined> => undefined,
  registerCommand: never,
};

export const workspace = {
  isTrusted: true,
  get workspaceFolders() {
    return [{ uri: Uri.file(editor.folder), name: 'work', index: 0 }];
  },
  workspaceFile: undefined,
  textDocuments: [],
  onDidGrantWorkspaceTrust: never,
  onDidChangeTextDocument: never,
  onDidSaveTextDocument: never,
  onDidCreateFiles: never,
  onDidDeleteFiles: never,
  onDidRenameFiles: never,
  onDidChangeNotebookDocument: never,
  onDidSaveNotebookDocument: never,
  onDidCloseNotebookDocument: never,
  onDidChangeWorkspaceFolders: never,
  onDidCloseTextDocument: never,
  onDidChangeConfiguration: didChangeConfiguration.event,
  getConfiguration: (section: string) => ({
    get: (key: string, fallback?: unknown) => editor.settings[`${section}.${key}`] ?? fallback,
    inspect: (key: string) => ({ globalValue: editor.settings[`${section}.${key}`] }),
  }),
  registerTextDocumentContentProvider: never,
  registerFileSystemProvider: never,
  asRelativePath: (uri: Uri) => uri.fsPath,
  decode: async (bytes: Uint8Array) => Buffer.from(bytes).toString('utf8'),
  encode: async (text: string) => Buffer.from(text),
  fs: {
    stat: async (uri: Uri) => ({ type: (await stat(uri.fsPath)).isFile() ? FileType.File : FileType.Directory }),
    readFile: (uri: Uri) => readFile(uri.fsPath),
    writeFile: (uri: Uri, bytes: Uint8Array) => writeFile(uri.fsPath, bytes),
  },
};

async function show(text: string, ...rest: readonly unknown[]): Promise<unknown> {
  const { detail } = Object(rest[0]) as { detail?: string };
  editor.shown.push(detail === undefined ? text : `${text}\n${detail}`);
  const labelOf = (button: unknown): unknown => Object(button).title ?? button;
  return rest.find((button) => editor.presses.some((press) => press === labelOf(button)));
}

const didReceiveMessage = new EventEmitter<unknown>();

export function inPage(message: unknown): void {
  didReceiveMessage.fire(message);
}

function page(viewType: string): unknown {
  const webview = {
    options: {},
    html: '',
    cspSource: '',
    onDidReceiveMessage: didReceiveMessage.event,
    postMessage: async () => true,
    asWebviewUri: (uri: Uri) => uri,
  };
  return {
    viewType,
    webview,
    visible: false,
    active: false,
    title: '',
    reveal() {},
    dispose() {},
    onDidDispose: never,
    onDidChangeViewState: never,
  };
}

export const CommentMode = { Editing: 0, Preview: 1 };
export const CommentThreadCollapsibleState = { Collapsed: 0, Expanded: 1 };
export const comments = { createCommentController: () => ({ dispose() {} }) };

export const window = {
  activeTextEditor: undefined,
  showInformationMessage: show,
  showWarningMessage: show,
  showErrorMessage: show,
  setStatusBarMessage: never,
  withProgress: (_options: unknown, work: (progress: unknown, token: unknown) => unknown) =>
    work({ report() {} }, new CancellationTokenSource().token),
  showInputBox: async () => undefined,
  showQuickPick: async () => undefined,
  createWebviewPanel: page,
  state: { focused: true },
  createTreeView: () => ({ visible: false, onDidChangeVisibility: never, dispose() {} }),
  createStatusBarItem: () => ({ show() {}, hide() {}, dispose() {} }),
  registerFileDecorationProvider: never,
  onDidCloseTerminal: never,
  onDidStartTerminalShellExecution: never,
  onDidEndTerminalShellExecution: never,
  onDidChangeActiveTextEditor: never,
  onDidChangeTextEditorSelection: never,
  onDidChangeWindowState: never,
  tabGroups: { all: [], activeTabGroup: { activeTab: undefined }, onDidChangeTabs: never, close: async () => true },
};
