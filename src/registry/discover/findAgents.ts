// Looks for known agents on the PATH, without starting a program.
import { delimiter, isAbsolute, relative, resolve, sep } from 'node:path';
import { resolveCommand } from '../../agents/resolveCommand';
import { KNOWN_AGENTS, type KnownAgent } from './knownAgents';

/** A known agent whose program is on this machine. */
export interface FoundProgram extends KnownAgent {
  /** The absolute path of the program. */
  readonly path: string;
  /**
   * The command for `parley.agents`: the name of the program if the PATH leads to this path, so that
   * a later version in another folder is found too; otherwise the path.
   */
  readonly command: string;
}

/** Where to look for agents. */
export interface SearchPlace {
  /** Environment whose PATH is searched. */
  readonly env: NodeJS.ProcessEnv;
  /** Workspace folders, whose programs are ignored; absolute. */
  readonly except: readonly string[];
}

/** Finds the known agents on the PATH, each id once, in the order of the table. */
export async function findAgents(
  { env, except }: SearchPlace,
  known: readonly KnownAgent[] = KNOWN_AGENTS,
): Promise<readonly FoundProgram[]> {
  const own = withoutFolders(env, except);
  const found = await Promise.all(known.map((agent) => find(agent, env, own)));
  const ids = new Set<string>();
  return found.filter((one): one is FoundProgram => {
    if (one === undefined || ids.has(one.id)) return false;
    ids.add(one.id);
    return true;
  });
}

async function find(
  agent: KnownAgent,
  env: NodeJS.ProcessEnv,
  own: NodeJS.ProcessEnv,
): Promise<FoundProgram | undefined> {
  const cwd = resolve(sep);
  const look = (where: NodeJS.ProcessEnv): Promise<string | undefined> =>
    resolveCommand(agent.program, { cwd, env: where }).catch(() => undefined);
  const path = await look(own);
  if (path === undefined) return undefined;
  const isFirst = (await look(env)) === path;
  return { ...agent, path, command: isFirst ? agent.program : path };
}

/** Returns the environment without the folders of its PATH that are in one of the given folders. */
export function withoutFolders(env: NodeJS.ProcessEnv, except: readonly string[]): NodeJS.ProcessEnv {
  const key = Object.keys(env).find((name) => name.toUpperCase() === 'PATH');
  if (key === undefined) return env;
  const folders = (env[key] ?? '').split(delimiter);
  return { ...env, [key]: folders.filter((folder) => !except.some((one) => isWithin(folder, one))).join(delimiter) };
}

function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
