// A running agent process: started without a shell, read through pipes, and ended together with
// everything that it started.
import { stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import type { Transport } from '../acp/jsonrpc/transport';
import { StdioTransport } from '../acp/transport/stdioTransport';
import type { Disposable } from '../base/disposable';
import { messageOf, ParleyError } from '../base/errors';
import { inEnglish, type Localizable, localizable } from '../base/localizable';
import type { Log } from '../base/log';
import { detached } from '../base/text';
import { AgentTree, type TreeExit, type TreeOptions } from './agentTree';
import { spawnError } from './startPlan';

export interface AgentExit extends TreeExit {
  readonly stderr: string;
  /** Asked to exit while no window was attached. */
  readonly isDismissed?: true;
}

export interface StartOptions extends TreeOptions {
  readonly onStderr?: ((line: string) => void) | undefined;
  /** Aborting ends an agent that is still being spawned. */
  readonly signal?: AbortSignal;
}

export class AgentProcess implements Disposable {
  readonly pid: number;
  /** Resolves once all output was read. Never rejects. */
  readonly exited: Promise<AgentExit>;
  readonly #transport: StdioTransport;
  readonly #tree: AgentTree;
  readonly #stderr: StderrLog;
  readonly #log: Log;
  #closing: Promise<AgentExit> | undefined;

  /**
   * Starts an agent in its own process group.
   * @throws ParleyError `agent-spawn-failed`; the reason of `signal`, with nothing left running
   */
  static async start(options: StartOptions): Promise<AgentProcess> {
    const { command, args, cwd, log, signal } = options;
    await checkFolder(cwd);
    signal?.throwIfAborted();
    let agent: AgentProcess;
    try {
      agent = new AgentProcess(await AgentTree.start(options), options);
    } catch (error) {
      throw await spawnError(error, command);
    }
    // Not before: the first line that is logged loads the rules that look for secrets.
    log.info(`Started ${command} with ${args.length} arguments in ${cwd}: process ${agent.pid}`);
    if (signal?.aborted) {
      await agent.close();
      throw signal.reason;
    }
    return agent;
  }

  private constructor(tree: AgentTree, { log, onStderr }: StartOptions) {
    this.#tree = tree;
    this.pid = tree.pid;
    this.#log = log;
    this.#transport = new StdioTransport(tree.stdin, tree.stdout);
    this.#stderr = new StderrLog(tree.stderr, log, onStderr);
    this.exited = this.#awaitExit();
  }

  get transport(): Transport {
    return this.#transport;
  }

  get isRunning(): boolean {
    return this.#tree.isRunning;
  }

  stderrTail(lines = 20): string {
    return stripVTControlCharacters(this.#stderr.tail.lines(lines));
  }

  /**
   * Closes stdin, then sends SIGTERM, then SIGKILL, to the whole tree. Resolves with `isStuck` if
   * the system can't end the agent.
   */
  close(): Promise<AgentExit> {
    this.#closing ??= this.#tree.close().then(() => this.exited);
    return this.#closing;
  }

  /** Does not wait. If the extension host dies first, the orphan guard finishes. */
  dispose(): void {
    this.close().catch((error: unknown) => this.#log.error(`Ending process ${this.pid} failed: ${messageOf(error)}`));
  }

  async #awaitExit(): Promise<AgentExit> {
    const ended = await this.#tree.exited;
    this.#transport.finish();
    this.#stderr.finish();
    const exit: AgentExit = { ...ended, stderr: this.stderrTail() };
    this.#log.info(`The agent (process ${this.pid}) ${inEnglish(describeExit(exit))}`);
    return exit;
  }
}

/** @throws ParleyError `agent-spawn-failed` */
export async function checkFolder(cwd: string): Promise<void> {
  const folder = await stat(cwd).catch(() => undefined);
  if (folder?.isDirectory()) return;
  throw new ParleyError(
    'agent-spawn-failed',
    folder
      ? localizable("{0} isn't a folder, so no agent can run in it.", cwd)
      : localizable("The folder {0} doesn't exist, so no agent can run in it.", cwd),
  );
}

/** Returns a phrase that follows a name: "exited with code 3", "was ended by SIGKILL". */
export function describeExit(exit: Pick<AgentExit, 'code' | 'signal' | 'isStuck'>): Localizable {
  if (exit.isStuck) return localizable("couldn't be stopped");
  if (exit.signal !== null) return localizable('was ended by {0}', exit.signal);
  return exit.code === null ? localizable('ended') : localizable('exited with code {0}', exit.code);
}

const TAIL_CHARS = 64 * 1024;
const MAX_LINE_CHARS = 4096;

/** Reads to the end, as a full pipe would block the agent. */
export class StderrLog {
  readonly tail = new TailBuffer(TAIL_CHARS);
  readonly #log: Log;
  readonly #onLine: (line: string) => void;
  #line = '';
  #isFinished = false;

  constructor(stderr: Readable, log: Log, onLine: (line: string) => void = () => {}) {
    this.#log = log;
    this.#onLine = onLine;
    stderr.setEncoding('utf8');
    stderr.on('data', (text: string) => this.#take(text));
    stderr.on('end', () => this.finish());
    stderr.on('error', () => this.finish());
  }

  finish(): void {
    if (this.#isFinished) return;
    this.#isFinished = true;
    if (this.#line !== '') this.#write(this.#line);
    this.#line = '';
  }

  #take(text: string): void {
    this.tail.append(text);
    const lines = text.split('\n');
    const last = lines.pop() ?? '';
    for (const line of lines) {
      this.#write(this.#line + line);
      this.#line = '';
    }
    if (this.#line.length <= MAX_LINE_CHARS) this.#line += last;
  }

  #write(line: string): void {
    const text = line.trimEnd();
    if (text === '') return;
    const shortened = text.length > MAX_LINE_CHARS ? `${text.slice(0, MAX_LINE_CHARS)}…` : text;
    this.#log.info(`[stderr] ${shortened}`);
    this.#onLine(shortened);
  }
}

export class TailBuffer {
  readonly #capacity: number;
  #chunks: string[] = [];
  #length = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  append(text: string): void {
    this.#chunks.push(text);
    this.#length += text.length;
    // Compacting at twice the capacity keeps many small chunks cheap.
    if (this.#length > this.#capacity * 2 || this.#chunks.length > 1024) this.#compact();
  }

  /** Without a partial first line if the start was dropped. */
  toString(): string {
    this.#compact();
    return this.#chunks[0] ?? '';
  }

  lines(count: number): string {
    const lines = this.toString().replace(/\s+$/, '').split('\n');
    return lines.slice(-count).join('\n');
  }

  #compact(): void {
    let text = this.#chunks.join('');
    if (text.length > this.#capacity) {
      text = text.slice(-this.#capacity);
      const lineBreak = text.indexOf('\n');
      if (lineBreak !== -1 && lineBreak < text.length - 1) text = text.slice(lineBreak + 1);
    }
    this.#chunks = text === '' ? [] : [detached(text)];
    this.#length = text.length;
  }
}
