// Opens a session although an agent rejects MCP servers: retries without the product's own server,
// which the user didn't ask for, then without any.
import { RPC_CODES, RpcError } from '../../acp/jsonrpc/rpcError';
import type { AgentDescription } from '../../acp/protocol/dialect';
import type { AgentDefinition } from '../../agents/agentDefinition';
import { localizable } from '../../base/localizable';
import type { Log } from '../../base/log';
import type { HandedOver } from './mcpOffer';
import { type Refused, ServerRefusals } from './serverRefusals';

const UNRELATED: ReadonlySet<number> = new Set([
  RPC_CODES.authRequired,
  RPC_CODES.resourceNotFound,
  RPC_CODES.methodNotFound,
  RPC_CODES.cancelled,
]);

export interface WithServers {
  readonly agent: AgentDefinition;
  readonly description: AgentDescription;
  readonly handed: HandedOver;
  readonly refusals: ServerRefusals;
  readonly log: Log;
  readonly hasEnded: (error: unknown) => boolean;
}

/** @throws the first error, if it also occurs without servers */
export async function openWithServers<T>(
  { agent, description, handed, refusals, log, hasEnded }: WithServers,
  open: (given: HandedOver) => Promise<T>,
): Promise<{ readonly opened: T; readonly given: HandedOver }> {
  const key = keyOf(agent, description);
  const users = handed.servers.filter((server) => server !== handed.own);
  const refused = refusals.refusedBy(key, users);
  const first = refused ? without(handed, refused, agent) : handed;
  const hasOwn = handed.own !== undefined && first.servers.includes(handed.own);
  try {
    const opened = await open(first);
    if (first.servers.length > 0) refusals.noteAccepted(key, first.servers, hasOwn);
    return { opened, given: first };
  } catch (error) {
    if (hasEnded(error)) refusals.noteExit(key, hasOwn);
    if (!(error instanceof RpcError) || UNRELATED.has(error.code)) throw error;
    const words = `${error.code} ${error.message}`;
    if (!refusals.mayExplain(key, first.servers, words)) throw error;
    for (const less of ['own', 'all'] as const) {
      const reduced = without(handed, less, agent);
      if (reduced.servers.length === first.servers.length || (less === 'all' && handed.own && users.length === 0))
        continue;
      log.warn(
        `${agent.name} opened no session: ${error.message} It is asked with ${reduced.servers.length} MCP servers.`,
      );
      const again = await opens(() => open(reduced));
      if (again.error instanceof RpcError && again.error.code !== RPC_CODES.authRequired) continue;
      refusals.noteRefusal(key, users, less);
      if ('opened' in again) return { opened: again.opened as T, given: reduced };
      throw again.error;
    }
    refusals.noteUnrelated(key, words);
    throw error;
  }
}

/** Returns whether the agent may have ended because of our own server; it is started again. */
export function endsWithOwn(
  services: { readonly serverRefusals?: ServerRefusals; readonly log: Log },
  agent: AgentDefinition,
  description: AgentDescription,
): boolean {
  const isNew = refusalsOf(services).takeSuspicion(keyOf(agent, description));
  if (isNew) services.log.warn(`${agent.name} is started again without Parley's own MCP server.`);
  return isNew;
}

function keyOf({ id }: AgentDefinition, { version = '' }: AgentDescription): string {
  return `${id}@${version}`;
}

async function opens<T>(
  open: () => Promise<T>,
): Promise<{ readonly opened: T; readonly error?: never } | { readonly error: unknown }> {
  try {
    return { opened: await open() };
  } catch (error) {
    return { error };
  }
}

function without({ servers, own, problems }: HandedOver, refused: Refused, agent: AgentDefinition): HandedOver {
  const users = servers.filter((server) => server !== own);
  if (refused === 'own') return { servers: users, problems };
  const lost = users.map(({ name }) => localizable('{0}: {1} opens no session with this server.', name, agent.name));
  return { servers: [], problems: [...problems, ...lost] };
}

const inMemory = new WeakMap<object, ServerRefusals>();

export function refusalsOf(services: { readonly serverRefusals?: ServerRefusals }): ServerRefusals {
  const refusals = services.serverRefusals ?? inMemory.get(services) ?? new ServerRefusals();
  inMemory.set(services, refusals);
  return refusals;
}
