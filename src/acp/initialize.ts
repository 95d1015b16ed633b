// Sends `initialize` (sections 1.10, 1.11), advertising exactly what works in this client, and
// returns the dialect for the answered version.

import { ParleyError } from '../base/errors';
import { type Localizable, localizable } from '../base/localizable';
import { at } from '../base/untrusted';
import type { RpcCaller } from './jsonrpc/rpcConnection';
import { RPC_CODES, RpcError } from './jsonrpc/rpcError';
import { ADVERTISED_V1, ADVERTISED_V2 } from './proposals/announced';
import { STATE_CAPABILITY } from './proposals/sessionState';
import type { AgentDescription, Dialect } from './protocol/dialect';
import { ELICITATION_CAPABILITY } from './protocol/elicitation';
import { V1Agent } from './v1/v1Agent';
import { describeV1 } from './v1/v1Description';
import { describeV2, V2Agent } from './v2/v2Agent';

export interface ClientCapabilities {
  readonly files: boolean;
  readonly terminals: boolean;
  /** Sign-ins that run the agent's own command in a terminal (section 1.9). */
  readonly signInTerminal?: boolean;
  readonly state?: boolean;
  readonly suggestions?: boolean;
}

export type ProtocolVersion = 1 | 2;

export interface InitializeOptions {
  readonly client: { readonly name: string; readonly title: string; readonly version: string };
  readonly capabilities: ClientCapabilities;
  readonly offer: ProtocolVersion;
}

/** `again`: a connection is initialized only once, so another version needs a restart. */
export type Initialized =
  | { readonly kind: 'ready'; readonly dialect: Dialect; readonly description: AgentDescription }
  | { readonly kind: 'again'; readonly offer: ProtocolVersion };

/** Error data `{requested, supported}` (section 3.2). */
const UNSUPPORTED_VERSION = -32022;

/**
 * Call once per connection, before anything else (sections 1.11, 3.2). An offer of 2 carries the
 * params of both versions: agents that route by version read those of 2, all others those of 1. If
 * it is answered with 1, our v1 capabilities may have been lost behind a router, so we offer 1
 * again.
 * @throws ParleyError `protocol-version` without a common version, `protocol-violation`; RpcError
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
  if (version !== 1 && version !== 2) throw unsupportedVersion(localizable('version {0}', version));
  if (version === 2 && offer === 1) return { kind: 'again', offer: 2 };
  if (version === 1 && offer === 2 && (capabilities.files || capabilities.terminals))
    return { kind: 'again', offer: 1 };
  // Droid echoes any offered version but speaks 1.
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

/** The highest common version of a refusal, or 1 if the agent did not understand v2. */
function otherOffer(error: unknown, offer: ProtocolVersion): Initialized {
  if (!(error instanceof RpcError)) throw error;
  if (error.code === RPC_CODES.invalidParams && offer === 2) return { kind: 'again', offer: 1 };
  if (error.code !== UNSUPPORTED_VERSION) throw error;
  const supported = at(error.data, 'supported');
  const versions = Array.isArray(supported) ? supported.filter((one) => typeof one === 'number') : [];
  const other = ([2, 1] as const).find((one) => one !== offer && versions.includes(one));
  if (other === undefined)
    throw unsupportedVersion(
      versions.length > 0 ? localizable('versions {0}', versions.join(', ')) : localizable('another version'),
    );
  return { kind: 'again', offer: other };
}

function unsupportedVersion(versions: Localizable): ParleyError {
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

/** Section 1.10. */
function capabilitiesV1(capabilities: ClientCapabilities): unknown {
  const { files, terminals, signInTerminal = false, state = false } = capabilities;
  return {
    fs: { readTextFile: files, writeTextFile: files },
    terminal: terminals,
    session: { configOptions: { boolean: {} }, notices: {}, compaction: {}, ...suggestionsOf(capabilities) },
    auth: { terminal: signInTerminal },
    elicitation: ELICITATION_CAPABILITY,
    plan: {},
    subagents: {},
    _meta: {
      ...ADVERTISED_V1,
      terminal_output: true,
      'terminal-auth': signInTerminal || undefined,
      ...(state && STATE_CAPABILITY),
    },
  };
}

/** Section 3.2. In v2, agents have their own files and terminals. */
function capabilitiesV2(capabilities: ClientCapabilities): unknown {
  return {
    ...(capabilities.signInTerminal && { auth: { terminal: {} } }),
    ...(capabilities.suggestions && { session: suggestionsOf(capabilities) }),
    elicitation: ELICITATION_CAPABILITY,
    _meta: { ...ADVERTISED_V2, ...(capabilities.state && STATE_CAPABILITY) },
  };
}

/** An object announces suggestions of text and links. */
function suggestionsOf({ suggestions }: ClientCapabilities): object {
  return suggestions ? { promptSuggestions: {} } : {};
}
