// Installs a package of npm into a folder of its own. Install scripts of other packages than the
// agent's own do not run: the user has agreed to run this agent, not what its hundred dependencies
// bring along. Without any script some agents do not start (their script puts the program for this
// system in its place); of the dependencies, those with scripts are native add-ons that the agents
// can do without.
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import satisfies from 'semver/functions/satisfies.js';
import validRange from 'semver/ranges/valid.js';
import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import { oneLine, tail } from '../../base/text';
import { at, own } from '../../base/untrusted';
import type { InstallSource } from './installSource';
import { diskFull, findNode, type NodeTools, runTool, type ToolContext } from './installTools';

const VIEW_MS = 60_000;
const MAX_MANIFEST_BYTES = 1024 * 1024;
const QUIET = ['--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error'];

type NpmSource = Extract<InstallSource, { kind: 'npx' | 'uvx' }>;

export interface NpmFacts {
  readonly node: NodeTools;
  /** Unpacked bytes, without dependencies. */
  readonly size?: number;
  readonly license?: string;
}

/** @throws ParleyError `node-missing`, `node-too-old`, `npm-failed` */
export async function npmFacts(
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

/**
 * Installs into an empty folder.
 * @returns the program's path relative to it
 * @throws ParleyError `npm-failed`, `no-program`; the reason of `signal`
 */
export async function npmInstall(
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

/** As npx: the only program of the package, or the one with its name. */
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

/** As npm decides; unreadable ranges are met. */
export function meetsRange(version: string, range: string): boolean {
  return validRange(range) === null || satisfies(version, range, { includePrerelease: true });
}
