// One running agent process: started without a shell, read through its pipes, ended together with
// everything that it started.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { stat } from 'node:fs/promises';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import crossSpawn from 'cross-spawn';
import type { Transport } from '../acp/jsonrpc/transport';
import { StdioTransport } from '../acp/transport/stdioTransport';
import { Deferred } from '../base/deferred';
import type { Disposable } from '../base/disposable';
import { messageOf, ParleyError } from '../base/errors';
import { inEnglish, type Localizable, localizable } from '../base/localizable';
import type { Log } from '../base/log';
import { within } from '../base/within';
import { guard, unguard } from './orphanGuard';
import {
  descendantsOf,
  endWindowsTree,
  isGroupAlive,
  type ProcessRef,
  processesWith,
  signalGroup,
  signalProcesses,
  stillAlive,
} from './processTree';
import { spawnError } from './spawnError';
import { StderrLog } from './stderrLog';

const IS_WINDOWS = process.platform === 'win32';
/** How long pipes are read after the exit, in milliseconds: another process may hold them open. */
const DRAIN_MS = 250;
const POLL_MS = 50;
/**
 * What an agent and all that it starts have in their environment, with a value of its own for each.
 */
const MARK = 'PARLEY_AGENT_PROCESS';
/**
 * How long a killed process may take to go, in milliseconds; one that hangs in the kernel is given
 * up then.
 */
const KILLED_MS = 2000;

/** How an agent ended. */
export interface AgentExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The last lines of stderr. */
  readonly stderr: string;
  /** It was killed and is still there: nothing more can be done about it. */
  readonly isStuck?: true;
}

export interface StartOptions {
  /** Absolute, from `resolveCommand`. */
  readonly command: string;
  /** Each arrives as it is written here. */
  readonly args: readonly string[];
  /** The whole environment, from `agentEnvironment`. */
  readonly env: Readonly<Record<string, string>>;
  /** An absolute path. */
  readonly cwd: string;
  readonly log: Log;
  /** Gets each line of stderr, bounded. */
  readonly onStderr?: ((line: string) => void) | undefined;
  /** Ends the agent if the start is aborted while the process is being spawned. */
  readonly signal?: AbortSignal;
  /**
   * How long closing waits, in milliseconds: after the end of stdin, after SIGTERM, and after
   * SIGKILL. Default 2.5 s, 2 s and 2 s.
   */
  readonly closeGraceMs?: { readonly stdin: number; readonly term: number; readonly kill?: number };
}

/** A started agent. Whoever starts it closes or disposes it. */
export class AgentProcess implements Disposable {
  readonly pid: number;
  /** How it ended, after what it printed last was read. Never rejects. */
  readonly exited: Promise<AgentExit>;
  readonly #transport: StdioTransport;
  readonly #child: ChildProcess;
  readonly #mark: string;
  readonly #stderr: StderrLog;
  readonly #log: Log;
  readonly #grace: { readonly stdin: number; readonly term: number; readonly kill: number };
  /** Settled with the process itself; `exited` comes after the pipes. */
  readonly #ended = new Deferred<void>();
  #closing: Promise<AgentExit> | undefined;
  #isStuck = false;

  /**
   * Starts an agent in a process group of its own. Resolves when it runs.
   * @throws ParleyError `agent-spawn-failed` with the reason in words; the reason of `signal`, with
   * nothing left running
   */
  static async start(options: StartOptions): Promise<AgentProcess> {
    const { command, args, env, cwd, log, signal } = options;
    const folder = await stat(cwd).catch(() => undefined);
    signal?.throwIfAborted();
    if (!folder?.isDirectory()) {
      throw new ParleyError(
        'agent-spawn-failed',
        folder
          ? localizable("{0} isn't a folder, so no agent can run in it.", cwd)
          : localizable("The folder {0} doesn't exist, so no agent can run in it.", cwd),
      );
    }
    log.info(`Starting ${command} with ${args.length} arguments in ${cwd}`);
    const mark = randomUUID();
    let agent: AgentProcess;
    try {
      // On Windows the shims of npm (.cmd) need cmd.exe, whose quoting cross-spawn knows.
      // `detached` there would open a console window.
      const start = IS_WINDOWS ? crossSpawn.spawn : spawn;
      const child = start(command, [...args], {
        cwd,
        env: { ...env, [MARK]: mark },
        stdio: ['pipe', 'pipe', 'pipe'],
        detached: !IS_WINDOWS,
        windowsHide: true,
      });
      await new Promise<void>((resolve, reject) => {
        child.once('spawn', resolve);
        child.once('error', reject);
      });
      agent = new AgentProcess(child, mark, options);
    } catch (error) {
      throw await spawnError(error, command);
    }
    if (signal?.aborted) {
      await agent.close();
      throw signal.reason;
    }
    return agent;
  }

  private constructor(child: ChildProcess, mark: string, options: StartOptions) {
    const { pid, stdin, stdout, stderr } = piped(child);
    this.#child = child;
    this.#mark = mark;
    this.pid = pid;
    this.#log = options.log;
    this.#grace = { stdin: 2500, term: 2000, kill: KILLED_MS, ...options.closeGraceMs };
    this.#transport = new StdioTransport(stdin, stdout);
    this.#stderr = new StderrLog(stderr, options.log, options.onStderr);
    child.on('error', (error) => this.#log.warn(`The process ${pid}: ${messageOf(error)}`));
    child.once('exit', () => {
      this.#ended.resolve();
      if (this.#isStuck) unguard(pid);
    });
    this.exited = this.#awaitExit();
    guard(pid, options.log);
  }

  get transport(): Transport {
    return this.#transport;
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** The last lines of stderr, without terminal colours. Default 20. */
  stderrTail(lines = 20): string {
    return stripVTControlCharacters(this.#stderr.tail.lines(lines));
  }

  /**
   * Ends the agent and what it started: stdin is closed, then SIGTERM, then SIGKILL. Resolves when
   * they are gone, or with `isStuck` when the system cannot end the agent.
   */
  close(): Promise<AgentExit> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /**
   * The same without waiting. Should the extension host die before it is done, the orphan guard
   * finishes it.
   */
  dispose(): void {
    this.close().catch((error: unknown) => this.#log.error(`Ending process ${this.pid} failed: ${messageOf(error)}`));
  }

  async #awaitExit(): Promise<AgentExit> {
    const drained = new Promise<void>((resolve) => this.#child.once('close', () => resolve()));
    await this.#ended.promise;
    await within(DRAIN_MS, drained);
    this.#transport.finish();
    this.#stderr.finish();
    this.#child.stdout?.destroy();
    this.#child.stderr?.destroy();
    const exit: AgentExit = {
      code: this.#child.exitCode,
      signal: this.#child.signalCode,
      stderr: this.stderrTail(),
      ...(this.#isStuck && { isStuck: true }),
    };
    this.#log.info(`The agent (process ${this.pid}) ${inEnglish(describeExit(exit))}`);
    // An agent that dies leaves its children running, and nothing else ends them.
    if (!this.#closing) {
      this.#closing = processesWith(MARK, this.#mark)
        .then((left) => this.#endRest(left))
        .then(() => exit);
      this.dispose();
    }
    return exit;
  }

  async #close(): Promise<AgentExit> {
    // Read while it lives: afterwards the parents of its descendants are unknown.
    const before = this.isRunning ? descendantsOf(this.pid) : Promise.resolve([]);
    this.#transport.endInput();
    const left = await within(this.#grace.stdin, this.#ended.promise);
    if (!left) this.#log.info(`The agent (process ${this.pid}) did not leave when its stdin was closed`);
    await this.#endRest(await before);
    return this.exited;
  }

  /** Ends what is left of the tree: SIGTERM, and after the grace SIGKILL. */
  async #endRest(known: readonly ProcessRef[]): Promise<void> {
    if (IS_WINDOWS) {
      if (this.isRunning) await endWindowsTree(this.pid);
    } else {
      const refs = [...known, ...(this.isRunning ? await descendantsOf(this.pid) : [])];
      signalGroup(this.pid, 'SIGTERM');
      await signalProcesses(refs, 'SIGTERM');
      await this.#untilNoneLeft(refs, this.#grace.term);
      signalGroup(this.pid, 'SIGKILL');
      await signalProcesses(refs, 'SIGKILL');
      // Even a killed process takes its time to go.
      await this.#untilNoneLeft(refs, this.#grace.kill);
    }
    if (await within(this.#grace.kill, this.#ended.promise)) {
      unguard(this.pid);
      return;
    }
    // A process that hangs in the kernel (a dead network disk) would otherwise block all who wait
    // for its end.
    this.#isStuck = true;
    this.#log.warn(`Process ${this.pid} is still running after SIGKILL and is no longer waited for`);
    this.#ended.resolve();
  }

  /** The end of a grandchild is no event for us, so it is looked for. Gives up after `ms`. */
  async #untilNoneLeft(refs: readonly ProcessRef[], ms: number): Promise<void> {
    const deadline = performance.now() + ms;
    while ((await this.#isAnyLeft(refs)) && performance.now() < deadline) await delay(POLL_MS);
  }

  async #isAnyLeft(refs: readonly ProcessRef[]): Promise<boolean> {
    return (await isGroupAlive(this.pid)) || (await stillAlive(refs)).length > 0;
  }
}

/**
 * How an agent ended, in words that follow its name: "exited with code 3", "was ended by SIGKILL".
 */
export function describeExit(exit: Pick<AgentExit, 'code' | 'signal' | 'isStuck'>): Localizable {
  if (exit.isStuck) return localizable("couldn't be stopped");
  if (exit.signal !== null) return localizable('was ended by {0}', exit.signal);
  return exit.code === null ? localizable('ended') : localizable('exited with code {0}', exit.code);
}

function piped(child: ChildProcess): { pid: number; stdin: Writable; stdout: Readable; stderr: Readable } {
  const { pid, stdin, stdout, stderr } = child;
  if (pid === undefined || !stdin || !stdout || !stderr) throw new Error('the process has no pipes');
  return { pid, stdin, stdout, stderr };
}
