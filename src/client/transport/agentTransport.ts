// Carries messages to an agent: over the pipes of a local process, or over a WebSocket or
// streamable HTTP to another machine (protocol.md 6.1).
import type { Transport } from '../../acp/jsonrpc/transport';
import { HttpTransport } from '../../acp/transport/httpTransport';
import type { RemoteTransport } from '../../acp/transport/remoteTransport';
import { WebSocketTransport } from '../../acp/transport/webSocketTransport';
import type { ProcessAgent, RemoteAgent } from '../../agents/agentDefinition';
import { withVariables } from '../../agents/agentEnvironment';
import { type AgentExit, AgentProcess, type StartOptions } from '../../agents/agentProcess';
import { resolveCommand } from '../../agents/resolveCommand';
import type { Disposable } from '../../base/disposable';
import { messageOf, ParleyError } from '../../base/errors';
import { framed, mapForeign } from '../../base/localizable';
import type { Log } from '../../base/log';
import { knownSecrets } from '../../base/redact';
import { isSecretName } from '../../base/redactJson';
import type { KeptAgent } from '../ports/keptAgent';
import type { KeeperAbout } from './keeperFiles';
import { type RemoteAccess, resolveRemote, scrubber } from './remoteTarget';
import type { Stages } from './stages';

export interface AgentTransport extends Disposable {
  readonly transport: Transport;
  /**
   * How it ended by itself: the exit of a process, or why the connection was lost. Never rejects.
   */
  readonly exited: Promise<AgentExit | ParleyError>;
  readonly pid?: number;
  /** Set for agents with a keeper: `close` ends the agent, `kept.detach` keeps it running. */
  readonly kept?: KeptAgent;
  stderrTail(lines?: number): string;
  /** Removes the connection's secrets from text that is shown or logged. */
  readonly scrub?: (text: string) => string;
  close(): Promise<unknown>;
}

export interface KeptTransport extends AgentTransport {
  readonly kept: KeptAgent;
}

export interface KeptStart {
  readonly about: KeeperAbout;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly log: Log;
  readonly onStderr?: ((line: string) => void) | undefined;
  readonly signal?: AbortSignal;
  readonly closeGraceMs?: StartOptions['closeGraceMs'];
}

export interface AgentKeepers {
  readonly isOn: boolean;
  find(session: string): string | undefined;
  /**
   * Attaches to the agent of a session, and detaches another window.
   * @returns undefined if none can be attached
   */
  attach(session: string, options: Pick<AgentTransportOptions, 'log' | 'onStderr'>): Promise<KeptTransport | undefined>;
  /**
   * Starts an agent; an earlier one of the session is ended.
   * @throws as {@link AgentProcess.start}
   */
  start(options: KeptStart): Promise<KeptTransport>;
}

export type ProcessStarter = (options: StartOptions) => Promise<AgentTransport>;

export interface AgentTransportOptions {
  readonly agent: ProcessAgent | RemoteAgent;
  readonly cwd: string;
  readonly environment: (command: string) => Promise<Record<string, string>>;
  readonly remote?: RemoteAccess | undefined;
  readonly log: Log;
  readonly startProcess?: ProcessStarter | undefined;
  /** Absent: the agent ends with the window. */
  readonly keeper?: { readonly keepers: AgentKeepers; readonly about: KeeperAbout } | undefined;
  readonly onStderr?: ((line: string) => void) | undefined;
}

/**
 * Stages `resolve` and `spawn`, or `resolve` and `connect`.
 * @throws ParleyError, with nothing left running or open
 */
export async function startTransport(
  options: AgentTransportOptions,
  stages: Stages,
  signal: AbortSignal,
): Promise<AgentTransport> {
  const { agent, log } = options;
  switch (agent.type) {
    case 'process': {
      for (const [name, value] of Object.entries(agent.env)) if (isSecretName(name)) knownSecrets.add(value);
      const { command, env } = await stages.run('resolve', signal, async () => {
        const env = withVariables(await options.environment(agent.command), agent.env);
        return { env, command: await resolveCommand(agent.command, { cwd: options.cwd, env }) };
      });
      const { args, cwd = options.cwd } = agent;
      const { keeper, onStderr, startProcess = AgentProcess.start } = options;
      return stages.run('spawn', signal, (stop): Promise<AgentTransport> => {
        const start = { command, args, env, cwd, log, onStderr, signal: stop };
        return keeper?.keepers.isOn
          ? startKept(keeper.keepers, { ...start, about: keeper.about })
          : startProcess(start);
      });
    }
    case 'remote':
      try {
        return await connect(agent, options, stages, signal);
      } catch (error) {
        if (signal.aborted || !(error instanceof ParleyError)) throw error;
        const { message, ...hint } = error.texts;
        throw new ParleyError(error.code, framed('{0}: {1}.', agent.name, message), { ...hint, cause: error });
      }
  }
}

/** Without a keeper, the agent ends with its window. @throws as {@link AgentKeepers.start} */
async function startKept(keepers: AgentKeepers, options: KeptStart): Promise<AgentTransport> {
  try {
    return await keepers.start(options);
  } catch (error) {
    if (!(error instanceof ParleyError) || error.code !== 'keeper-failed') throw error;
    options.log.warn(`${error.message} The agent ends with this window. ${messageOf(error.cause)}`);
    const { about: _, ...start } = options;
    return AgentProcess.start(start);
  }
}

async function connect(
  agent: RemoteAgent,
  { remote, log }: AgentTransportOptions,
  stages: Stages,
  signal: AbortSignal,
): Promise<AgentTransport> {
  const { url, headers } = await stages.run('resolve', signal, (stop) => resolveRemote(agent, remote, stop), 'sign-in');
  const scrub = scrubber(headers);
  try {
    log.info(`Connecting to ${url.origin}`);
    // Over HTTP, failures show at `initialize`.
    const isSocket = url.protocol === 'ws:' || url.protocol === 'wss:';
    const transport: RemoteTransport = await stages.run('connect', signal, async (stop) =>
      isSocket ? WebSocketTransport.connect({ url, headers, log }, stop) : new HttpTransport({ url, headers, log }),
    );
    return {
      transport,
      scrub,
      exited: transport.ended,
      stderrTail: () => '',
      close: () => transport.close(),
      dispose: () => transport.dispose(),
    };
  } catch (error) {
    if (!(error instanceof ParleyError)) throw error;
    const { message, ...hint } = error.texts;
    throw new ParleyError(error.code, mapForeign(message, scrub), hint);
  }
}
