// A command that runs for an agent in its own process group.
import { type ChildProcess, spawn } from 'node:child_process';
import { StringDecoder } from 'node:string_decoder';
import { guard, unguard } from '../agents/orphanGuard';
import { descendantsOf, signalGroup, signalProcesses } from '../agents/processTree';
import { resolveCommand } from '../agents/resolveCommand';
import { planCmd, planStart, type StartPlan, withUmask } from '../agents/startPlan';
import { endChildrenOf, endWindowsTree } from '../agents/windowsProcesses';
import { Deferred } from '../base/deferred';
import type { Log } from '../base/log';
import { within } from '../base/within';
import type { TerminalExit } from '../session/events/event';
import { ConsoleReader, consoleCodePage } from './consoleText';
import { OutputTail, type OutputText } from './outputTail';
import type { CommandChange, RunningCommand } from './runningCommand';
import type { CommandPlan } from './terminalCommand';

export interface TerminalProcessOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Default: that of this process. */
  readonly umask?: number;
  /** Retained output, bytes. */
  readonly capacityBytes: number;
  readonly log: Log;
  onChange(change: CommandChange): void;
}

/** Output is forwarded in intervals of one frame of the panel, ms. */
const INTERVAL_MS = 16;
/** Throttles a process with more output per interval, such as `yes`, bytes. */
const INTERVAL_BYTES = 1024 * 1024;
/** How long to read on after the exit if a background process holds the pipe open, ms. */
const DRAIN_MS = 250;
/** Time to clean up between SIGTERM and SIGKILL, ms. */
const GRACE_MS = 1_000;
/** How long to wait for a process that the kernel can't kill (a dead network disk), ms. */
const GIVE_UP_MS = 2_000;

const CMD_COMMANDS: ReadonlySet<string> = new Set(
  'assoc cd chdir copy date del dir echo erase ftype md mkdir mklink move path rd ren rename rmdir set time type ver vol'.split(
    ' ',
  ),
);

export class TerminalProcess implements RunningCommand {
  readonly #child: ChildProcess;
  readonly #options: TerminalProcessOptions;
  readonly #output: OutputTail;
  readonly #exited = new Deferred<TerminalExit>();
  exit: TerminalExit | undefined;
  #pending: string[] = [];
  #intervalBytes = 0;
  #intervalTimer: NodeJS.Timeout | undefined;
  #groupMayLive = true;
  readonly #startedAfter: number;
  /** When the main process exited, ms since 1970. */
  #exitedAt: number | undefined;

  /** @throws the spawn error (ENOENT, EACCES, E2BIG …); on Windows also as `resolveCommand` */
  static async start(command: CommandPlan, options: TerminalProcessOptions): Promise<TerminalProcess> {
    const plan = await startPlan(command, options);
    const page = process.platform === 'win32' ? await consoleCodePage() : undefined;
    const startedAfter = Date.now();
    const child = withUmask(options.umask, () =>
      spawn(plan.file, plan.args, {
        cwd: options.cwd,
        env: plan.env,
        windowsVerbatimArguments: plan.windowsVerbatimArguments,
        stdio: ['ignore', 'pipe', 'pipe'],
        detached: process.platform !== 'win32',
        windowsHide: true,
      }),
    );
    const started = new Deferred<void>();
    child.once('spawn', () => started.resolve());
    child.once('error', (error) => started.reject(error));
    const terminal = new TerminalProcess(child, startedAfter, page, options);
    await started.promise;
    if (child.pid !== undefined) guard(child.pid, startedAfter, options.log);
    return terminal;
  }

  private constructor(
    child: ChildProcess,
    startedAfter: number,
    page: number | undefined,
    options: TerminalProcessOptions,
  ) {
    this.#child = child;
    this.#startedAfter = startedAfter;
    this.#options = options;
    this.#output = new OutputTail(options.capacityBytes);
    for (const stream of [child.stdout, child.stderr]) {
      // One decoder per stream, since a character can be split between two chunks of a stream.
      const decoder = page === undefined ? new StringDecoder('utf8') : new ConsoleReader(page);
      stream?.on('data', (chunk: Buffer) => this.#onOutput(decoder.write(chunk), chunk.length));
      stream?.once('end', () => this.#onOutput(decoder.end(), 0));
      // A broken pipe ends the output; the exit event reports the rest.
      stream?.on('error', () => undefined);
    }
    // Errors after the start, such as a signal that could not be sent, do not mean that it exited.
    child.on('error', () => undefined);
    child.once('exit', (code, signal) => this.#onExit(code, signal));
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get exited(): Promise<TerminalExit> {
    return this.#exited.promise;
  }

  output(limit?: number): OutputText {
    return this.#output.text(limit);
  }

  #onOutput(text: string, bytes: number): void {
    if (text === '') return;
    this.#output.append(text);
    this.#pending.push(text);
    this.#intervalBytes += bytes;
    if (this.#intervalTimer === undefined) {
      this.flush();
      this.#intervalTimer = setTimeout(() => this.#onIntervalEnd(), INTERVAL_MS);
    } else if (this.#intervalBytes >= INTERVAL_BYTES) {
      this.#child.stdout?.pause();
      this.#child.stderr?.pause();
    }
  }

  #onIntervalEnd(): void {
    this.#intervalTimer = undefined;
    this.#intervalBytes = 0;
    if (this.#pending.length > 0) {
      this.flush();
      this.#intervalTimer = setTimeout(() => this.#onIntervalEnd(), INTERVAL_MS);
    }
    this.#child.stdout?.resume();
    this.#child.stderr?.resume();
  }

  flush(): void {
    if (this.#pending.length === 0) return;
    const text = this.#pending.join('');
    this.#pending = [];
    const maxChars = this.#options.capacityBytes;
    if (text.length <= maxChars) {
      this.#options.onChange({ append: text });
      return;
    }
    // Never start with the second half of a surrogate pair.
    const cut = text.length - maxChars;
    const code = text.charCodeAt(cut);
    const start = code >= 0xdc00 && code <= 0xdfff ? cut + 1 : cut;
    this.#options.onChange({ append: text.slice(start), drop: start });
  }

  /**
   * Kills the process tree: SIGTERM, then SIGKILL after {@link GRACE_MS}. Resolves on exit, or
   * after {@link GIVE_UP_MS} if it can't be killed.
   */
  async kill(): Promise<void> {
    const { pid } = this.#child;
    if (this.#groupMayLive && pid !== undefined) {
      if (process.platform === 'win32') {
        await this.#killOnWindows(pid);
      } else {
        // A process with its own session is not in the group, and later has no parent.
        const strays = await descendantsOf(pid);
        if (this.#groupMayLive) signalGroup(pid, 'SIGTERM');
        await signalProcesses(strays, 'SIGTERM');
        if (!this.exit) await within(GRACE_MS, this.#exited.promise);
        this.#killGroup(pid);
        await signalProcesses(strays, 'SIGKILL');
      }
    }
    await within(GIVE_UP_MS, this.#exited.promise);
    this.#closePipes();
  }

  release(): Promise<void> {
    return this.kill();
  }

  close(): Promise<void> {
    return this.kill();
  }

  /** Kills the process tree immediately. */
  async closeNow(): Promise<void> {
    const { pid } = this.#child;
    if (this.#groupMayLive && pid !== undefined) {
      if (process.platform === 'win32') await this.#killOnWindows(pid);
      else {
        const strays = await descendantsOf(pid);
        this.#killGroup(pid);
        await signalProcesses(strays, 'SIGKILL');
      }
    }
    this.#closePipes();
  }

  /** Stops reading: a daemon outside of the tree can hold the pipes open forever. */
  #closePipes(): void {
    this.#child.stdout?.destroy();
    this.#child.stderr?.destroy();
  }

  #killGroup(pid: number): void {
    if (!this.#groupMayLive) return;
    signalGroup(pid, 'SIGKILL');
    if (this.exit) this.#onGroupExit(pid);
  }

  async #killOnWindows(pid: number): Promise<void> {
    if (this.#exitedAt === undefined) return endWindowsTree(pid);
    this.#groupMayLive = false;
    await endChildrenOf({ pid, after: this.#startedAfter, before: this.#exitedAt }, this.#exitedAt);
  }

  #onGroupExit(pid: number): void {
    this.#groupMayLive = false;
    unguard(pid);
  }

  #onExit(code: number | null, signal: NodeJS.Signals | null): void {
    const { pid } = this.#child;
    this.#exitedAt = Date.now();
    const isWindows = process.platform === 'win32';
    if (isWindows && pid !== undefined) {
      unguard(pid);
      // Background processes hold the pipes; without any, there is nothing left to kill.
      this.#child.once('close', () => {
        this.#groupMayLive = false;
      });
    }
    // Background processes keep their output and group until killed or released.
    if (!isWindows && pid !== undefined && !signalGroup(pid, 0)) this.#onGroupExit(pid);
    const finish = (): void => {
      clearTimeout(drain);
      this.#child.off('close', finish);
      this.flush();
      this.exit = { exitCode: code !== null ? code : undefined, signal: signal !== null ? signal : undefined };
      this.#options.onChange({ exit: this.exit });
      this.#exited.resolve(this.exit);
    };
    const drain = setTimeout(finish, DRAIN_MS);
    this.#child.once('close', finish);
  }
}

async function startPlan({ file, args, shell }: CommandPlan, { cwd, env }: TerminalProcessOptions): Promise<StartPlan> {
  if (process.platform !== 'win32' || shell)
    return { file, args, env, windowsVerbatimArguments: process.platform === 'win32' };
  if (CMD_COMMANDS.has(file.toLowerCase())) return planCmd(file, args, env);
  return planStart(await resolveCommand(file, { cwd, env }), args, env);
}
