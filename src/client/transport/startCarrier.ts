// From an agent's definition to something that carries messages to it: its program is found and started, or its address is checked and connected to.
import type { ProcessAgent, RemoteAgent } from '../../agents/agentDefinition';
import { withVariables } from '../../agents/agentEnvironment';
import { AgentProcess } from '../../agents/agentProcess';
import { resolveCommand } from '../../agents/resolveCommand';
import { ParleyError } from '../../base/errors';
import type { Log } from '../../base/log';
import { knownSecrets } from '../../base/redact';
import { isSecretName } from '../../base/redactJson';
import type { Carrier } from './carrier';
import { connectRemote } from './remoteCarrier';
import { type RemoteAccess, resolveRemote, scrubber } from './remoteTarget';
import type { Deadlines, Stages } from './stages';

export interface CarrierOptions {
  readonly agent: ProcessAgent | RemoteAgent;
  /** Where a process runs; absolute. */
  readonly cwd: string;
  /** The environment that a command is looked up in and started with. */
  readonly environment: (command: string) => Promise<Record<string, string>>;
  /** Without it, remote agents have no secrets and no messages go out unencrypted. */
  readonly remote?: RemoteAccess | undefined;
  readonly log: Log;
}

/**
 * Stages `resolve` and `spawn`, or for a remote agent `resolve` and `connect`.
 * @throws ParleyError with a sentence and a hint; nothing is left running or open then.
 */
export async function startCarrier(
  options: CarrierOptions,
  stages: Stages,
  deadlines: Deadlines,
  signal: AbortSignal,
): Promise<Carrier> {
  const { agent, log } = options;
  switch (agent.type) {
    case 'process': {
      for (const [name, value] of Object.entries(agent.env)) if (isSecretName(name)) knownSecrets.add(value);
      const { command, env } = await stages.run('resolve', deadlines.resolve, signal, async () => {
        const env = withVariables(await options.environment(agent.command), agent.env);
        return { env, command: await resolveCommand(agent.command, { cwd: options.cwd, env }) };
      });
      const { args, cwd = options.cwd } = agent;
      return stages.run('spawn', deadlines.spawn, signal, (stop) =>
        AgentProcess.start({ command, args, env, cwd, log, signal: stop }),
      );
    }
    case 'remote':
      try {
        return await connect(agent, options, stages, deadlines, signal);
      } catch (error) {
        if (signal.aborted || !(error instanceof ParleyError)) throw error;
        const { code, message, hint } = error;
        throw new ParleyError(code, `${agent.name}: ${message}.`, { ...(hint && { hint }), cause: error });
      }
  }
}

async function connect(
  agent: RemoteAgent,
  { remote, log }: CarrierOptions,
  stages: Stages,
  deadlines: Deadlines,
  signal: AbortSignal,
): Promise<Carrier> {
  // The user may be asked for a secret, which takes as long as it takes to find it.
  const target = await stages.run('resolve', deadlines['sign-in'], signal, (stop) =>
    resolveRemote(agent, remote, stop),
  );
  const scrub = scrubber(target.headers);
  try {
    const carrier = await stages.run('connect', deadlines.connect, signal, (stop) => connectRemote(target, log, stop));
    return { ...carrier, scrub };
  } catch (error) {
    if (!(error instanceof ParleyError)) throw error;
    const { code, message, hint } = error;
    throw new ParleyError(code, scrub(message), { ...(hint && { hint }) });
  }
}
