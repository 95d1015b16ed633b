// Sends `initialize` (sections 1.10, 1.11): offers exactly what works in this client, checks the
// version in the answer, and returns the dialect to continue in.

import { ParleyError } from '../base/errors';
import { type Localizable, localizable } from '../base/localizable';
import { at } from '../base/untrusted';
import type { RpcCaller } from './jsonrpc/rpcConnection';
import { RPC_CODES, RpcError } from './jsonrpc/rpcError';
import { KNOWN_IN_V1, KNOWN_IN_V2 } from './proposals/announced';
import { STATE_CAPABILITY } from './proposals/sessionState';
import type { AgentDescription, Dialect } from './protocol/dialect';
import { ELICITATION_CAPABILITY } from './protocol/elicitation';
import { V1Agent } from './v1/v1Agent';
import { describeV1 } from './v1/v1Description';
import { describeV2, V2Agent } from './v2/v2Agent';

export interface ClientCapabilities {
  readonly files: boolean;
  readonly terminals: boolean;
  /** Sign-ins that run the agent's own command in a terminal of the user's (section 1.9). */
  readonly signInTerminal?: boolean;
  readonly state?: boolean;
  /** Whether suggested prompts are shown. */
  readonly suggestions?: boolean;
}

export type ProtocolVersion = 1 | 2;

export interface InitializeOptions {
  readonly client: { readonly name: string; readonly title: string; readonly version: string };
  readonly capabilities: ClientCapabilities;
  readonly offer: ProtocolVersion;
}

/** A connection is initialized once, so another version needs another start. */
export type Initialized =
  | { readonly kind: 'ready'; readonly dialect: Dialect; readonly description: AgentDescription }
  | { readonly kind: 'again'; readonly offer: ProtocolVersion };

/** Error data `{requested, supported}` (section 3.2). */
const UNSUPPORTED_VERSION = -32022;

/**
 * Initializes a connection; to be called once on it, before anything else (sections 1.11, 3.2).
 * Offering 2 sends the params of both versions at once: agents that route by version read the ones
 * of 2, all others those of 1. An agent that answers 1 has been given our v1 capabilities only if
 * it read them itself; one behind a router may have lost them, and the two cannot be told apart.
 * @throws ParleyError `protocol-version` where the agent speaks no version that we do,
 * `protocol-violation` where the answer is no answer; RpcError.
 */
export async function initialize(
  rpc: RpcCaller,
  options: InitializeOptions,
  signal: AbortSignal,
): Promise<Initialized> {
  const { offer, capabilities } = options;
  let raw: unknown;
  try {
    raw = await rpc.request('initialize', initializeParams(options), { signal });
  } catch (error) {
    return otherOffer(error, offer);
  }
  const version = at(raw, 'protocolVersion');
  const description = describe(raw);
  if (!description || typeof version !== 'number') {
    throw new ParleyError('protocol-violation', localizable('its answer to initialize is invalid'), {
      hint: localizable('Check that the command starts the agent in its ACP mode.'),
    });
  }
  if (version !== 1 && version !== 2) throw unspoken(localizable('version {0}', version));
  if (version === 2 && offer === 1) return { kind: 'again', offer: 2 };
  if (version === 1 && offer === 2 && (capabilities.files || capabilities.terminals))
    return { kind: 'again', offer: 1 };
  // Droid repeats whatever version it is offered, but speaks 1.
  if (version === 2 && at(raw, 'capabilities') === undefined && at(raw, 'agentCapabilities') !== undefined)
    return { kind: 'again', offer: 1 };
  return { kind: 'ready', dialect: dialectOf(version, rpc, raw), description };
}

export function initialized(
  raw: unknown,
  rpc: RpcCaller,
): { readonly dialect: Dialect; readonly description: AgentDescription } | undefined {
  const version = at(raw, 'protocolVersion');
  const description = describe(raw);
  if (!description || (version !== 1 && version !== 2)) return undefined;
  return { dialect: dialectOf(version, rpc, raw), description };
}

function describe(raw: unknown): AgentDescription | undefined {
  return at(raw, 'protocolVersion') === 2 ? describeV2(raw) : describeV1(raw);
}

function dialectOf(version: ProtocolVersion, rpc: RpcCaller, raw: unknown): Dialect {
  return version === 2 ? new V2Agent(rpc) : new V1Agent(rpc, raw);
}

/**
 * Returns the highest version of the refusal that we speak, or 1 if the agent did not understand
 * v2.
 */
function otherOffer(error: unknown, offer: ProtocolVersion): Initialized {
  if (!(error instanceof RpcError)) throw error;
  if (error.code === RPC_CODES.invalidParams && offer === 2) return { kind: 'again', offer: 1 };
  if (error.code !== UNSUPPORTED_VERSION) throw error;
  const supported = at(error.data, 'supported');
  const versions = Array.isArray(supported) ? supported.filter((one) => typeof one === 'number') : [];
  const other = ([2, 1] as const).find((one) => one !== offer && versions.includes(one));
  if (other === undefined)
    throw unspoken(
      versions.length > 0 ? localizable('versions {0}', versions.join(', ')) : localizable('another version'),
    );
  return { kind: 'again', offer: other };
}

function unspoken(versions: Localizable): ParleyError {
  return new ParleyError(
    'protocol-version',
    localizable('it speaks {0} of the protocol; Parley supports versions 1 and 2', versions),
    {
      hint: localizable('Install an agent version that supports one of them, or update Parley.'),
    },
  );
}

export function initializeParams(options: InitializeOptions): Record<string, unknown> {
  return options.offer === 1 ? paramsV1(options) : paramsOfBoth(options);
}

function paramsV1({ client, capabilities }: InitializeOptions): Record<string, unknown> {
  return { protocolVersion: 1, clientInfo: client, clientCapabilities: capabilitiesV1(capabilities) };
}

function paramsOfBoth(options: InitializeOptions): Record<string, unknown> {
  const { client, capabilities } = options;
  return { ...paramsV1(options), protocolVersion: 2, info: client, capabilities: capabilitiesV2(capabilities) };
}

/** The capabilities of this client in v1 (section 1.10). */
function capabilitiesV1(can: ClientCapabilities): unknown {
  const { files, terminals, signInTerminal = false, state = false } = can;
  return {
    fs: { readTextFile: files, writeTextFile: files },
    terminal: terminals,
    session: { configOptions: { boolean: {} }, notices: {}, compaction: {}, ...suggestionsOf(can) },
    auth: { terminal: signInTerminal },
    elicitation: ELICITATION_CAPABILITY,
    plan: {},
    subagents: {},
    _meta: {
      ...KNOWN_IN_V1,
      terminal_output: true,
      'terminal-auth': signInTerminal || undefined,
      ...(state && STATE_CAPABILITY),
    },
  };
}

/**
 * The capabilities of this client in v2 (section 3.2): agents have their own files and terminals.
 */
function capabilitiesV2(can: ClientCapabilities): unknown {
  return {
    ...(can.signInTerminal && { auth: { terminal: {} } }),
    ...(can.suggestions && { session: suggestionsOf(can) }),
    elicitation: ELICITATION_CAPABILITY,
    _meta: { ...KNOWN_IN_V2, ...(can.state && STATE_CAPABILITY) },
  };
}

/** An object means suggestions of text and links. */
function suggestionsOf({ suggestions }: ClientCapabilities): object {
  return suggestions ? { promptSuggestions: {} } : {};
}
