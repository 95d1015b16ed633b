// Terminals that agents run in this client (`terminal/*` of protocol v1): ownership, output and
// exit. None outlives its session; some outlive the window.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import * as z from 'zod/mini';
import { RPC_CODES, RpcError } from '../../acp/jsonrpc/rpcError';
import { readParams } from '../../acp/protocol/sessionWire';
import type { Disposable } from '../../base/disposable';
import { messageOf } from '../../base/errors';
import { Emitter, type Event } from '../../base/event';
import type { Log } from '../../base/log';
import type { TerminalExit } from '../../session/events/event';
import { lastBytes } from '../../terminals/outputTail';
import type { CommandChange, RunningCommand } from '../../terminals/runningCommand';
import { commandLine, planCommand, terminalEnv } from '../../terminals/terminalCommand';
import { TerminalProcess } from '../../terminals/terminalProcess';
import type { EarlierCommand, KeptCommands } from '../ports/keptCommands';
import { isSafeToLookUp } from '../requests/roots';

export interface TerminalChange extends CommandChange {
  readonly terminalId: string;
  readonly released?: true;
}

export interface CreatedTerminal {
  readonly terminalId: string;
  readonly sessionId: string;
  readonly command: string;
  readonly cwd: string;
}

export interface TerminalsOptions {
  readonly log: Log;
  env(): Promise<Record<string, string>>;
  isTrusted(): boolean;
  /** Throws an RpcError to refuse the command. */
  allowCreate?(request: { readonly sessionId: string; readonly command: string; readonly cwd: string }): void;
  /** Bytes of output kept by default, and at least for display. Default 1 MiB. */
  readonly defaultLimitBytes?: number;
  /** Per session. Default 64. */
  readonly maxTerminals?: number;
}

/** In bytes: a response is one line on the wire. */
const MAX_LIMIT_BYTES = 16 * 1024 * 1024;
/** Per session, for agents that don't release terminals. */
const MAX_ENDED = 64;
/** The newest are kept for display. */
const MAX_RELEASED = 100;
const MAX_RELEASED_BYTES = 16 * 1024 * 1024;

const createSchema = z.object({
  command: z.string().check(z.minLength(1)),
  args: z.nullish(z.array(z.string())),
  env: z.nullish(z.array(z.object({ name: z.string().check(z.regex(/^[^=\0]+$/)), value: z.string() }))),
  cwd: z.nullish(z.string()),
  outputByteLimit: z.nullish(z.int().check(z.nonnegative())),
});
const idSchema = z.object({ terminalId: z.string() });

interface Owner {
  readonly id: string;
  readonly terminals: Map<string, OwnedTerminal>;
  starting: number;
  closed: boolean;
}

interface OwnedTerminal {
  readonly process: RunningCommand;
  readonly limit: number;
  /** Absent: the command ends with this window. */
  readonly reported?: ReportedOutput;
  /** Set if an earlier window may not have answered the request. */
  earlier?: EarlierCommand['about'] | undefined;
}

interface ReportedOutput {
  chars: number;
}

export interface KeptPlace {
  readonly commands: KeptCommands;
  readonly request: string | number;
}

export class Terminals implements Disposable {
  readonly #options: TerminalsOptions;
  readonly #limit: number;
  readonly #owners = new Map<string, Owner>();
  readonly #processes = new Map<string, RunningCommand>();
  readonly #released = new Map<string, string>();
  #releasedBytes = 0;
  readonly #onDidCreate = new Emitter<CreatedTerminal>();
  readonly #onDidChange = new Emitter<TerminalChange>();
  #disposed = false;

  /** Fires before the agent receives the id. */
  readonly onDidCreate: Event<CreatedTerminal> = this.#onDidCreate.event;
  /** Output in order, with escapes; exits and releases. */
  readonly onDidChange: Event<TerminalChange> = this.#onDidChange.event;

  constructor(options: TerminalsOptions) {
    this.#options = options;
    this.#limit = options.defaultLimitBytes ?? 1024 * 1024;
  }

  /**
   * `terminal/create` (protocol section 1.2): starts a command and answers immediately. {@link
   * planCommand} decides what runs in a shell. A folder outside the roots is allowed: the command
   * could change to it anyway, and the permission request showed it.
   * @param roots the session's folders; the first is the default working folder
   * @param kept absent: the command ends with this window
   * @throws RpcError with a sentence: bad params, an untrusted workspace, too many terminals, a
   * missing folder, a command that does not start
   */
  async create(
    sessionId: string,
    params: unknown,
    roots: readonly string[],
    kept?: KeptPlace,
  ): Promise<{ terminalId: string }> {
    const request = readParams(createSchema, params, 'terminal/create');
    if (!this.#options.isTrusted()) throw refused('Commands do not run in a workspace that is not trusted.');
    if ([request.command, ...(request.args ?? [])].some((word) => word.includes('\0'))) {
      throw new RpcError(RPC_CODES.invalidParams, 'A command cannot contain a zero character.');
    }
    const cwd = request.cwd ?? roots[0];
    if (!cwd || !isAbsolute(cwd) || !isSafeToLookUp(cwd, roots))
      throw new RpcError(RPC_CODES.invalidParams, `cwd is not an absolute path: ${cwd ?? ''}`);
    const line = commandLine(request.command, request.args ?? []);
    this.#options.allowCreate?.({ sessionId, command: line, cwd });
    const owner = this.#owner(sessionId);
    const repeated = kept && takeEarlier(owner, { line, cwd, request: kept.request });
    if (repeated !== undefined) return { terminalId: repeated };
    const maxTerminals = this.#options.maxTerminals ?? 64;
    const running = [...owner.terminals.values()].filter(({ process }) => process.exit === undefined).length;
    if (running + owner.starting >= maxTerminals)
      throw refused(`The session runs ${maxTerminals} commands already; end one first.`);
    owner.starting += 1;
    try {
      const base = await this.#options.env();
      if (!(await isFolder(cwd)))
        throw new RpcError(RPC_CODES.invalidParams, `The folder ${cwd} does not exist.`, { cwd });
      const env = terminalEnv(base, request.env ?? []);
      const plan = planCommand({ command: request.command, args: request.args ?? [], cwd }, env);
      if (owner.closed) throw closed();
      const limit = Math.min(request.outputByteLimit ?? this.#limit, MAX_LIMIT_BYTES);
      const terminalId = `term-${randomUUID()}`;
      // Output and exit may come before the agent has its answer, but never before onDidCreate.
      let announced = false;
      const early: CommandChange[] = [];
      const reported: ReportedOutput = { chars: 0 };
      const common = {
        cwd,
        env,
        // Users see more than the limit that the agent asked for.
        capacityBytes: Math.max(limit, this.#limit),
        onChange: (change: CommandChange) => {
          if (announced) this.#report(terminalId, reported, change);
          else early.push(change);
        },
      };
      const about = { line, cwd, limit, request: kept?.request ?? '' };
      const started: Promise<RunningCommand> = kept
        ? kept.commands.start(plan, { ...common, id: terminalId, about })
        : TerminalProcess.start(plan, { ...common, log: this.#options.log });
      const process = await started.catch((error: unknown) => {
        throw this.#notStarted(request.command, error);
      });
      if (owner.closed) {
        await (kept ? process.release() : process.closeNow());
        throw closed();
      }
      owner.terminals.set(terminalId, { process, limit, reported: kept ? reported : undefined });
      this.#processes.set(terminalId, process);
      this.#releaseEnded(owner);
      this.#options.log.info(`terminal ${terminalId} of ${sessionId}: ${line} (pid ${process.pid}, in ${cwd})`);
      announced = true;
      this.#onDidCreate.fire({ terminalId, sessionId, command: line, cwd });
      for (const change of early) this.#report(terminalId, reported, change);
      return { terminalId };
    } finally {
      owner.starting -= 1;
    }
  }

  /** @param reportedChars characters of output that earlier windows received, by terminal */
  resume(sessionId: string, { earlier }: KeptCommands, reportedChars: Readonly<Record<string, number>>): void {
    const owner = this.#owner(sessionId);
    for (const { id: terminalId, about, follow } of earlier) {
      const { limit, line, cwd } = about;
      const reported: ReportedOutput = { chars: reportedChars[terminalId] ?? 0 };
      const process = follow(reported.chars, {
        capacityBytes: Math.max(limit, this.#limit),
        onChange: (change) => this.#report(terminalId, reported, change),
      });
      // Set before the event, which is stored with the amount of output.
      owner.terminals.set(terminalId, { process, limit, reported, earlier: about });
      this.#processes.set(terminalId, process);
      this.#onDidCreate.fire({ terminalId, sessionId, command: line, cwd });
    }
  }

  /**
   * Returns how many characters of output were reported, by terminal, for commands that outlive the
   * window.
   * @param earlier counts of earlier windows, until their commands are attached
   */
  heardOf(sessionId: string, earlier: Readonly<Record<string, number>> = {}): Record<string, number> {
    const terminals = [...(this.#owners.get(sessionId)?.terminals ?? [])];
    const counts = terminals.flatMap(([id, { reported }]) => (reported ? [[id, reported.chars] as const] : []));
    return { ...earlier, ...Object.fromEntries(counts) };
  }

  /** `terminal/output`. @throws RpcError for an unknown terminal */
  output(sessionId: string, params: unknown): { output: string; truncated: boolean; exitStatus?: TerminalExit } {
    const { process, limit } = this.#terminalOf(sessionId, params, 'terminal/output');
    return { ...process.output(limit), exitStatus: process.exit };
  }

  /** `terminal/wait_for_exit`. @throws RpcError for an unknown terminal, or -32800 when aborted */
  async waitForExit(sessionId: string, params: unknown, signal: AbortSignal): Promise<TerminalExit> {
    const { process } = this.#terminalOf(sessionId, params, 'terminal/wait_for_exit');
    if (process.exit) return process.exit;
    const exit = await Promise.race([process.exited, signal.aborted || once(signal, 'abort')]);
    if (typeof exit === 'object' && !Array.isArray(exit)) return exit;
    throw new RpcError(RPC_CODES.cancelled, 'The wait was cancelled.');
  }

  /** `terminal/kill`: the id stays valid. @throws RpcError for an unknown terminal */
  async kill(sessionId: string, params: unknown): Promise<Record<string, never>> {
    await this.#terminalOf(sessionId, params, 'terminal/kill').process.kill();
    return {};
  }

  /** `terminal/release`: the output stays for display. @throws RpcError for an unknown terminal */
  async release(sessionId: string, params: unknown): Promise<Record<string, never>> {
    const { process } = this.#terminalOf(sessionId, params, 'terminal/release');
    const { terminalId } = params as { terminalId: string };
    this.#owners.get(sessionId)?.terminals.delete(terminalId);
    await process.release();
    this.#forget(terminalId, process);
    return {};
  }

  /** Ignores unknown and ended ones. */
  async stop(terminalId: string): Promise<void> {
    await this.#processes.get(terminalId)?.kill();
  }

  /** Also after the release. All of it was reported to `onDidChange`. */
  outputOf(terminalId: string): string {
    const process = this.#processes.get(terminalId);
    if (!process) return this.#released.get(terminalId) ?? '';
    process.flush();
    return process.output().output;
  }

  exitOf(terminalId: string): TerminalExit | undefined {
    return this.#processes.get(terminalId)?.exit;
  }

  isRunning(terminalId: string): boolean {
    const process = this.#processes.get(terminalId);
    return process !== undefined && process.exit === undefined;
  }

  /** The output stays for display. */
  async closeSession(sessionId: string): Promise<void> {
    const owner = this.#owners.get(sessionId);
    if (!owner) return;
    owner.closed = true;
    this.#owners.delete(sessionId);
    await Promise.all(
      [...owner.terminals].map(async ([terminalId, { process }]) => {
        await process.close();
        this.#forget(terminalId, process);
      }),
    );
  }

  dispose(): void {
    this.#disposed = true;
    for (const owner of this.#owners.values()) owner.closed = true;
    for (const process of this.#processes.values()) void process.closeNow();
    this.#owners.clear();
    this.#onDidCreate.dispose();
    this.#onDidChange.dispose();
  }

  #owner(sessionId: string): Owner {
    if (this.#disposed) throw closed();
    let owner = this.#owners.get(sessionId);
    if (!owner) {
      owner = { id: sessionId, terminals: new Map(), starting: 0, closed: false };
      this.#owners.set(sessionId, owner);
    }
    return owner;
  }

  #terminalOf(sessionId: string, params: unknown, method: string): OwnedTerminal {
    const { terminalId } = readParams(idSchema, params, method);
    const terminal = this.#owners.get(sessionId)?.terminals.get(terminalId);
    if (!terminal)
      throw new RpcError(RPC_CODES.resourceNotFound, `There is no terminal ${terminalId}.`, { terminalId });
    terminal.earlier = undefined;
    return terminal;
  }

  #report(terminalId: string, reported: ReportedOutput, change: CommandChange): void {
    reported.chars += (change.append?.length ?? 0) + (change.drop ?? 0);
    this.#onDidChange.fire({ terminalId, ...change });
  }

  #releaseEnded({ terminals }: Owner): void {
    let ended = [...terminals.values()].filter(({ process }) => process.exit !== undefined).length;
    for (const [terminalId, { process }] of terminals) {
      if (ended <= MAX_ENDED) return;
      if (process.exit === undefined) continue;
      terminals.delete(terminalId);
      void process.release();
      this.#forget(terminalId, process);
      ended -= 1;
    }
  }

  #forget(terminalId: string, process: RunningCommand): void {
    if (!this.#processes.delete(terminalId)) return;
    const text = lastBytes(process.output().output, this.#limit);
    this.#released.set(terminalId, text);
    this.#releasedBytes += text.length;
    for (const [oldest, { length }] of this.#released) {
      if (this.#released.size <= MAX_RELEASED && this.#releasedBytes <= MAX_RELEASED_BYTES) break;
      this.#released.delete(oldest);
      this.#releasedBytes -= length;
    }
    this.#onDidChange.fire({ terminalId, released: true });
  }

  #notStarted(command: string, error: unknown): RpcError {
    const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
    this.#options.log.warn(`terminal: ${command} did not start: ${messageOf(error)}`);
    const why: Record<string, string> = {
      ENOENT: 'it was not found',
      EACCES: 'it is not executable',
      E2BIG: 'its arguments are too long',
      EAGAIN: 'the system has no more processes',
      EMFILE: 'too many files are open',
    };
    const reason = (code && why[code]) ?? messageOf(error);
    return new RpcError(RPC_CODES.internal, `The command ${command} did not start: ${reason}.`, { command, code });
  }
}

/**
 * Finds the running command of a repeated request that an earlier window did not answer.
 * @returns its terminal
 */
function takeEarlier({ terminals }: Owner, asked: Omit<EarlierCommand['about'], 'limit'>): string | undefined {
  for (const [terminalId, terminal] of terminals) {
    const { request, line, cwd } = terminal.earlier ?? {};
    if (request !== asked.request || line !== asked.line || cwd !== asked.cwd) continue;
    terminal.earlier = undefined;
    return terminalId;
  }
  return undefined;
}

function refused(message: string): RpcError {
  return new RpcError(RPC_CODES.internal, message);
}

function closed(): RpcError {
  return new RpcError(RPC_CODES.resourceNotFound, 'The session is closed.');
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    return false;
  }
}
