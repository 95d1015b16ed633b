// A `vscode` for unit tests of modules that use VS Code at the edge only: `test/workbench` tests
// them in VS Code. Call `useFakeEditor` before such a module is imported, which `await import(…)`
// does.
import { globSync, readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { join } from 'node:path/posix';
import { EndOfLine, FakeDocuments, FakeRange, FakeWorkspaceEdit } from './fakeDocuments';

export interface FakeSettings {
  readonly user?: Readonly<Record<string, unknown>>;
  readonly workspace?: Readonly<Record<string, unknown>>;
  readonly folders?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

interface FakeWorkspace {
  isTrusted: boolean;
  workspaceFile: { readonly fsPath: string } | undefined;
  workspaceFolders: readonly { readonly uri: { readonly fsPath: string }; readonly name: string }[] | undefined;
  getConfiguration(section: string, scope?: { readonly fsPath: string }): object;
}

const EDITOR = Symbol.for('parley.test.editor');

interface FakeEditor extends Record<string, unknown> {
  readonly workspace: FakeWorkspace & FakeDocuments;
}

function inertPart(): unknown {
  const members = new Map<string | symbol, unknown>();
  return new Proxy(class {}, {
    get(_target, name) {
      if (name === 'then') return undefined;
      if (name === Symbol.toPrimitive) return () => '';
      if (name === Symbol.iterator) return [][Symbol.iterator];
      if (!members.has(name)) members.set(name, inertPart());
      return members.get(name);
    },
    apply: () => inertPart(),
    construct: () => inertPart() as object,
  });
}

function partly<T extends object>(part: T): T {
  const others = inertPart() as Record<string | symbol, unknown>;
  return new Proxy(part, { get: (target, name) => (name in target ? Reflect.get(target, name) : others[name]) });
}

class FakeUri {
  readonly scheme = 'file';
  readonly fsPath: string;
  constructor(fsPath: string) {
    this.fsPath = fsPath;
  }
  get path(): string {
    return this.fsPath;
  }
  toString(): string {
    return `file://${this.fsPath}`;
  }
  static file(path: string): FakeUri {
    return new FakeUri(path);
  }
  static parse(text: string): FakeUri {
    return new FakeUri(text.replace(/^file:\/\//, ''));
  }
  static joinPath({ fsPath }: { fsPath: string }, ...parts: string[]): FakeUri {
    return new FakeUri(join(fsPath, ...parts));
  }
}

const DISMISSED = {
  onDidHide(listener: () => void): { dispose(): void } {
    setImmediate(listener);
    return { dispose() {} };
  },
};

function makeEditor(): FakeEditor {
  const workspace = Object.assign(new FakeDocuments(), {
    isTrusted: false,
    workspaceFile: undefined,
    workspaceFolders: undefined,
    getConfiguration: () => ({ get: () => undefined }),
  });
  const nobodyAnswers = async (): Promise<undefined> => undefined;
  return {
    workspace: partly<FakeWorkspace & FakeDocuments>(workspace),
    Uri: FakeUri,
    Range: FakeRange,
    WorkspaceEdit: FakeWorkspaceEdit,
    EndOfLine,
    TabInputNotebook: class {},
    TabInputCustom: class {},
    ConfigurationTarget: { Global: 1 },
    commands: partly({ executeCommand: nobodyAnswers }),
    env: partly({ language: 'en', clipboard: { writeText: nobodyAnswers, readText: async () => '' } }),
    l10n: {
      t: (text: string, ...values: readonly unknown[]) =>
        text.replaceAll(/\{(\d+)\}/g, (_all, index: string) => String(values[Number(index)])),
    },
    window: partly({
      activeTextEditor: undefined,
      visibleTextEditors: [],
      terminals: [],
      tabGroups: { all: [], activeTabGroup: { tabs: [], viewColumn: 1 } },
      showQuickPick: nobodyAnswers,
      showInputBox: nobodyAnswers,
      showOpenDialog: nobodyAnswers,
      showSaveDialog: nobodyAnswers,
      showInformationMessage: nobodyAnswers,
      showWarningMessage: nobodyAnswers,
      showErrorMessage: nobodyAnswers,
      createQuickPick: () => partly(DISMISSED),
      createInputBox: () => partly(DISMISSED),
    }),
  };
}

function importedNames(): readonly string[] {
  const names = new Set<string>(['workspace', 'Uri', 'ConfigurationTarget', 'commands', 'env', 'l10n', 'window']);
  for (const path of globSync('src/workbench/**/*.ts')) {
    const text = readFileSync(path, 'utf8');
    for (const [, list = ''] of text.matchAll(/^import \{([^}]*)\} from 'vscode';/gm))
      for (const item of list.split(',').map((one) => one.trim()))
        if (item !== '' && !item.startsWith('type ')) names.add(item.split(' as ', 1)[0] ?? '');
    for (const [, name = ''] of text.matchAll(/\bvscode\.([A-Za-z]\w*)/g)) names.add(name);
  }
  return [...names];
}

function fakeEditor(): FakeEditor {
  const shared = globalThis as { [EDITOR]?: FakeEditor };
  const known = shared[EDITOR];
  if (known) return known;
  const editor = makeEditor();
  const names = importedNames();
  for (const name of names) editor[name] ??= inertPart();
  shared[EDITOR] = editor;
  const source = `
    const editor = globalThis[Symbol.for('parley.test.editor')];
    export const { ${names.join(', ')} } = editor;
  `;
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === 'vscode' ? { url: 'fake:vscode', shortCircuit: true } : next(specifier, context),
    load: (url, context, next) =>
      url === 'fake:vscode' ? { format: 'module', source, shortCircuit: true } : next(url, context),
  });
  return editor;
}

export function useFakeDocuments(): FakeDocuments {
  const { workspace } = fakeEditor();
  workspace.isTrusted = true;
  workspace.textDocuments = [];
  workspace.configured = 'utf8';
  workspace.beforeEdit = undefined;
  return workspace;
}

/** Makes `vscode` importable in this process. */
export function useFakeEditor(): (settings: FakeSettings, isTrusted: boolean, folders: readonly string[]) => void {
  const { workspace } = fakeEditor();
  return (settings, isTrusted, folders) => {
    workspace.isTrusted = isTrusted;
    workspace.workspaceFile = folders.length > 1 ? { fsPath: '/all.code-workspace' } : undefined;
    workspace.workspaceFolders = folders.map((fsPath) => ({ uri: { fsPath }, name: fsPath.slice(1) }));
    workspace.getConfiguration = (_section, scope) => {
      const inspect = (key: string): object => ({
        globalValue: settings.user?.[key],
        workspaceValue: settings.workspace?.[key],
        workspaceFolderValue: scope && settings.folders?.[scope.fsPath]?.[key],
      });
      const get = (key: string): unknown =>
        (scope && settings.folders?.[scope.fsPath]?.[key]) ?? settings.workspace?.[key] ?? settings.user?.[key];
      return { inspect, get };
    };
  };
}

export function openInFakeEditor(path: string | undefined): void {
  const editor =
    path === undefined ? undefined : { document: { uri: new FakeUri(path) }, selection: { active: { line: 0 } } };
  Object.assign(fakeEditor().window as object, { activeTextEditor: editor });
}
