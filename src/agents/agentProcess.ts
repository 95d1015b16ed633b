// One running agent process: started without a shell, read through its pipes, ended together with
// everything that it started.
import { stat } from 'node:fs/promises';
import { stripVTControlCharacters } from 'node:util';
import type { Transport } from '../acp/jsonrpc/transport';
import { StdioTransport } from '../acp/transport/stdioTransport';
import type { Disposable } from '../base/disposable';
import { messageOf, ParleyError } from '../base/errors';
import { inEnglish, type Localizable, localizable } from '../base/localizable';
import type { Log } from '../base/log';
import { AgentTree, type TreeExit, type TreeOptions } from './agentTree';
import { spawnError } from './spawnError';
import { StderrLog } from './stderrLog';

/** How an agent ended. */
export interface AgentExit extends TreeExit {
  /** The last lines of stderr. */
  readonly stderr: string;
  /** It was told to leave while no window was there. */
  readonly isDismissed?: true;
}

export interface StartOptions extends TreeOptions {
  /** Gets each line of stderr, bounded. */
  readonly onStderr?: ((line: string) => void) | undefined;
  /** Ends the agent if the start is aborted while the process is being spawned. */
  readonly signal?: AbortSignal;
}

/** A started agent. Whoever starts it closes or disposes it. */
export class AgentProcess implements Disposable {
  readonly pid: number;
  /** How it ended, after what it printed last was read. Never rejects. */
  readonly exited: Promise<AgentExit>;
  readonly #transport: StdioTransport;
  readonly #tree: AgentTree;
  readonly #stderr: StderrLog;
  readonly #log: Log;
  #closing: Promise<AgentExit> | undefined;

  /**
   * Starts an agent in a process group of its own. Resolves when it runs.
   * @throws ParleyError `agent-spawn-failed` with the reason in words; the reason of `signal`, with
   * nothing left running
   */
  static async start(options: StartOptions): Promise<AgentProcess> {
    const { command, args, cwd, log, signal } = options;
    await checkFolder(cwd);
    signal?.throwIfAborted();
    log.info(`Starting ${command} with ${args.length} arguments in ${cwd}`);
    let agent: AgentProcess;
    try {
      agent = new AgentProcess(await AgentTree.start(options), options);
    } catch (error) {
      throw await spawnError(error, command);
    }
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

  /** The last lines of stderr, without terminal colours. Default 20. */
  stderrTail(lines = 20): string {
    return stripVTControlCharacters(this.#stderr.tail.lines(lines));
  }

  /**
   * Ends the agent and what it started: stdin is closed, then SIGTERM, then SIGKILL. Resolves when
   * they are gone, or with `isStuck` when the system cannot end the agent.
   */
  close(): Promise<AgentExit> {
    this.#closing ??= this.#tree.close().then(() => this.exited);
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
    const ended = await this.#tree.exited;
    this.#transport.finish();
    this.#stderr.finish();
    const exit: AgentExit = { ...ended, stderr: this.stderrTail() };
    this.#log.info(`The agent (process ${this.pid}) ${inEnglish(describeExit(exit))}`);
    return exit;
  }
}

/** @throws ParleyError `agent-spawn-failed` where an agent cannot run in a folder */
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

/**
 * How an agent ended, in words that follow its name: "exited with code 3", "was ended by SIGKILL".
 */
export function describeExit(exit: Pick<AgentExit, 'code' | 'signal' | 'isStuck'>): Localizable {
  if (exit.isStuck) return localizable("couldn't be stopped");
  if (exit.signal !== null) return localizable('was ended by {0}', exit.signal);
  return exit.code === null ? localizable('ended') : localizable('exited with code {0}', exit.code);
}
