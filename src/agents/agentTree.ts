// An agent process with all its descendants: marked by an inherited variable, and ended as a whole.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { Deferred } from '../base/deferred';
import { messageOf } from '../base/errors';
import type { Log } from '../base/log';
import { within } from '../base/within';
import { guard, unguard } from './orphanGuard';
import {
  descendantsOf,
  isGroupAlive,
  type ProcessRef,
  processesWith,
  signalGroup,
  signalProcesses,
  stillAlive,
} from './processTree';
import { planStart, withUmask } from './startPlan';
import { endBorn, endChildrenOf, endWindowsTree, type ProcessBirth } from './windowsProcesses';

const IS_WINDOWS = process.platform === 'win32';
/** Time to keep reading pipes after the exit, in ms: another process may hold them open. */
const DRAIN_MS = 250;
const POLL_MS = 50;
/** Environment variable of an agent and all its descendants, with a unique value. */
const MARK = 'PARLEY_AGENT_PROCESS';
/** Time for a killed process to end, in ms. One that hangs in the kernel is given up after that. */
const KILLED_MS = 2000;

export interface TreeExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly isStuck?: true;
}

export interface TreeOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly umask?: number;
  readonly log: Log;
  /** Timeouts of `close`, in ms. Default 2.5 s, 2 s and 2 s. */
  readonly closeGraceMs?: { readonly stdin: number; readonly term: number; readonly kill?: number };
}

export class AgentTree {
  readonly pid: number;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly mark: string;
  readonly birth: ProcessBirth;
  /** Resolves once all output was read. Never rejects. */
  readonly exited: Promise<TreeExit>;
  readonly #child: ChildProcess;
  readonly #log: Log;
  readonly #grace: { readonly stdin: number; readonly term: number; readonly kill: number };
  /** Settles before the pipes are drained, unlike `exited`. */
  readonly #ended = new Deferred<void>();
  #endedAt = 0;
  #closing: Promise<void> | undefined;
  #isStuck = false;

  /** @throws the system's error; ParleyError as `planStart` */
  static async start(options: TreeOptions): Promise<AgentTree> {
    const { command, args, env, cwd, umask } = options;
    const mark = randomUUID();
    const plan = await planStart(command, args, { ...env, [MARK]: mark });
    const after = Date.now();
    const child = withUmask(umask, () =>
      spawn(plan.file, plan.args, {
        cwd,
        env: plan.env,
        windowsVerbatimArguments: plan.windowsVerbatimArguments,
        stdio: ['pipe', 'pipe', 'pipe'],
        // On Windows, `detached` would open a console window.
        detached: !IS_WINDOWS,
        windowsHide: true,
      }),
    );
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', reject);
    });
    return new AgentTree(child, mark, after, options);
  }

  private constructor(child: ChildProcess, mark: string, after: number, { log, closeGraceMs }: TreeOptions) {
    const { pid, stdin, stdout, stderr } = piped(child);
    this.#child = child;
    this.mark = mark;
    this.pid = pid;
    this.birth = { pid, after, before: Date.now() };
    this.stdin = stdin;
    this.stdout = stdout;
    this.stderr = stderr;
    this.#log = log;
    this.#grace = { stdin: 2500, term: 2000, kill: KILLED_MS, ...closeGraceMs };
    child.on('error', (error) => log.warn(`The process ${pid}: ${messageOf(error)}`));
    child.once('exit', () => {
      this.#endedAt = Date.now();
      this.#ended.resolve();
      if (this.#isStuck) unguard(pid);
    });
    this.exited = this.#awaitExit();
    guard(pid, after, log);
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #awaitExit(): Promise<TreeExit> {
    const drained = new Promise<void>((resolve) => this.#child.once('close', () => resolve()));
    await this.#ended.promise;
    // A paused reader loses nothing.
    while (!(await within(DRAIN_MS, drained)) && this.stdout.isPaused());
    this.stdout.destroy();
    this.stderr.destroy();
    // An agent that dies leaves its children running.
    if (!this.#closing) {
      this.#closing = processesWith(MARK, this.mark).then((left) => this.#endRest(left));
      this.#closing.catch((error: unknown) =>
        this.#log.error(`Ending what process ${this.pid} left failed: ${messageOf(error)}`),
      );
    }
    const { exitCode: code, signalCode: signal } = this.#child;
    return { code, signal, isStuck: this.#isStuck || undefined };
  }

  async #close(): Promise<void> {
    // After the exit, the parents of its descendants are unknown.
    const before = this.isRunning ? descendantsOf(this.pid) : Promise.resolve([]);
    if (this.stdin.writable) this.stdin.end();
    const left = await within(this.#grace.stdin, this.#ended.promise);
    if (!left) this.#log.info(`The agent (process ${this.pid}) did not leave when its stdin was closed`);
    await this.#endRest(await before);
  }

  async #endRest(known: readonly ProcessRef[]): Promise<void> {
    if (IS_WINDOWS) {
      await (this.isRunning ? endWindowsTree(this.pid) : endChildrenOf(this.birth, this.#endedAt));
    } else {
      const refs = [...known, ...(this.isRunning ? await descendantsOf(this.pid) : [])];
      signalGroup(this.pid, 'SIGTERM');
      await signalProcesses(refs, 'SIGTERM');
      await this.#untilNoneLeft(refs, this.#grace.term);
      signalGroup(this.pid, 'SIGKILL');
      await signalProcesses(refs, 'SIGKILL');
      await this.#untilNoneLeft(refs, this.#grace.kill);
    }
    if (await within(this.#grace.kill, this.#ended.promise)) {
      unguard(this.pid);
      return;
    }
    // A process that hangs in the kernel (a dead network disk) must not block callers.
    this.#isStuck = true;
    this.#log.warn(`Process ${this.pid} is still running after SIGKILL and is no longer waited for`);
    this.#ended.resolve();
  }

  /** Polls, because there is no event for the exit of grandchildren. */
  async #untilNoneLeft(refs: readonly ProcessRef[], ms: number): Promise<void> {
    const deadline = performance.now() + ms;
    while ((await this.#isAnyLeft(refs)) && performance.now() < deadline) await delay(POLL_MS);
  }

  async #isAnyLeft(refs: readonly ProcessRef[]): Promise<boolean> {
    return (await isGroupAlive(this.pid)) || (await stillAlive(refs)).length > 0;
  }
}

/** Ends the remaining processes of a dead agent: by the mark, or on Windows by start time. */
export async function endLeft(mark: string, birth: ProcessBirth | undefined): Promise<void> {
  if (IS_WINDOWS) return endBorn(birth === undefined ? [] : [birth]);
  const refs = await processesWith(MARK, mark);
  await signalProcesses(refs, 'SIGTERM');
  const deadline = performance.now() + KILLED_MS;
  while ((await stillAlive(refs)).length > 0 && performance.now() < deadline) await delay(POLL_MS);
  await signalProcesses(refs, 'SIGKILL');
}

function piped(child: ChildProcess): { pid: number; stdin: Writable; stdout: Readable; stderr: Readable } {
  const { pid, stdin, stdout, stderr } = child;
  if (pid === undefined || !stdin || !stdout || !stderr) throw new Error('the process has no pipes');
  return { pid, stdin, stdout, stderr };
}
