// Chooses the MCP servers that an agent gets: those of the kinds that it can connect to. Servers
// that are left out are reported.

import type { AgentFeatures, McpServer } from '../../acp/protocol/dialect';
import type { AgentDefinition } from '../../agents/agentDefinition';
import { Deferred } from '../../base/deferred';
import { messageOf } from '../../base/errors';
import { type LocalizableText, localizable } from '../../base/localizable';
import type { Log } from '../../base/log';

/** The servers for a session, and a sentence for each that cannot be used. */
export interface McpOffer {
  readonly servers: readonly McpServer[];
  readonly problems: readonly LocalizableText[];
}

/** Where the user's MCP servers come from. */
export interface McpServices {
  readonly log: Log;
  /** The MCP servers for a session; may ask the user. Rejects only where it is aborted. */
  readonly mcpServers?: (cwd: string, signal: AbortSignal, onAsking: (isAsking: boolean) => void) => Promise<McpOffer>;
}

export const NO_MCP_SERVERS: McpOffer = { servers: [], problems: [] };

/**
 * Leaves out what the agent cannot connect to (protocol.md 1.13): every agent takes stdio, the
 * other kinds only where it says so.
 */
export function handOver(offer: McpOffer, features: AgentFeatures, agent: string): McpOffer {
  const servers: McpServer[] = [];
  const problems = [...offer.problems];
  for (const server of offer.servers) {
    const fits = server.type === 'stdio' || (server.type === 'http' ? features.mcpHttp : features.mcpSse) !== undefined;
    if (fits) servers.push(server);
    else problems.push(localizable("{0}: {1} doesn't support MCP servers over {2}.", server.name, agent, server.type));
  }
  return { servers, problems };
}

/**
 * Asks for the servers while the agent starts; they may depend on answers of the user.
 * @param onAsking called when a question to the user opens or closes.
 * @returns the servers; none if aborted or failed. Never rejects.
 */
export function gatherMcp(
  { mcpServers, log }: McpServices,
  agent: AgentDefinition,
  cwd: string,
  signal: AbortSignal,
  onAsking: (isAsking: boolean) => void,
): Promise<McpOffer> {
  // The commands of this machine mean nothing on another one, and the keys that go with them are
  // not for it.
  if (!mcpServers || agent.type !== 'process') return Promise.resolve(NO_MCP_SERVERS);
  const given = new Deferred<McpOffer>();
  const giveUp = (): void => given.resolve(NO_MCP_SERVERS);
  signal.addEventListener('abort', giveUp, { once: true });
  mcpServers(cwd, signal, onAsking).then(
    (offer) => given.resolve(offer),
    (error: unknown) => {
      log.warn(`MCP servers: ${messageOf(error)}`);
      giveUp();
    },
  );
  return given.promise.finally(() => signal.removeEventListener('abort', giveUp));
}
