// Resolves the command in a setting to the file that will run: for a useful error if it is missing,
// and so that a program in the opened folder is not mistaken for one of the user's.
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, extname, isAbsolute, join, resolve } from 'node:path';
import { ParleyError } from '../base/errors';
import { type Localizable, localizable } from '../base/localizable';
import { own } from '../base/untrusted';

const IS_WINDOWS = process.platform === 'win32';
const MAX_SHOWN_FOLDERS = 12;

export interface ResolveOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Resolves a path (absolute, relative to `cwd`, or from `~/`) or a name on PATH.
 * @throws ParleyError `agent-not-found` with the folders searched, `agent-not-executable`
 */
export async function resolveCommand(command: string, options: ResolveOptions): Promise<string> {
  const isPath = command.includes('/') || (IS_WINDOWS && command.includes('\\'));
  const extensions = IS_WINDOWS ? windowsExtensions(command, options.env) : [''];
  if (isPath) {
    const path = resolve(options.cwd, command.replace(/^~(?=[/\\])/, homedir()));
    const found = await firstRunnable([path], extensions);
    if (found.path !== undefined) return found.path;
    if (found.refused !== undefined) throw notExecutable(command, found.refused);
    throw new ParleyError('agent-not-found', localizable("The program {0} doesn't exist.", path), {
      hint: localizable('Check its path in the setting parley.agents.'),
    });
  }
  const folders = searchPath(options.env);
  const found = await firstRunnable(
    folders.map((folder) => join(folder, command)),
    extensions,
    (path) => isOutsideWsl(path, options.env),
  );
  if (found.path !== undefined) return found.path;
  if (found.refused !== undefined)
    throw notExecutable(command, found.refused, isOutsideWsl(found.refused.path, options.env));
  throw notFound(command, folders);
}

interface CommandMatch {
  readonly path?: string;
  readonly refused?: { readonly path: string; readonly why: Localizable };
}

async function firstRunnable(
  paths: readonly string[],
  extensions: readonly string[],
  isForeign: (path: string) => boolean = () => false,
): Promise<CommandMatch> {
  let refused: CommandMatch['refused'];
  for (const base of paths) {
    for (const extension of extensions) {
      const path = base + extension;
      const wrong = await whyNotRunnable(path);
      const why = wrong ?? (isForeign(path) ? OUTSIDE_WSL() : undefined);
      if (why === undefined) return { path };
      if (why !== 'absent') refused ??= { path, why };
    }
  }
  return refused ? { refused } : {};
}

/**
 * Returns whether a path is a Windows program seen from WSL, which would use other paths for files.
 */
export function isOutsideWsl(path: string, env: NodeJS.ProcessEnv): boolean {
  return Boolean(env.WSL_DISTRO_NAME) && /^\/mnt\/[a-z]\//.test(path);
}

const OUTSIDE_WSL = (): Localizable => localizable('it is a program of Windows, and this window runs in WSL');

async function whyNotRunnable(path: string): Promise<Localizable | 'absent' | undefined> {
  try {
    const entry = await stat(path);
    if (entry.isDirectory()) return localizable('it is a folder');
    if (!entry.isFile()) return localizable("it isn't a file");
  } catch {
    return 'absent';
  }
  if (IS_WINDOWS) return undefined;
  return access(path, constants.X_OK).then(
    () => undefined,
    () => localizable("it isn't executable"),
  );
}

/** Excludes empty and relative entries, which would search the opened folder. */
function searchPath(env: NodeJS.ProcessEnv): string[] {
  const key = Object.keys(env).find((name) => (IS_WINDOWS ? name.toUpperCase() === 'PATH' : name === 'PATH'));
  const folders = (key === undefined ? '' : (env[key] ?? '')).split(delimiter).filter((folder) => isAbsolute(folder));
  return [...new Set(folders)];
}

function windowsExtensions(command: string, env: NodeJS.ProcessEnv): string[] {
  const key = Object.keys(env).find((name) => name.toUpperCase() === 'PATHEXT');
  const known = ((key !== undefined && env[key]) || '.COM;.EXE;.BAT;.CMD')
    .split(';')
    .filter((extension) => extension !== '');
  const own = extname(command).toUpperCase();
  return known.some((extension) => extension.toUpperCase() === own) ? ['', ...known] : known;
}

function notFound(command: string, folders: readonly string[]): ParleyError {
  const listed = folders.slice(0, MAX_SHOWN_FOLDERS).join(', ');
  const more = folders.length - MAX_SHOWN_FOLDERS;
  const searched =
    folders.length === 0
      ? localizable('PATH is empty')
      : more > 0
        ? localizable('searched in {0} and {1} more', listed, more)
        : localizable('searched in {0}', listed);
  return new ParleyError('agent-not-found', localizable('The command "{0}" was not found: {1}.', command, searched), {
    hint:
      own(INSTALL_HINTS, command)?.() ??
      localizable('Install "{0}", or set its absolute path in parley.agents.', command),
  });
}

const node = (): Localizable =>
  localizable('Install Node.js (nodejs.org), which includes it, or set its absolute path in parley.agents.');
const uv = (): Localizable =>
  localizable('Install uv (docs.astral.sh/uv), which includes it, or set its absolute path in parley.agents.');
const INSTALL_HINTS: Readonly<Record<string, () => Localizable>> = { node, npm: node, npx: node, uv, uvx: uv };

function notExecutable(
  command: string,
  refused: { readonly path: string; readonly why: Localizable },
  isForeign = false,
): ParleyError {
  return new ParleyError(
    'agent-not-executable',
    localizable('The command "{0}" is {1}, but {2}.', command, refused.path, refused.why),
    {
      hint: isForeign
        ? localizable('Install it in WSL too. To use it anyway, set its absolute path in parley.agents.')
        : localizable('Check the command in the setting parley.agents, or make the file executable (chmod +x).'),
    },
  );
}
