// Finds known agents on the PATH, without starting any program.

import { readFile, realpath, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { delimiter, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { resolveCommand } from '../../agents/resolveCommand';
import { runProgram } from '../../agents/runProgram';
import type { Log } from '../../base/log';
import { at } from '../../base/untrusted';

export interface FoundProgram extends KnownAgent {
  readonly path: string;
  /** The name if PATH resolves it here, so that later versions are found; otherwise the path. */
  readonly command: string;
}

export interface SearchPlace {
  readonly env: NodeJS.ProcessEnv;
  /** Workspace folders: programs in them are ignored. */
  readonly except: readonly string[];
}

export async function findAgents(
  { env, except }: SearchPlace,
  known: readonly KnownAgent[] = KNOWN_AGENTS,
): Promise<readonly FoundProgram[]> {
  const ownEnv = withoutFolders(env, except);
  const found = await Promise.all(known.map((agent) => find(agent, env, ownEnv)));
  const ids = new Set<string>();
  return found.filter((agent): agent is FoundProgram => {
    if (agent === undefined || ids.has(agent.id)) return false;
    ids.add(agent.id);
    return true;
  });
}

async function find(
  agent: KnownAgent,
  env: NodeJS.ProcessEnv,
  ownEnv: NodeJS.ProcessEnv,
): Promise<FoundProgram | undefined> {
  const cwd = resolve(sep);
  const resolveIn = (where: NodeJS.ProcessEnv): Promise<string | undefined> =>
    resolveCommand(agent.program, { cwd, env: where }).catch(() => undefined);
  const path = await resolveIn(ownEnv);
  if (path === undefined) return undefined;
  const isFirst = (await resolveIn(env)) === path;
  return { ...agent, path, command: isFirst ? agent.program : path };
}

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

export interface KnownAgent {
  readonly id: string;
  readonly name: string;
  readonly program: string;
  readonly args: readonly string[];
  /**
   * `--version` prints and exits. Other programs would start serving; only npm tells their version.
   */
  readonly answersVersion: boolean;
  /** Registry ids of adapters, for a program without ACP. */
  readonly adapters?: readonly string[];
}

/** In the order in which they are offered. */
export const KNOWN_AGENTS: readonly KnownAgent[] = [
  agent('claude', 'Claude', 'claude-agent-acp', [], false),
  agent('claude', 'Claude', 'claude-code-acp', [], false),
  { ...agent('claude', 'Claude', 'claude', []), adapters: ['claude-acp', 'claude-code-acp'] },
  agent('gemini', 'Gemini', 'gemini', ['--acp']),
  agent('codex', 'Codex', 'codex-acp', [], false),
  { ...agent('codex', 'Codex', 'codex', []), adapters: ['codex-acp'] },
  agent('opencode', 'OpenCode', 'opencode', ['acp']),
  agent('copilot', 'GitHub Copilot', 'copilot', ['--acp']),
  agent('copilot', 'GitHub Copilot', 'copilot-language-server', ['--acp']),
  agent('kilo', 'Kilo', 'kilo', ['acp']),
  agent('qwen', 'Qwen Code', 'qwen', ['--acp']),
  agent('goose', 'goose', 'goose', ['acp']),
  agent('cline', 'Cline', 'cline', ['--acp']),
  agent('auggie', 'Auggie', 'auggie', ['--acp']),
  agent('kimi', 'Kimi', 'kimi', ['acp']),
  agent('vibe', 'Mistral Vibe', 'vibe-acp', [], false),
  agent('qoder', 'Qoder', 'qodercli', ['--acp']),
  agent('droid', 'Factory Droid', 'droid', ['exec', '--output-format', 'acp']),
  agent('pi', 'pi', 'pi-acp', [], false),
  agent('grok', 'Grok', 'grok', ['agent', 'stdio']),
  agent('cursor', 'Cursor', 'cursor-agent', ['acp']),
  agent('kiro', 'Kiro', 'kiro-cli', ['acp']),
  agent('junie', 'Junie', 'junie', ['--acp=true']),
  agent('omp', 'omp', 'omp', ['acp']),
  agent('openclaw', 'OpenClaw', 'openclaw', ['acp']),
  agent('mastracode', 'Mastra Code', 'mastracode', ['--acp']),
  agent('codebuddy', 'CodeBuddy', 'codebuddy', ['--acp']),
  agent('stakpak', 'Stakpak', 'stakpak', ['acp']),
  agent('kit', 'Kit', 'kit', ['acp']),
];

function agent(id: string, name: string, program: string, args: readonly string[], answersVersion = true): KnownAgent {
  return { id, name, program, args, answersVersion };
}

const VERSION_TIMEOUT_MS = 5_000;
const MAX_MANIFEST_BYTES = 1024 * 1024;
const MAX_OUTPUT_CHARS = 4_096;

export interface VersionContext {
  readonly env: Readonly<Record<string, string>>;
  readonly log: Log;
  readonly limitMs?: number;
}

export async function versionOf(
  program: Pick<FoundProgram, 'path' | 'answersVersion'>,
  context: VersionContext,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const packaged = await packageVersion(program.path);
  if (packaged !== undefined || !program.answersVersion) return packaged;
  const { env, log, limitMs = VERSION_TIMEOUT_MS } = context;
  const result = await runProgram(
    {
      command: program.path,
      args: ['--version'],
      env,
      cwd: homedir(),
      log,
      timeoutMs: limitMs,
      keptChars: MAX_OUTPUT_CHARS,
    },
    signal,
  ).catch(() => undefined);
  if (result === undefined || result.timedOut || result.code !== 0) return undefined;
  return readVersion(result.stdout) ?? readVersion(result.stderr);
}

export function readVersion(text: string): string | undefined {
  return /\d{1,9}\.\d{1,9}(?:\.\d{1,9})?(?:-[\w.]{1,40})?/.exec(text)?.[0];
}

async function packageVersion(path: string): Promise<string | undefined> {
  try {
    const parts = (await realpath(path)).split(sep);
    const last = parts.lastIndexOf('node_modules');
    const name = parts[last + 1];
    if (last < 0 || name === undefined || name === '.bin') return undefined;
    const length = last + (name.startsWith('@') ? 3 : 2);
    const manifest = join(parts.slice(0, length).join(sep), 'package.json');
    if ((await stat(manifest)).size > MAX_MANIFEST_BYTES) return undefined;
    const version = at(JSON.parse(await readFile(manifest, 'utf8')), 'version');
    return typeof version === 'string' ? readVersion(version) : undefined;
  } catch {
    return undefined;
  }
}
