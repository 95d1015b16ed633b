// A `vscode` for unit tests of modules that only read settings: `test/workbench` tests them in VS Code. Call `useFakeEditor` before such a module is imported, which `await import(…)` does.
import { registerHooks } from 'node:module';
import { join } from 'node:path/posix';

/** Values of settings by key, without `parley.`, for each scope. */
export interface FakeSettings {
  readonly user?: Readonly<Record<string, unknown>>;
  readonly workspace?: Readonly<Record<string, unknown>>;
  /** By the path of the folder. */
  readonly folders?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

interface FakeWorkspace {
  isTrusted: boolean;
  workspaceFile: { readonly fsPath: string } | undefined;
  workspaceFolders: readonly { readonly uri: { readonly fsPath: string }; readonly name: string }[] | undefined;
  getConfiguration(section: string, scope?: { readonly fsPath: string }): object;
}

const EDITOR = Symbol.for('parley.test.editor');
const SOURCE = `
  const editor = globalThis[Symbol.for('parley.test.editor')];
  export const { workspace, Uri, ConfigurationTarget, commands, env } = editor;
`;

/**
 * Makes `vscode` importable in this process.
 * @returns a function that sets what the editor has: `folders` are its workspace folders, absolute
 */
export function useFakeEditor(): (settings: FakeSettings, isTrusted: boolean, folders: readonly string[]) => void {
  const workspace: FakeWorkspace = {
    isTrusted: false,
    workspaceFile: undefined,
    workspaceFolders: undefined,
    getConfiguration: () => ({}),
  };
  Object.assign(globalThis, {
    [EDITOR]: {
      workspace,
      Uri: { joinPath: ({ fsPath }: { fsPath: string }, ...parts: string[]) => ({ fsPath: join(fsPath, ...parts) }) },
      ConfigurationTarget: { Global: 1 },
      commands: {},
      env: {},
    },
  });
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === 'vscode' ? { url: 'fake:vscode', shortCircuit: true } : next(specifier, context),
    load: (url, context, next) =>
      url === 'fake:vscode' ? { format: 'module', source: SOURCE, shortCircuit: true } : next(url, context),
  });
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
