// Reads content blocks, tool calls and config options, shared by both protocol versions (sections
// 1.4, 1.5, 1.12), into types of the session model.

import { at, objectOf, wordOf } from '../../base/untrusted';
import type {
  ConfigOption,
  ConfigValue,
  ContentBlock,
  ToolContent,
  ToolLocation,
  ToolStatus,
} from '../../session/events/content';
import type { EventOf, SessionEvent, ToolPatch } from '../../session/events/event';
import { pathOfFileAddress } from './fileAddress';
import { configOptionSchema, contentBlockSchema } from './sharedSchema';

export type EventSink = (event: SessionEvent) => void;

export const MAX_ITEMS = 2000;

/** Section 1.4. Unknown kinds and those for the agent alone are preserved whole. */
export function toBlock(raw: unknown): ContentBlock {
  // Nearly all streamed content takes this path, so it avoids the schema.
  const { type, text, annotations } = (raw ?? {}) as Partial<Record<string, unknown>>;
  if (annotations != null && isForAgent(annotations)) {
    return {
      type: 'unknown',
      kind: wordOf(type).slice(0, 100),
      raw: typeof text === 'string' ? text : raw,
      forAgent: true,
    };
  }
  if (type === 'text' && typeof text === 'string') return { type, text };
  const parsed = contentBlockSchema.safeParse(raw);
  if (!parsed.success) {
    const kind = typeof raw === 'object' && raw !== null && 'type' in raw ? wordOf(raw.type).slice(0, 100) : 'content';
    return { type: 'unknown', kind, raw };
  }
  const block = parsed.data;
  if (block.type === 'resource_link') return { ...block, name: block.name ?? block.uri };
  return block.type === 'resource' ? { type: 'resource', ...block.resource } : block;
}

export function plainText(value: unknown): string {
  return Array.isArray(value) ? value.slice(0, MAX_ITEMS).map(textOf).join('') : textOf(value);
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  const block = toBlock(value);
  if (block.type === 'text') return block.text;
  if (typeof value === 'object' && value !== null && 'message' in value) return wordOf(value.message);
  return `[${block.type === 'unknown' ? block.kind : block.type}]`;
}

/** Section 1.5. In v1, null means unchanged. */
export function toToolPatch(update: {
  title?: string | null;
  name?: string | null;
  kind?: string | null;
  status?: string | null;
  content?: readonly unknown[] | null;
  locations?: readonly unknown[] | null;
  rawInput?: unknown;
  rawOutput?: unknown;
}): ToolPatch {
  const { title, name, kind, status, content, locations, rawInput, rawOutput } = update;
  // Assigned rather than spread, because floods of tool calls pass here.
  const patch: { -readonly [K in keyof ToolPatch]: ToolPatch[K] } = {};
  if (title != null) patch.title = title;
  if (name != null) patch.name = name;
  if (kind != null) patch.kind = kind;
  if (status != null) patch.status = toStatus(status);
  if (content != null) patch.content = bounded(content).map(toToolContent);
  if (locations != null) patch.locations = bounded(locations).reduce<ToolLocation[]>(addLocation, []);
  // Some agents send their arguments as JSON text.
  if (rawInput != null) patch.rawInput = objectOf(rawInput);
  if (rawOutput != null) patch.rawOutput = rawOutput;
  return patch;
}

/** Emits a tool call. Sessions in its content (`{type: "session"}`) are its subagents. */
export function emitCall(call: EventOf<'tool_call'>, emit: EventSink): void {
  const { toolCallId, patch } = call;
  const { content } = patch;
  const sessions = content?.flatMap((part) => sessionIn(part) ?? []) ?? [];
  if (sessions.length === 0) emit(call);
  else emit({ ...call, patch: { ...patch, content: content?.filter((part) => sessionIn(part) === undefined) } });
  for (const sessionId of sessions) emit({ type: 'subagent', sessionId, parent: toolCallId });
}

export function sessionIn(part: ToolContent): string | undefined {
  const sessionId = part.type === 'unknown' && part.kind === 'session' ? at(part.raw, 'sessionId') : undefined;
  return typeof sessionId === 'string' ? sessionId : undefined;
}

function bounded<T>(list: readonly T[]): readonly T[] {
  return list.length > MAX_ITEMS ? list.slice(0, MAX_ITEMS) : list;
}

const STATUSES: ReadonlySet<string> = new Set([
  'pending',
  'in_progress',
  'completed',
  'failed',
  'cancelled',
  'paused',
] satisfies ToolStatus[]);

/** Unknown words are never final. */
function toStatus(status: string): ToolStatus {
  return STATUSES.has(status) ? (status as ToolStatus) : 'in_progress';
}

function toToolContent(raw: unknown): ToolContent {
  const { type, content, path, oldText, newText, terminalId, _meta } = objectFields(raw);
  if (type === 'content') return { type, block: toBlock(content) };
  if (type === 'terminal' && typeof terminalId === 'string') return { type, terminalId };
  if (type === 'diff' && typeof path === 'string') {
    const diff = toDiff(pathOfFileAddress(path), oldText, newText, at(_meta, 'kind'));
    if (diff) return diff;
  }
  // Some agents send a bare content block, like an example in the documentation.
  const block = toBlock(raw);
  return block.type === 'unknown' && !block.forAgent ? block : { type: 'content', block };
}

function toDiff(path: string, oldText: unknown, newText: unknown, kind: unknown): ToolContent | undefined {
  const isDeleted = kind === 'delete' || newText === null;
  const [before, after] = [oldText ?? undefined, isDeleted ? '' : newText];
  if ((before !== undefined && typeof before !== 'string') || typeof after !== 'string') return undefined;
  const old = isDeleted && before === undefined && typeof newText === 'string' ? newText : before;
  return { type: 'diff', path, newText: after, oldText: old, operation: isDeleted ? 'delete' : undefined };
}

function addLocation(locations: ToolLocation[], raw: unknown): ToolLocation[] {
  const { path: named, line } = objectFields(raw);
  const path = typeof named === 'string' ? pathOfFileAddress(named) : undefined;
  if (path !== undefined)
    locations.push(Number.isInteger(line) && Number(line) >= 0 ? { path, line: Math.max(1, Number(line)) } : { path });
  return locations;
}

function objectFields(raw: unknown): Partial<Record<string, unknown>> {
  return typeof raw === 'object' && raw !== null ? raw : {};
}

/** Section 1.12. Unknown kinds are dropped, as the protocol requires. */
export function toConfigOptions(raw: unknown): ConfigOption[] {
  if (!Array.isArray(raw)) return [];
  return raw.slice(0, MAX_ITEMS).flatMap((item): ConfigOption[] => {
    const parsed = configOptionSchema.safeParse(item);
    if (!parsed.success) return [];
    const option = parsed.data;
    const { id, name, description, category } = option;
    const base = { id, name: name ?? id, description, category };
    if (option.type === 'boolean') return [{ ...base, type: 'boolean', value: option.currentValue }];
    const values = option.options.flatMap((entry): ConfigValue[] =>
      'group' in entry
        ? entry.options.map((value) => toConfigValue(value, entry.name ?? entry.group))
        : [toConfigValue(entry)],
    );
    return [{ ...base, type: 'select', value: option.currentValue, values }];
  });
}

export function toConfigValue(
  entry: { value: string; name?: string | null; description?: string },
  group?: string,
): ConfigValue {
  const { value, name, description } = entry;
  return { value, name: name ?? value, description, group };
}

/** Whether the assistant is the only audience. */
export function isForAgent(annotations: unknown): boolean {
  const audience = at(annotations, 'audience');
  return Array.isArray(audience) && audience.includes('assistant') && !audience.includes('user');
}
