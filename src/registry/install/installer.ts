// Installs agents of the registry: plans for the user to confirm, unpacks into a staging folder,
// and commits it after the agent has started from it once.

import { access, chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import satisfies from 'semver/functions/satisfies.js';
import validRange from 'semver/ranges/valid.js';
import type { ProgramResult } from '../../agents/runProgram';
import { Configured } from '../../base/disposable';
import { messageOf, ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import type { Log } from '../../base/log';
import { oneLine, tail } from '../../base/text';
import { at, own } from '../../base/untrusted';
import { succeeds } from '../../base/within';
import type { RegistryAgent } from '../list/registryAgent';
import { archiveKind, pathParts, unpack } from '../unpack/unpack';
import { download, statedSize } from './download';
import { type InstalledAgent, InstalledAgents, remove } from './installedAgents';
import { withLock } from './installLock';
import { type InstallSource, installSources } from './installSource';
import { diskError, diskFull, findNode, findUv, type NodeTools, runTool, type ToolContext } from './installTools';

export interface InstallPlan {
  readonly agent: RegistryAgent;
  readonly source: InstallSource;
  /** Bytes, as stated by the server. */
  readonly size?: number;
  readonly license?: string;
  readonly tool:
    | { readonly kind: 'npm'; readonly node: NodeTools }
    | { readonly kind: 'uv'; readonly uv: string }
    | undefined;
}

export interface ProgramStart {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** `received` and `total` in bytes. */
export type InstallStep =
  | { readonly kind: 'downloading'; readonly received: number; readonly total?: number | undefined }
  | { readonly kind: 'unpacking' | 'installing' | 'checking' };

interface InstallerOptions {
  readonly root: string;
  readonly log: Log;
  readonly context: () => Promise<ToolContext>;
  /** Starts the agent and stops it. Rejects if it doesn't answer as an agent. */
  readonly check: (start: ProgramStart, signal: AbortSignal) => Promise<void>;
  readonly trustedOrigin: () => string | undefined;
}

export class Installer extends Configured<InstallerOptions> {
  readonly installed: InstalledAgents;

  constructor(options: InstallerOptions) {
    super(options);
    this.installed = new InstalledAgents(options.root);
  }

  /**
   * Chooses the first source whose tools are available. Throws ParleyError; the reason of `signal`.
   */
  async plan(agent: RegistryAgent, signal: AbortSignal): Promise<InstallPlan> {
    let firstError: unknown;
    for (const source of installSources(agent)) {
      try {
        return await this.#planFor(agent, source, signal);
      } catch (error) {
        signal.throwIfAborted();
        firstError ??= error;
      }
    }
    throw firstError;
  }

  /** A failure leaves a resumable download. Throws ParleyError; the reason of `signal`. */
  async install(plan: InstallPlan, report: (step: InstallStep) => void, signal: AbortSignal): Promise<InstalledAgent> {
    const { id, name, version, isPreview } = plan.agent;
    return withLock(this.installed.lockFile(id), async () => {
      const staged = await this.installed.stage(id);
      try {
        const { args, env } = plan.source;
        const { program, sha256 } = await this.#installInto(staged, plan, report, signal);
        report({ kind: 'checking' });
        await this.options.check({ name, command: join(staged, program), args, env }, signal);
        signal.throwIfAborted();
        const facts = { id, name, version, program, args: [...args], env, installedAt: Date.now() };
        return await this.installed.commit(staged, { ...facts, sha256, ...(isPreview && { isPreview }) });
      } catch (error) {
        const stderr = error instanceof ParleyError && error.stderr ? `\n${error.stderr}` : '';
        this.options.log.warn(`install ${id} ${version}: ${messageOf(error)}${stderr}`);
        await remove(staged).catch((left: unknown) => this.options.log.warn(`install: ${messageOf(left)}`));
        throw signal.aborted ? signal.reason : diskError(error);
      }
    }).catch((error: unknown) => {
      throw signal.aborted ? signal.reason : diskError(error);
    });
  }

  async #planFor(agent: RegistryAgent, source: InstallSource, signal: AbortSignal): Promise<InstallPlan> {
    const plan = { agent, source, license: agent.license };
    if (source.kind === 'binary') {
      archiveKind(source.archive);
      const size = await statedSize(source.archive, this.options.trustedOrigin(), signal);
      return { ...plan, tool: undefined, size };
    }
    const context = await this.options.context();
    await mkdir(this.options.root, { recursive: true });
    if (source.kind === 'uvx') return { ...plan, tool: { kind: 'uv', uv: await findUv(context) } };
    const { node, ...facts } = await npmFacts(source, this.options.root, context, signal);
    return { ...plan, ...facts, license: agent.license ?? facts.license, tool: { kind: 'npm', node } };
  }

  async #installInto(
    folder: string,
    { source, tool }: InstallPlan,
    report: (step: InstallStep) => void,
    signal: AbortSignal,
  ): Promise<{ readonly program: string; readonly sha256?: string }> {
    if (source.kind === 'binary') return this.#downloadAndUnpack(folder, source, report, signal);
    const context = await this.options.context();
    report({ kind: 'installing' });
    if (tool?.kind === 'npm') return { program: await npmInstall(source, folder, tool.node, context, signal) };
    if (tool?.kind === 'uv') return { program: await uvInstall(source, folder, tool.uv, context, signal) };
    throw new Error('the plan has no tool');
  }

  async #downloadAndUnpack(
    folder: string,
    source: Extract<InstallSource, { kind: 'binary' }>,
    report: (step: InstallStep) => void,
    signal: AbortSignal,
  ): Promise<{ readonly program: string; readonly sha256: string }> {
    const { archive, cmd, sha256 } = source;
    const kind = archiveKind(archive);
    const file = await download(
      {
        url: archive,
        folder: this.installed.downloads,
        sha256,
        trustedOrigin: this.options.trustedOrigin(),
        onProgress: (received, total) => report({ kind: 'downloading', received, total }),
      },
      signal,
    );
    try {
      report({ kind: 'unpacking' });
      await unpack({ path: file.path, kind, program: cmd }, join(folder, 'files'), signal);
    } finally {
      // A damaged download must not be resumed; an intact one is no longer needed.
      await remove(file.path);
    }
    const parts = pathParts(cmd) ?? [];
    const program = join('files', ...(kind === 'program' ? parts.slice(-1) : parts));
    const exists = await access(join(folder, program)).then(
      () => parts.length > 0,
      () => false,
    );
    if (!exists) throw new ParleyError('no-program', localizable("The archive doesn't contain the program {0}.", cmd));
    if (process.platform !== 'win32') await chmod(join(folder, program), 0o755);
    return { program, sha256: file.sha256 };
  }
}

type PythonSource = Extract<InstallSource, { kind: 'npx' | 'uvx' }>;

/** Returns the program's path in `folder`. Throws ParleyError `uv-failed`, `no-program`. */
async function uvInstall(
  { name, version, cmd }: PythonSource,
  folder: string,
  uv: string,
  context: ToolContext,
  signal: AbortSignal,
): Promise<string> {
  const home = join(folder, 'venv');
  const run = async (...args: string[]): Promise<void> => {
    const result = await runTool(uv, [...args, '--no-progress'], folder, context, signal);
    if (result.code !== 0) throw uvError(result);
  };
  // Relocatable, because the folder is renamed at the end.
  await run('venv', '--relocatable', '--no-project', home);
  await run('pip', 'install', '--python', home, `${name}==${version}`);
  const isWindows = process.platform === 'win32';
  const wanted = cmd ?? name.replace(/\[.*/, '');
  const program = join('venv', isWindows ? 'Scripts' : 'bin', isWindows ? `${wanted}.exe` : wanted);
  const exists = /^[\w.-]+$/.test(wanted) && (await succeeds(access(join(folder, program))));
  if (!exists) throw new ParleyError('no-program', localizable('The package {0} has no program to start.', name));
  return program;
}

function uvError({ stderr }: ProgramResult): ParleyError {
  const options = { stderr: tail(stderr.trim(), 4_000) };
  if (/no space left on device/i.test(stderr)) return diskFull(options);
  return new ParleyError('uv-failed', localizable('uv failed: {0}', oneLine(stderr, 300)), options);
}

const VIEW_MS = 60_000;
const MAX_MANIFEST_BYTES = 1024 * 1024;
const QUIET = ['--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error'];

type NpmSource = Extract<InstallSource, { kind: 'npx' | 'uvx' }>;

interface NpmFacts {
  readonly node: NodeTools;
  /** Unpacked bytes, without dependencies. */
  readonly size?: number;
  readonly license?: string;
}

async function npmFacts(
  { name, version }: NpmSource,
  folder: string,
  context: ToolContext,
  signal: AbortSignal,
): Promise<NpmFacts> {
  const node = await findNode(context, signal);
  const fields = ['version', 'license', 'engines', 'dist.unpackedSize'];
  const args = ['view', `${name}@${version}`, ...fields, '--json', ...QUIET];
  const result = await runTool(node.npm, args, folder, { ...context, timeoutMs: VIEW_MS }, signal);
  if (result.code !== 0) throw npmError(result, name);
  const facts = readJson(result.stdout);
  const range = at(facts, 'engines', 'node');
  if (typeof range === 'string' && !meetsRange(node.version, range))
    throw new ParleyError(
      'node-too-old',
      localizable('{0} requires Node.js {1}; yours is {2}.', `${name} ${version}`, oneLine(range, 100), node.version),
      { hint: localizable('Install a newer Node.js, then try again.') },
    );
  const size = at(facts, 'dist.unpackedSize');
  const license = at(facts, 'license');
  return {
    node,
    size: typeof size === 'number' && Number.isSafeInteger(size) ? size : undefined,
    license: typeof license === 'string' ? oneLine(license, 100) : undefined,
  };
}

/** Returns the program's path in `folder`. Throws ParleyError `npm-failed`, `no-program`. */
async function npmInstall(
  source: NpmSource,
  folder: string,
  { npm }: NodeTools,
  context: ToolContext,
  signal: AbortSignal,
): Promise<string> {
  const { name, version } = source;
  // Keeps npm from using a manifest of a parent folder.
  await writeFile(join(folder, 'package.json'), '{ "private": true }\n');
  const here = ['--prefix', folder, '--global=false', ...QUIET, '--json'];
  const install = ['install', `${name}@${version}`, '--save-exact', '--ignore-scripts', ...here];
  const installed = await runTool(npm, install, folder, context, signal);
  if (installed.code !== 0) throw npmError(installed, name);
  const rebuilt = await runTool(npm, ['rebuild', name, '--ignore-scripts=false', ...here], folder, context, signal);
  if (rebuilt.code !== 0) throw npmError(rebuilt, name);
  return programOf(source, folder);
}

/** Like npx: the only program of the package, or the one with its name. */
async function programOf({ name, cmd }: NpmSource, folder: string): Promise<string> {
  const path = join(folder, 'node_modules', ...name.split('/'), 'package.json');
  const isSmall = (await stat(path)).size <= MAX_MANIFEST_BYTES;
  const manifest = isSmall ? readJson(await readFile(path, 'utf8')) : undefined;
  const bin = at(manifest, 'bin');
  const short = name.split('/').at(-1) ?? name;
  const bins = typeof bin === 'object' && bin !== null ? (bin as Record<string, unknown>) : {};
  const names = typeof bin === 'string' ? [short] : Object.keys(bins);
  const wanted = cmd ?? (names.length === 1 ? names[0] : short);
  if (wanted === undefined || !names.includes(wanted) || !/^[\w@.-]+$/.test(wanted) || own(bins, wanted) === '')
    throw new ParleyError('no-program', localizable('The package {0} has no program to start.', name));
  return join('node_modules', '.bin', process.platform === 'win32' ? `${wanted}.cmd` : wanted);
}

interface Printed {
  readonly stdout: string;
  readonly stderr: string;
  readonly timedOut: boolean;
}

const NETWORK =
  /^(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ERR_SOCKET_TIMEOUT|ENETUNREACH|FETCH_ERROR)$/;

function npmError({ stdout, stderr, timedOut }: Printed, name: string): ParleyError {
  const reported = at(readJson(stdout), 'error');
  const code = String(at(reported, 'code') ?? /npm (?:error|ERR!) code (\S+)/.exec(stderr)?.[1] ?? '');
  const summary = String(at(reported, 'summary') ?? '');
  const options = { stderr: tail(stderr.trim() || summary, 4_000) };
  if (code === 'ENOSPC') return diskFull(options);
  if (code === 'EINTEGRITY')
    return new ParleyError(
      'wrong-checksum',
      localizable("npm: a file doesn't have the checksum that is stated for it."),
      options,
    );
  if (code === 'E404' || code === 'ETARGET')
    return new ParleyError('npm-failed', localizable("npm doesn't have this version of {0}.", name), options);
  if (timedOut || NETWORK.test(code))
    return new ParleyError('no-network', localizable("npm can't reach its registry."), {
      ...options,
      hint: localizable('Check your network connection and the proxy settings of npm.'),
    });
  const why = oneLine(summary || stderr.replace(/^npm (?:error|ERR!) (?:code \S+)?/gm, ''), 300);
  return new ParleyError('npm-failed', localizable('npm failed: {0}', why || code), options);
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Like npm; unreadable ranges match. */
export function meetsRange(version: string, range: string): boolean {
  return validRange(range) === null || satisfies(version, range, { includePrerelease: true });
}
