// Checks of this machine: the agent's program, PATH, package tools, Git, the editor and the disk.

import { lstat, opendir, statfs } from 'node:fs/promises';
import { basename, delimiter, join } from 'node:path';
import * as l10n from '@vscode/l10n';
import type { AgentDefinition } from '../../agents/agentDefinition';
import type { ShellAnswer } from '../../agents/agentEnvironment';
import { ParleyError } from '../../base/errors';
import { formatTenths } from '../../base/localFormat';
import { type Check, type CheckAction, check, type Finding } from './check';
import { notTrusted } from './protocol';

interface ProgramCheckOptions {
  readonly agent: AgentDefinition;
  readonly resolve: (command: string) => Promise<string>;
  readonly versionOf: (path: string, signal: AbortSignal) => Promise<string | undefined>;
}

export function programCheck({ agent, resolve, versionOf }: ProgramCheckOptions): Check {
  return check('program', l10n.t('Program of the agent'), 20_000, async (signal) => {
    if (agent.type !== 'process')
      return {
        outcome: 'ok',
        found: l10n.t('The agent runs on another computer.'),
        facts: [[l10n.t('Address'), addressOf(agent.url)]],
      };
    try {
      const path = await resolve(agent.command);
      const version = await versionOf(path, signal);
      return {
        outcome: 'ok',
        found: l10n.t('The program was found, and it is executable.'),
        facts: [
          [l10n.t('Command'), agent.command],
          [l10n.t('Path'), path],
          [l10n.t('Arguments'), agent.args.join(' ')],
          [l10n.t('Version'), version ?? l10n.t('unknown')],
        ],
      };
    } catch (error) {
      if (!(error instanceof ParleyError)) throw error;
      return {
        outcome: 'problem',
        found: error.message,
        advice: error.hint,
        action: error.code === 'agent-not-found' ? 'addAgent' : 'editAgent',
        facts: [[l10n.t('Command'), agent.command]],
      };
    }
  });
}

function addressOf(url: string): string {
  if (!URL.canParse(url)) return '';
  const { origin, protocol, host, pathname } = new URL(url);
  return `${origin === 'null' ? `${protocol}//${host}` : origin}${pathname}`;
}

interface EditorCheckOptions {
  readonly version: string;
  readonly needs: string;
  /** For example `ssh-remote`; undefined: this computer. */
  readonly remote: string | undefined;
  readonly isWeb: boolean;
  readonly node: string;
}

export function editorCheck({ version, needs, remote, isWeb, node }: EditorCheckOptions): Check {
  return check('editor', l10n.t('VS Code'), 1_000, async () => {
    const facts: Finding['facts'] = [
      [l10n.t('Version'), version],
      [l10n.t('Remote'), remote ?? l10n.t('none')],
      [l10n.t('Window'), isWeb ? l10n.t('browser') : l10n.t('desktop')],
      ['Node.js', node],
    ];
    if (isOlder(version, needs.replace(/^\^/, '')))
      return {
        outcome: 'problem',
        found: l10n.t('VS Code {0} is older than {1}, which Parley needs.', version, needs.replace(/^\^/, '')),
        advice: l10n.t('Update VS Code.'),
        facts,
      };
    return {
      outcome: 'ok',
      found:
        remote === undefined
          ? l10n.t('VS Code {0}. Agents run on this computer.', version)
          : l10n.t('VS Code {0}. Agents run on the remote computer ({1}), not on yours.', version, remote),
      facts,
    };
  });
}

function isOlder(one: string, other: string): boolean {
  const numbers = (text: string): readonly number[] =>
    text.split(/[.-]/, 3).map((part) => Number.parseInt(part, 10) || 0);
  const [a, b] = [numbers(one), numbers(other)];
  const different = [0, 1, 2].find((index) => a[index] !== b[index]);
  return different !== undefined && (a[different] ?? 0) < (b[different] ?? 0);
}

interface GitCheckOptions {
  readonly isTrusted: boolean;
  readonly isWanted: boolean;
  readonly version: (signal: AbortSignal) => Promise<string>;
}

export function gitCheck({ isTrusted, isWanted, version }: GitCheckOptions): Check {
  return check('git', l10n.t('Git'), 20_000, async (signal) => {
    if (!isWanted) return { outcome: 'ok', found: l10n.t('Recording of changes is off, so Git is not needed.') };
    if (!isTrusted) return notTrusted();
    try {
      return { outcome: 'ok', found: l10n.t('Git was found.'), facts: [[l10n.t('Version'), await version(signal)]] };
    } catch {
      signal.throwIfAborted();
      return {
        outcome: 'warning',
        found: l10n.t("Git wasn't found, so changes of agents can't be listed, undone or restored."),
        advice: l10n.t('Install Git, then reload the window.'),
        action: 'getGit',
      };
    }
  });
}

interface PackageToolsOptions {
  readonly agent: AgentDefinition;
  readonly isTrusted: boolean;
  readonly node: (signal: AbortSignal) => Promise<string>;
  readonly uv: () => Promise<string>;
}

export function packageToolsCheck({ agent, isTrusted, node, uv }: PackageToolsOptions): Check {
  return check('package-tools', l10n.t('Node.js and uv'), 30_000, async (signal) => {
    if (!isTrusted) return notTrusted();
    const [nodeVersion, uvPath] = await Promise.all([node(signal).catch(() => undefined), uv().catch(() => undefined)]);
    const facts: Finding['facts'] = [
      ['Node.js', nodeVersion ?? l10n.t('not found')],
      ['uv', uvPath ?? l10n.t('not found')],
    ];
    const needed = neededBy(agent);
    if (needed === 'node' && nodeVersion === undefined)
      return missing(l10n.t("The agent needs Node.js, which wasn't found."), 'getNode', facts);
    if (needed === 'uv' && uvPath === undefined)
      return missing(l10n.t("The agent needs uv, which wasn't found."), 'getUv', facts);
    if (nodeVersion === undefined && needed === undefined)
      return {
        outcome: 'ok',
        found: l10n.t("Node.js wasn't found. Agents that are npm packages can't be installed without it."),
        action: 'getNode',
        facts,
      };
    return { outcome: 'ok', found: l10n.t('The programs that the agent needs are installed.'), facts };
  });
}

function missing(found: string, action: CheckAction, facts: Finding['facts']): Finding {
  const advice = l10n.t('Install it, then reload the window.');
  return { outcome: 'problem', found, advice, action, facts };
}

function neededBy(agent: AgentDefinition): 'node' | 'uv' | undefined {
  if (agent.type !== 'process') return undefined;
  const name = basename(agent.command.replaceAll('\\', '/')).replace(/\.(?:exe|cmd|bat)$/i, '');
  if (['npx', 'npm', 'node'].includes(name)) return 'node';
  return ['uvx', 'uv'].includes(name) ? 'uv' : undefined;
}

/** Duration above which a login shell counts as slow, ms: it delays the first agent of a window. */
const SLOW_MS = 2_000;
const MAX_SHOWN = 40;

interface SearchPathCheckOptions {
  readonly isTrusted: boolean;
  readonly isWindows: boolean;
  readonly windowPath: string;
  readonly ask: () => Promise<ShellAnswer | undefined>;
}

export function searchPathCheck({ isTrusted, isWindows, windowPath, ask }: SearchPathCheckOptions): Check {
  return check('search-path', l10n.t('Search path (PATH)'), 65_000, async () => {
    const vscodeFolders = foldersOf(windowPath);
    if (isWindows)
      return { outcome: 'ok', found: l10n.t('Agents get the PATH of VS Code.'), facts: listed(vscodeFolders) };
    if (!isTrusted) return { ...notTrusted(), facts: listed(vscodeFolders) };
    const answer = await ask();
    if (!answer)
      return { outcome: 'warning', found: l10n.t('You have no login shell. Agents get the PATH of VS Code.') };
    const { shell, ms, path, problem } = answer;
    const facts: Finding['facts'] = [
      [l10n.t('Shell'), shell],
      [l10n.t('Answered after'), l10n.t('{0} ms', Math.round(ms))],
    ];
    if (path === undefined)
      return {
        outcome: 'warning',
        found: l10n.t("The login shell didn't print its PATH: {0}.", problem ?? l10n.t('no reason given')),
        advice: l10n.t(
          'Agents get the PATH of VS Code. Check the profile of the shell, then reload the window. Or use absolute paths.',
        ),
        action: 'editAgent',
        facts: [...facts, ...listed(vscodeFolders)],
      };
    const folders = foldersOf(path);
    const more = folders.filter((folder) => !vscodeFolders.includes(folder));
    const details = [...facts, ...listed(folders), ...(more.length > 0 ? [onlyInShell(more)] : [])];
    if (ms > SLOW_MS)
      return {
        outcome: 'warning',
        found: l10n.t('The login shell took {0} s to print its PATH.', formatTenths(ms / 1000)),
        advice: l10n.t('A slow profile delays the first agent of each window.'),
        facts: details,
      };
    return {
      outcome: 'ok',
      found:
        more.length === 0
          ? l10n.t('The login shell and VS Code have the same folders in PATH.')
          : l10n.t('The login shell has {0} folders in PATH that VS Code lacks. Agents get them.', more.length),
      facts: details,
    };
  });
}

function foldersOf(path: string): readonly string[] {
  return path.split(delimiter).filter((folder) => folder !== '');
}

function listed(folders: readonly string[]): readonly (readonly [string, string])[] {
  return [['PATH', folders.slice(0, MAX_SHOWN).join(delimiter)]];
}

function onlyInShell(folders: readonly string[]): readonly [string, string] {
  return [l10n.t('Only in the shell'), folders.slice(0, MAX_SHOWN).join(delimiter)];
}

const MB = 1024 * 1024;
/** Free space below which to warn, and to report a problem; bytes. */
const LOW = 1024 * MB;
const FULL = 64 * MB;
const MAX_FILES = 50_000;

interface DiskCheckOptions {
  readonly folder: string;
  readonly freeBytes?: (folder: string) => Promise<number>;
}

export function diskCheck({ folder, freeBytes = freeBytesOf }: DiskCheckOptions): Check {
  return check('disk', l10n.t('Disk'), 20_000, async (signal) => {
    const [free, used] = await Promise.all([freeBytes(folder), usedBytes(folder, signal)]);
    const facts: Finding['facts'] = [
      [l10n.t('Storage'), folder],
      [l10n.t('Free'), megabytes(free)],
      [l10n.t('Used by Parley'), used.isWhole ? megabytes(used.bytes) : l10n.t('at least {0}', megabytes(used.bytes))],
    ];
    if (free >= LOW) return { outcome: 'ok', found: l10n.t('The disk has {0} free.', megabytes(free)), facts };
    return {
      outcome: free < FULL ? 'problem' : 'warning',
      found: l10n.t('The disk has only {0} free.', megabytes(free)),
      advice: l10n.t('Free up space. Parley can keep fewer old sessions.'),
      action: 'openHistorySettings',
      facts,
    };
  });
}

async function freeBytesOf(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

async function usedBytes(
  folder: string,
  signal: AbortSignal,
): Promise<{ readonly bytes: number; readonly isWhole: boolean }> {
  let bytes = 0;
  let files = 0;
  const waiting = [folder];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const entries = await opendir(next).catch(() => undefined);
    if (!entries) continue;
    for await (const entry of entries) {
      signal.throwIfAborted();
      if (++files > MAX_FILES) return { bytes, isWhole: false };
      const path = join(next, entry.name);
      if (entry.isDirectory()) waiting.push(path);
      else
        bytes += await lstat(path).then(
          ({ size }) => size,
          () => 0,
        );
    }
  }
  return { bytes, isWhole: true };
}

function megabytes(bytes: number): string {
  const value = bytes / MB;
  return value >= 1024 ? l10n.t('{0} GB', formatTenths(value / 1024)) : l10n.t('{0} MB', Math.ceil(value));
}
