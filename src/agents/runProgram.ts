// Runs a program to its end and returns its output: for package managers and version checks. Agents
// are started by agentProcess.ts.
import { spawn } from 'node:child_process';
import type { Log } from '../base/log';
import { within } from '../base/within';
import { guard, unguard } from './orphanGuard';
import { signalGroup } from './processTree';
import { planStart, spawnError } from './startPlan';
import { endChildrenOf, endWindowsTree } from './windowsProcesses';

const IS_WINDOWS = process.platform === 'win32';
const KEPT_CHARS = 64 * 1024;
const DRAIN_MS = 250;

export interface ProgramOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly log: Log;
  readonly timeoutMs?: number;
  readonly keptChars?: number;
}

export interface ProgramResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly timedOut: boolean;
}

/** @throws ParleyError `agent-spawn-failed`; the reason of `signal`, with nothing left running */
export async function runProgram(options: ProgramOptions, signal?: AbortSignal): Promise<ProgramResult> {
  const { command, args, env, cwd, log, timeoutMs, keptChars = KEPT_CHARS } = options;
  const plan = await planStart(command, args, env);
  signal?.throwIfAborted();
  const after = Date.now();
  const child = spawn(plan.file, plan.args, {
    cwd,
    env: plan.env,
    windowsVerbatimArguments: plan.windowsVerbatimArguments,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: !IS_WINDOWS,
    windowsHide: true,
  });
  const printed = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      printed[name] = (printed[name] + text).slice(-keptChars);
    });
  }
  if (child.pid !== undefined) guard(child.pid, after, log);
  let timedOut = false;
  const end = (): void => {
    if (child.pid === undefined) return;
    if (!IS_WINDOWS) signalGroup(child.pid, 'SIGKILL');
    // Later, another process may have the same id.
    else if (child.exitCode === null && child.signalCode === null) void endWindowsTree(child.pid);
  };
  const timer =
    timeoutMs === undefined
      ? undefined
      : setTimeout(() => {
          timedOut = true;
          end();
        }, timeoutMs);
  signal?.addEventListener('abort', end, { once: true });
  try {
    const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', resolve);
    }).catch(async (error: unknown) => {
      throw await spawnError(error, command);
    });
    const ended = Date.now();
    const isAlone = await within(DRAIN_MS, closed);
    if (IS_WINDOWS && !isAlone && child.pid !== undefined)
      await endChildrenOf({ pid: child.pid, after, before: ended }, ended);
    signal?.throwIfAborted();
    return { code, ...printed, timedOut };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', end);
    if (child.pid !== undefined) {
      end();
      unguard(child.pid);
    }
    child.stdout?.destroy();
    child.stderr?.destroy();
  }
}
