// The first words on a connection: `initialize` (sections 1.10, 1.11). It offers exactly what works in this client, checks the version that comes back, and gives the
// dialect to go on in.
import { ParleyError } from '../base/errors';
import { at } from './capabilities';
import type { AgentDescription, Dialect } from './dialect';
import type { RpcCaller } from './rpcCaller';
import { V1Agent } from './v1Agent';
import { describeV1 } from './v1Description';

/** What this client lets an agent use. */
export interface ClientAbilities {
  readonly files: boolean;
  readonly terminals: boolean;
}

export interface InitializeOptions {
  readonly client: { readonly name: string; readonly title: string; readonly version: string };
  readonly abilities: ClientAbilities;
}

export interface Initialized {
  readonly dialect: Dialect;
  readonly description: AgentDescription;
}

/**
 * Initializes a connection; to be called once on it, before anything else.
 * @throws ParleyError `protocol-version` where the agent speaks no version that we do, `protocol-violation` where the answer is no answer; RpcError.
 */
export async function initialize(
  rpc: RpcCaller,
  options: InitializeOptions,
  signal: AbortSignal,
): Promise<Initialized> {
  const raw = await rpc.request(
    'initialize',
    { protocolVersion: 1, clientInfo: options.client, clientCapabilities: capabilitiesV1(options.abilities) },
    { signal },
  );
  const version = at(raw, 'protocolVersion');
  const description = describeV1(raw);
  if (!description || typeof version !== 'number') {
    throw new ParleyError('protocol-violation', 'its answer to initialize is not one that the protocol knows', {
      hint: 'Check that the command starts the agent in its ACP mode.',
    });
  }
  if (version !== 1) {
    throw new ParleyError('protocol-version', `it speaks protocol version ${version}; Parley speaks version 1`, {
      hint: 'Install a version of the agent that speaks it, or update Parley.',
    });
  }
  return { dialect: new V1Agent(rpc), description };
}

/** The capabilities of this client in v1 (section 1.10). */
export function capabilitiesV1({ files, terminals }: ClientAbilities): unknown {
  return {
    fs: { readTextFile: files, writeTextFile: files },
    terminal: terminals,
    session: { configOptions: { boolean: {} }, notices: {}, compaction: {} },
    _meta: { terminal_output: true },
  };
}
