// One running agent: its process, the connection to it, what it said of itself, and the sessions that hear of it. Opening it walks the first three stages.

import type { AgentDescription, Dialect } from '../acp/dialect';
import { UpdateRouter } from '../acp/earlyUpdates';
import { initialize } from '../acp/initialize';
import { RpcConnection, type RpcHandlers } from '../acp/rpcConnection';
import type { AgentDefinition } from '../agents/agentDefinition';
import { type AgentExit, AgentProcess, describeExit } from '../agents/agentProcess';
import { resolveCommand } from '../agents/resolveCommand';
import type { Disposable } from '../base/disposable';
import { messageOf, ParleyError } from '../base/errors';
import { Emitter, type Event } from '../base/event';
import type { Log } from '../base/log';
import type { Deadlines, Stages } from './stages';

/** Lines of stderr that a failure shows. */
const STDERR_LINES = 20;
/** How long a closed stdout may wait for the process to end, in milliseconds. */
const EXIT_AFTER_CLOSE_MS = 1500;

export interface LinkOptions {
  readonly agent: AgentDefinition;
  /** Where the agent runs; absolute. */
  readonly cwd: string;
  /** The environment that this command is looked up in and started with. */
  readonly environment: (command: string) => Promise<Record<string, string>>;
  readonly client: { readonly name: string; readonly title: string; readonly version: string };
  readonly onRequest: RpcHandlers['onRequest'];
  readonly onTraffic?: ((dir: 'in' | 'out', line: string) => void) | undefined;
  readonly log: Log;
}

export class AgentLink implements Disposable {
  readonly router: UpdateRouter;
  readonly rpc: RpcConnection;
  /** What it says of itself, and how to talk to it; there once `open` has resolved. */
  description!: AgentDescription;
  dialect!: Dialect;
  readonly #process: AgentProcess;
  readonly #name: string;
  readonly #didEnd = new Emitter<ParleyError>();
  readonly #log: Log;
  #noise = '';
  #ended: ParleyError | undefined;
  #closing = false;

  private constructor(process: AgentProcess, options: LinkOptions) {
    this.#process = process;
    this.#name = options.agent.name;
    this.#log = options.log;
    this.router = new UpdateRouter((sentence) => options.log.warn(sentence));
    this.rpc = new RpcConnection({
      transport: process.transport,
      log: options.log,
      handlers: {
        onUpdates: (batch) => this.router.route(batch),
        onRequest: options.onRequest,
        onNotification: (method) => options.log.debug(`ignored notification ${method}`),
      },
      onNoise: (line) => {
        this.#noise ||= line.slice(0, 200);
      },
      ...(options.onTraffic && { onTraffic: options.onTraffic }),
    });
    this.rpc.onDidClose((error) => void this.#onClosed(error));
    void process.exited.then((exit) => this.#end(this.#exitError(exit)));
  }

  /**
   * Starts the agent and initializes the connection: stages `resolve`, `spawn`, `initialize`.
   * @throws ParleyError with a sentence, a hint and the last stderr lines; nothing is left running then.
   */
  static async open(
    options: LinkOptions,
    stages: Stages,
    deadlines: Deadlines,
    signal: AbortSignal,
  ): Promise<AgentLink> {
    const { agent } = options;
    if (agent.type !== 'process') {
      throw new ParleyError(
        'agent-unsupported',
        `${agent.name} is a remote agent; this version of Parley starts agents on this machine.`,
        {
          hint: 'Give it a "command" in the setting parley.agents.',
        },
      );
    }
    const { command, env } = await stages.run('resolve', deadlines.resolve, signal, async () => {
      const env = { ...(await options.environment(agent.command)), ...agent.env };
      return { env, command: await resolveCommand(agent.command, { cwd: options.cwd, env }) };
    });
    const process = await stages.run('spawn', deadlines.spawn, signal, () =>
      AgentProcess.start({ command, args: agent.args, env, cwd: agent.cwd ?? options.cwd, log: options.log }),
    );
    const link = new AgentLink(process, options);
    try {
      const { client } = options;
      const abilities = { files: true, terminals: true };
      const { dialect, description } = await stages.run('initialize', deadlines.initialize, signal, (stop) =>
        link.until((inner) => initialize(link.rpc, { client, abilities }, inner), stop),
      );
      link.description = description;
      link.dialect = dialect;
      return link;
    } catch (error) {
      const described = await link.describe(error, 'initialize');
      link.dispose();
      throw described;
    }
  }

  /** The agent is gone, with how. Fired once; not after `dispose()`. */
  get onDidEnd(): Event<ParleyError> {
    return this.#didEnd.event;
  }

  get isAlive(): boolean {
    return this.#ended === undefined && !this.#closing;
  }

  /** @throws ParleyError how the agent ended, where it has. */
  throwIfEnded(): void {
    if (this.#ended) throw this.#ended;
  }

  get pid(): number {
    return this.#process.pid;
  }

  /** Runs a request so that the death of the agent rejects it with how the agent died, not just with a closed connection. */
  async until<T>(run: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
    try {
      return await run(signal);
    } catch (error) {
      if (error instanceof ParleyError && error.code === 'connection-closed') throw await this.#whyEnded(error);
      throw error;
    }
  }

  /** A failure as the user reads it: who, what, the last stderr lines, what to do. */
  async describe(error: unknown, step: string): Promise<ParleyError> {
    if (this.#ended && error === this.#ended) return error as ParleyError;
    const stderr = this.#process.stderrTail(STDERR_LINES);
    const code = error instanceof ParleyError ? error.code : 'agent-error';
    const hint = error instanceof ParleyError ? error.hint : undefined;
    const noise =
      this.#noise &&
      `It printed text that is no protocol message: “${this.#noise}”. Check that the command starts the agent in its ACP mode.`;
    const advice = hint ?? (noise || undefined);
    const message =
      error instanceof ParleyError && error.message.startsWith(this.#name)
        ? error.message
        : `${this.#name}: ${step} failed: ${messageOf(error)}.`;
    return new ParleyError(code, message.replace(/\.\.$/, '.'), {
      ...(advice && { hint: advice }),
      ...(stderr && { stderr }),
      cause: error,
    });
  }

  /** Ends the agent and everything that it started; resolves when it is gone. */
  async close(): Promise<void> {
    this.#closing = true;
    this.rpc.dispose();
    await this.#process.close();
  }

  dispose(): void {
    if (this.#closing) return;
    this.#closing = true;
    this.#didEnd.dispose();
    this.rpc.dispose();
    this.#process.dispose();
  }

  /** stdout has ended. Mostly the process is about to as well; where it lives on, it can no longer be talked to. */
  async #onClosed(error: ParleyError | undefined): Promise<void> {
    if (error) {
      this.#end(
        this.#ending(
          error.code,
          `${this.#name} was stopped: ${error.message}`,
          'Start it again; its log may say why it sent that.',
        ),
      );
      await this.#process.close();
      return;
    }
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stillThere = await Promise.race([
      this.#process.exited.then(() => false),
      new Promise<boolean>((resolve) => {
        timer = setTimeout(() => resolve(true), EXIT_AFTER_CLOSE_MS);
      }),
    ]);
    clearTimeout(timer);
    if (!stillThere || this.#closing) return;
    this.#end(
      this.#ending(
        'agent-closed-output',
        `${this.#name} closed its output but kept running, so it can no longer be heard. It was stopped.`,
        'Start it again.',
      ),
    );
    await this.#process.close();
  }

  async #whyEnded(fallback: ParleyError): Promise<ParleyError> {
    if (this.#ended) return this.#ended;
    if (this.#closing) return fallback;
    return new Promise((resolve) => {
      const listening = this.#didEnd.event((error) => {
        listening.dispose();
        resolve(error);
      });
    });
  }

  #exitError(exit: AgentExit): ParleyError {
    return this.#ending(
      'agent-exited',
      `${this.#name} ${describeExit(exit)}.`,
      'Start it again, or look at what it printed.',
    );
  }

  #ending(code: string, message: string, hint: string): ParleyError {
    const stderr = this.#process.stderrTail(STDERR_LINES);
    const noise = this.#noise ? `It printed text that is no protocol message: “${this.#noise}”.` : hint;
    return new ParleyError(code, message, { hint: noise, ...(stderr && { stderr }) });
  }

  #end(error: ParleyError): void {
    if (this.#ended || this.#closing) return;
    this.#ended = error;
    this.#log.warn(`${error.message}${error.stderr ? `\n${error.stderr}` : ''}`);
    this.#didEnd.fire(error);
  }
}
