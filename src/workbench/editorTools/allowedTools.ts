// Which tools an agent gets: the setting `parley.editorTools`.

import { workspace } from 'vscode';
import type { AgentDefinition } from '../../agents/agentDefinition';
import { own } from '../../base/untrusted';
import { TOOL_NAMES, TOOLS, type ToolName } from '../../editorTools/tools';

/** The key for agents that have none of their own. */
const OTHERS = '*';

/**
 * Returns the tools that the user allows an agent. Agents on other machines get none unless they are
 * named.
 */
export function allowedTools({ id, type }: AgentDefinition): readonly ToolName[] {
  const setting = workspace.getConfiguration('parley').get<unknown>('editorTools');
  const record = typeof setting === 'object' && setting !== null ? (setting as Record<string, unknown>) : {};
  const allowed = own(record, id) ?? (type === 'process' ? (own(record, OTHERS) ?? 'all') : 'off');
  if (allowed === 'all') return TOOL_NAMES;
  if (allowed === 'read') return TOOL_NAMES.filter((name) => TOOLS[name].effect === 'read');
  return Array.isArray(allowed) ? TOOL_NAMES.filter((name) => allowed.includes(name)) : [];
}
