// The MCP servers of a session: what its agent reported, and whether it used them.
import { agentServerName, mcpReportOf } from '../../acp/quirks/mcpReports';
import { head } from '../../base/text';
import type { SessionState, ToolEntry } from '../../session/model/state';
import type { AgentLink } from '../ports/agentLink';

export type ServerState =
  | { readonly kind: 'failed' | 'needsSignIn'; readonly reason: string }
  | { readonly kind: 'connected'; readonly tools?: number }
  /** The agent reports nothing. */
  | { readonly kind: 'unknown' };

const MAX_TITLE = 300;
const MAX_REPORTS = 200;

export function serverStates(
  link: Pick<AgentLink, 'given' | 'mcpReports'>,
  { entries }: Pick<Readonly<SessionState>, 'entries'>,
): ReadonlyMap<string, ServerState> {
  const calls = entries.filter((entry) => entry.kind === 'tool' && entry.status === 'completed') as ToolEntry[];
  const states = (link.given?.servers ?? []).map(({ name }): [string, ServerState] => {
    const { tools } = link.given ?? {};
    const isOurs = tools?.program.name === name;
    if (isOurs && tools.listed !== undefined) return [name, { kind: 'connected', tools: tools.listed }];
    const asked = agentServerName(name);
    const report = link.mcpReports?.get(asked);
    const isUsed = calls.some((call) => (call.endedAt ?? call.at) > (report?.at ?? 0) && isOf(call, asked));
    if (isUsed) return [name, { kind: 'connected' }];
    return [name, report ? { kind: report.state, reason: report.reason } : { kind: 'unknown' }];
  });
  return new Map(states);
}

export function noteServers(link: Pick<AgentLink, 'mcpReports'>, updates: readonly unknown[], now: number): void {
  for (const update of updates) {
    const report = mcpReportOf(update);
    if (!report) continue;
    link.mcpReports ??= new Map();
    if (link.mcpReports.size < MAX_REPORTS) link.mcpReports.set(report.server, { ...report, at: now });
  }
}

/** `mcp__files__read`, `mcp.files.read`, `read (files MCP Server)`. */
function isOf({ name = '', title }: ToolEntry, server: string): boolean {
  return [name, title].some((whole) => {
    const text = head(whole, MAX_TITLE);
    const isCall = text.startsWith(`mcp__${server}__`) || text.startsWith(`mcp.${server}.`);
    return isCall || /\((.+) MCP Server\)/.exec(text)?.[1] === server;
  });
}
