// Which tools an agent gets: the settings `parley.editorTools` and `parley.extensionTools`.

import { workspace } from 'vscode';
import type { AgentDefinition } from '../../agents/agentDefinition';
import { own } from '../../base/untrusted';
import { TOOL_NAMES, TOOLS, type ToolName } from '../../editorTools/tools';

const OTHERS = '*';

/** Agents on other machines get no tools unless they are named. */
export function allowedTools(agent: AgentDefinition): readonly ToolName[] {
  const allowed = settingOf(agent);
  if (allowed === 'all') return TOOL_NAMES;
  if (allowed === 'read') return TOOL_NAMES.filter((name) => TOOLS[name].effect === 'read');
  return Array.isArray(allowed) ? TOOL_NAMES.filter((name) => allowed.includes(name)) : [];
}

export function allowedExtensionTools(agent: AgentDefinition): readonly string[] {
  if (settingOf(agent) !== 'all') return [];
  const names = workspace.getConfiguration('parley').get<unknown>('extensionTools');
  return Array.isArray(names) ? names.filter((name) => typeof name === 'string') : [];
}

function settingOf({ id, type }: AgentDefinition): unknown {
  const setting = workspace.getConfiguration('parley').get<unknown>('editorTools');
  const record = typeof setting === 'object' && setting !== null ? (setting as Record<string, unknown>) : {};
  return own(record, id) ?? (type === 'process' ? (own(record, OTHERS) ?? 'all') : 'off');
}
