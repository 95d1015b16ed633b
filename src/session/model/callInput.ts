// Preserves the arguments of a tool call when the agent asks for permission: some agents stream
// them as the call's content, and replace that with a description when they ask.
import { objectOf } from '../../base/untrusted';
import type { ToolContent } from '../events/content';
import type { ToolPatch } from '../events/event';
import type { ToolEntry } from './state';

type Call = Pick<ToolEntry, 'content' | 'rawInput' | 'status'>;

/** Returns the patch, with the arguments that it would replace as the call's input. */
export function keepInput(call: Call, fields: ToolPatch, asks: boolean): ToolPatch {
  const { content, rawInput, ...others } = fields;
  // Content that is still arguments continues the stream.
  const isReplaced = content !== undefined && (content === null || argumentsIn(content) === undefined);
  const streamed = isReplaced ? argumentsIn(call.content) : undefined;
  const isInput = streamed !== undefined && call.rawInput === undefined && (asks || call.status === 'pending');
  const before = isInput ? streamed : call.rawInput;
  if (!asks) return isInput && rawInput === undefined ? { ...fields, rawInput: before } : fields;
  const earlier = isInput ? [] : call.content;
  return {
    ...others,
    content: content ? joined(earlier, content) : undefined,
    ...(rawInput != null ? { rawInput: merged(before, rawInput) } : isInput && { rawInput: before }),
  };
}

function argumentsIn(content: readonly ToolContent[]): unknown {
  let text = '';
  for (const part of content) {
    if (part.type !== 'content' || part.block.type !== 'text') return undefined;
    text += part.block.text;
  }
  const fenced = /^\s*```\w*\n([\s\S]*?)\n```\s*$/.exec(text)?.[1] ?? text;
  return /^\s*\{\s*(?:"|\}|$)/.test(fenced) ? objectOf(fenced) : undefined;
}

function joined(earlier: readonly ToolContent[], later: readonly ToolContent[]): readonly ToolContent[] {
  const known = new Set(later.map(nameOf));
  return [...earlier.filter((part) => !known.has(nameOf(part))), ...later];
}

function nameOf(part: ToolContent): string {
  return part.type === 'diff' ? `diff ${part.path}` : JSON.stringify(part);
}

function merged(earlier: unknown, later: unknown): unknown {
  const [before, after] = [objectOf(earlier), objectOf(later)];
  return isRecord(before) && isRecord(after) ? { ...before, ...after } : later;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
