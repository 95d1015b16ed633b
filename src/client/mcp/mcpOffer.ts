// Chooses the MCP servers that an agent gets: those of the kinds that it supports. Reports the
// rest.

import type { AgentFeatures, McpServer } from '../../acp/protocol/dialect';
import type { AgentDefinition } from '../../agents/agentDefinition';
import { Deferred } from '../../base/deferred';
import { messageOf } from '../../base/errors';
import { type LocalizableText, localizable } from '../../base/localizable';
import type { Log } from '../../base/log';
import type { EditorTools, ToolGrant, ToolSession } from './editorTools';
import type { ServerRefusals } from './serverRefusals';

export interface McpOffer {
  readonly servers: readonly McpServer[];
  readonly problems: readonly LocalizableText[];
  readonly tools?: ToolGrant | undefined;
}

export interface HandedOver extends McpOffer {
  readonly own?: McpServer | undefined;
}

export interface McpServices {
  readonly log: Log;
  /** May ask the user. Rejects only if aborted. */
  readonly mcpServers?: (cwd: string, signal: AbortSignal, onAsking: (isAsking: boolean) => void) => Promise<McpOffer>;
  readonly editorTools?: EditorTools;
  readonly serverRefusals?: ServerRefusals;
}

export const NO_MCP_SERVERS: McpOffer = { servers: [], problems: [] };

/** Omits what the agent can't connect to (protocol.md 1.13); stdio is always supported. */
export function handOver(offer: McpOffer, features: AgentFeatures, agent: AgentDefinition): HandedOver {
  const servers: McpServer[] = [];
  const problems = [...offer.problems];
  const tools = offer.tools && toolsServer(offer.tools, features, agent);
  // A user's server of this name takes precedence.
  const own = tools && offer.servers.every(({ name }) => name !== tools.name) ? tools : undefined;
  if (own) servers.push(own);
  for (const server of offer.servers) {
    if (isReachable(server, features)) servers.push(server);
    else
      problems.push(
        localizable("{0}: {1} doesn't support MCP servers over {2}.", server.name, agent.name, server.type),
      );
  }
  return { servers, problems, own, tools: own && offer.tools };
}

/** Nothing is reported if the agent can't have the tools: the user didn't ask for them. */
function toolsServer(
  { program, overAcp }: ToolGrant,
  features: AgentFeatures,
  agent: AgentDefinition,
): McpServer | undefined {
  if (features.mcpAcp) return overAcp;
  return agent.type === 'process' ? program : undefined;
}

function isReachable({ type }: McpServer, { mcpHttp, mcpSse, mcpAcp }: AgentFeatures): boolean {
  const needed = { stdio: {}, http: mcpHttp, sse: mcpSse, acp: mcpAcp };
  return needed[type] !== undefined;
}

/** Never rejects. @param onAsking called when a question opens or closes */
export async function gatherMcp(
  services: McpServices,
  agent: AgentDefinition,
  cwd: string,
  session: ToolSession,
  signal: AbortSignal,
  onAsking: (isAsking: boolean) => void,
): Promise<McpOffer> {
  const granted = services.editorTools?.grant(agent, session).catch((error: unknown) => {
    services.log.warn(`editor tools: ${messageOf(error)}`);
    return undefined;
  });
  const offer = await gatherServers(services, agent, cwd, signal, onAsking);
  const tools = await granted;
  if (!tools) return offer;
  if (!signal.aborted) return { ...offer, tools };
  tools.dispose();
  return offer;
}

function gatherServers(
  { mcpServers, log }: McpServices,
  agent: AgentDefinition,
  cwd: string,
  signal: AbortSignal,
  onAsking: (isAsking: boolean) => void,
): Promise<McpOffer> {
  // Commands and keys of this machine don't fit another one.
  if (!mcpServers || agent.type !== 'process') return Promise.resolve(NO_MCP_SERVERS);
  const offered = new Deferred<McpOffer>();
  const giveUp = (): void => offered.resolve(NO_MCP_SERVERS);
  signal.addEventListener('abort', giveUp, { once: true });
  mcpServers(cwd, signal, onAsking).then(
    (offer) => offered.resolve(offer),
    (error: unknown) => {
      log.warn(`MCP servers: ${messageOf(error)}`);
      giveUp();
    },
  );
  return offered.promise.finally(() => signal.removeEventListener('abort', giveUp));
}
