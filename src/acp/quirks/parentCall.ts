// The call that started the subagent that an update comes from. Some agents report what a subagent
// does in the session of its parent, and only a mark in `_meta` tells it from their own work.
import { at } from '../../base/untrusted';
import type { ToolPatch } from '../../session/events/event';

const MAX_ID = 1000;

/**
 * Returns the id of the call that started the subagent: claude-agent-acp and its relatives name it
 * in `claudeCode.parentToolUseId`, qwen-code in `parentToolCallId`; undefined for the agent's own
 * work.
 */
export function parentCallOf(meta: unknown): string | undefined {
  if (typeof meta !== 'object' || meta === null) return undefined;
  const id = at(meta, 'claudeCode', 'parentToolUseId') ?? at(meta, 'parentToolCallId');
  return typeof id === 'string' && id !== '' && id.length <= MAX_ID ? id : undefined;
}

export function withParent(patch: ToolPatch, meta: unknown): ToolPatch {
  const parent = parentCallOf(meta);
  return parent === undefined ? patch : { ...patch, parent };
}
