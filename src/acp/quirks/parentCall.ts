// Finds the tool call that started a subagent. Some agents report a subagent's work in the parent
// session, marked only in `_meta`.
import { at } from '../../base/untrusted';
import type { ToolPatch } from '../../session/events/event';

const MAX_ID = 1000;

/** claude-agent-acp uses `claudeCode.parentToolUseId`, qwen-code uses `parentToolCallId`. */
export function parentCallOf(meta: unknown): string | undefined {
  if (typeof meta !== 'object' || meta === null) return undefined;
  const id = at(meta, 'claudeCode', 'parentToolUseId') ?? at(meta, 'parentToolCallId');
  return typeof id === 'string' && id !== '' && id.length <= MAX_ID ? id : undefined;
}

export function withParent(patch: ToolPatch, meta: unknown): ToolPatch {
  const parent = parentCallOf(meta);
  return parent === undefined ? patch : { ...patch, parent };
}
