// Failures of MCP servers as agents report them; the protocol has no way to. claude-agent-acp sends
// a notice, or a message marked in `_meta` to clients without notices. codex-acp reports a failed
// tool call that the model never made.
import { at } from '../../base/untrusted';

export interface McpReport {
  /** The agent's name for it, without white space. */
  readonly server: string;
  readonly state: 'failed' | 'needsSignIn';
  readonly reason: string;
}

const MAX_NAME = 200;
const MAX_REASON = 500;
const NOTICE = /^MCP server "(.+)" (failed to start|needs authentication)$/;
/** Name, then a UUID. */
const CALL = /^mcp_startup\.(.+)\.[\w-]+$/;

export function mcpReportOf(update: unknown): McpReport | undefined {
  switch (at(update, 'sessionUpdate')) {
    case 'notice': {
      const [, server, what] = NOTICE.exec(textOf(at(update, 'title'))) ?? [];
      return reportOf(server, what === 'needs authentication', at(update, 'description'));
    }
    case 'agent_message_chunk': {
      const mark = at(update, '_meta', 'claudeCode');
      if (at(mark, 'kind') !== 'mcpServerStatus') return undefined;
      const text = at(update, 'content', 'text');
      return reportOf(textOf(at(mark, 'server')), at(mark, 'status') === 'needs-auth', text);
    }
    case 'tool_call':
    case 'tool_call_update': {
      const [, server] = CALL.exec(textOf(at(update, 'toolCallId'))) ?? [];
      const content = server === undefined ? undefined : at(update, 'content');
      const text = Array.isArray(content) ? at(content[0], 'content', 'text') : undefined;
      return reportOf(server && decoded(server), false, textOf(text).replace(/^\[codex-acp[^\]]*\] /, ''));
    }
    default:
      return undefined;
  }
}

/** The form of a server's name in agents' own lists and tool names. */
export function agentServerName(name: string): string {
  return name.replace(/\s/gu, '_');
}

function reportOf(server: string | undefined, needsSignIn: boolean, reason: unknown): McpReport | undefined {
  if (!server || server.length > MAX_NAME) return undefined;
  const state = needsSignIn ? 'needsSignIn' : 'failed';
  return { server: agentServerName(server), state, reason: textOf(reason).slice(0, MAX_REASON) };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
