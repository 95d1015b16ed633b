// The v1 dialect: its session updates become session events. The only place, with v1Agent.ts, that knows v1's names.

import type {
  AvailableCommand,
  ConfigOption,
  ConfigValue,
  ContentBlock,
  SessionMode,
  ToolContent,
  ToolLocation,
  ToolStatus,
} from '../session/content';
import type { SessionEvent, ToolPatch } from '../session/event';
import { isForAgent } from './audience';
import { wordOf } from './capabilities';
import { terminalMeta } from './terminalMeta';
import { readUnstableUpdate } from './unstableUpdates';
import {
  configOptionSchema,
  contentBlockSchema,
  isToolUpdate,
  modelsSchema,
  modesSchema,
  type ToolUpdate,
  updateSchema,
  type V1Update,
} from './v1Schema';

/** Takes events as they are read; returning nothing keeps the hot path free of lists. */
export type EventSink = (event: SessionEvent) => void;

export type ModelOption = Extract<ConfigOption, { type: 'select' }>;

/** Bounds of lists that an agent sends whole. */
const MAX_ITEMS = 2000;

/**
 * Reads the `update` of one `session/update` notification (section 1.3) and emits its events in order.
 * An update that is not known, or whose fields do not fit, becomes an `unknown_update` with the raw value: shown, never dropped.
 * @returns a sentence for the log where it did not fit.
 */
export function readUpdate(update: unknown, emit: EventSink): string | undefined {
  if (isToolUpdate(update)) {
    emitTool(update, emit);
    return undefined;
  }
  const parsed = updateSchema.safeParse(update);
  if (parsed.success) {
    emitKnown(parsed.data, emit);
    return undefined;
  }
  if (readUnstableUpdate(update, emit)) return undefined;
  const name = nameOf(update);
  emit({ type: 'unknown_update', name, raw: update });
  return `session/update "${name}" is not understood: ${parsed.error.issues[0]?.message ?? 'unknown shape'}`;
}

function nameOf(update: unknown): string {
  if (typeof update === 'object' && update !== null && 'sessionUpdate' in update) {
    return wordOf(update.sessionUpdate).slice(0, 200);
  }
  return 'update without a name';
}

function emitKnown(update: V1Update, emit: EventSink): void {
  switch (update.sessionUpdate) {
    case 'agent_message_chunk':
      emitChunk('agent', update, emit);
      break;
    case 'agent_thought_chunk':
      emitChunk('thought', update, emit);
      break;
    case 'user_message_chunk':
      emitChunk('user', update, emit);
      break;
    case 'plan':
      emit({
        type: 'plan',
        planId: 'plan',
        entries: update.entries.slice(0, MAX_ITEMS).map(({ content, priority, status }) => ({
          content,
          status: status ?? 'pending',
          ...(priority && { priority }),
        })),
      });
      break;
    case 'available_commands_update':
      emit({ type: 'commands', commands: update.availableCommands.slice(0, MAX_ITEMS).map(toCommand) });
      break;
    case 'current_mode_update': {
      // The documentation says modeId, the schema currentModeId: agents send either.
      const current = update.currentModeId ?? update.modeId;
      if (current) emit({ type: 'mode', current });
      break;
    }
    case 'config_option_update':
      emit({ type: 'config', options: toConfigOptions(update.configOptions) });
      break;
    case 'session_info_update':
      emit({
        type: 'info',
        ...(update.title !== undefined && { title: update.title }),
        ...(update.updatedAt !== undefined && { updatedAt: update.updatedAt }),
      });
      break;
    case 'usage_update': {
      const { used, size, cost } = update;
      emit({ type: 'usage', usage: { used, size, ...(cost && { cost }) } });
      break;
    }
    case 'notice': {
      const { severity, title, description } = update;
      emit({ type: 'notice', severity, title, ...(description && { description }) });
      break;
    }
    case 'compaction_update':
      emit({
        type: 'compaction',
        compactionId: update.compactionId,
        ...(update.status && { status: update.status }),
        ...(update.summary !== undefined && { summary: plainText(update.summary ?? '') }),
        ...(update.error !== undefined && { error: plainText(update.error ?? '') }),
      });
      break;
    case 'compaction_summary_chunk':
      emit({ type: 'compaction', compactionId: update.compactionId, append: plainText(update.content) });
      break;
  }
}

function emitTool(update: ToolUpdate, emit: EventSink): void {
  const { toolCallId, sessionUpdate, _meta } = update;
  if (_meta != null) terminalMeta(_meta, emit);
  emit({ type: 'tool_call', toolCallId, patch: toToolPatch(update), announced: sessionUpdate === 'tool_call' });
}

function emitChunk(
  role: 'user' | 'agent' | 'thought',
  update: { content?: unknown; messageId?: string | null | undefined },
  emit: EventSink,
): void {
  const block = toBlock(update.content);
  // Omitted and null mean the same (section 1.3).
  if (update.messageId != null) emit({ type: 'message_chunk', role, messageId: update.messageId, block });
  else emit({ type: 'message_chunk', role, block });
}

/** Reads one content block (section 1.4); one of an unknown kind, or for the agent alone, is kept whole. */
export function toBlock(raw: unknown): ContentBlock {
  // Nearly everything that streams is this, so it is checked by hand.
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
  switch (block.type) {
    case 'text':
    case 'audio':
      return block;
    case 'image': {
      const { data, mimeType, uri } = block;
      return { type: 'image', data, mimeType, ...(uri && { uri }) };
    }
    case 'resource_link': {
      const { uri, name, title, mimeType, description } = block;
      return {
        type: 'resource_link',
        uri,
        name: name ?? uri,
        ...(title && { title }),
        ...(mimeType && { mimeType }),
        ...(description && { description }),
      };
    }
    case 'resource': {
      const { uri, text, blob, mimeType } = block.resource;
      return {
        type: 'resource',
        uri,
        ...(text != null && { text }),
        ...(blob && { blob }),
        ...(mimeType && { mimeType }),
      };
    }
  }
}

/** Reads the fields of a tool call (section 1.5). In v1 null means unchanged. */
export function toToolPatch(update: {
  title?: string | null | undefined;
  name?: string | null | undefined;
  kind?: string | null | undefined;
  status?: string | null | undefined;
  content?: readonly unknown[] | null | undefined;
  locations?: readonly unknown[] | null | undefined;
  rawInput?: unknown;
  rawOutput?: unknown;
}): ToolPatch {
  const { title, name, kind, status, content, locations, rawInput, rawOutput } = update;
  // Built up and not spread: floods of tool calls pass here.
  const patch: { -readonly [K in keyof ToolPatch]: ToolPatch[K] } = {};
  if (title != null) patch.title = title;
  if (name != null) patch.name = name;
  if (kind != null) patch.kind = kind;
  if (status != null) patch.status = toStatus(status);
  if (content != null) patch.content = bounded(content).map(toToolContent);
  if (locations != null) patch.locations = bounded(locations).reduce<ToolLocation[]>(addLocation, []);
  if (rawInput != null) patch.rawInput = rawInput;
  if (rawOutput != null) patch.rawOutput = rawOutput;
  return patch;
}

function bounded<T>(list: readonly T[]): readonly T[] {
  return list.length > MAX_ITEMS ? list.slice(0, MAX_ITEMS) : list;
}

function toStatus(status: string): ToolStatus {
  switch (status) {
    case 'pending':
    case 'in_progress':
    case 'completed':
    case 'failed':
    case 'cancelled':
    case 'paused':
      return status;
    default:
      return 'in_progress'; // a word we do not know is never an end
  }
}

function toToolContent(raw: unknown): ToolContent {
  const { type, content, path, oldText, newText, terminalId } = fieldsOf(raw);
  if (type === 'content') return { type, block: toBlock(content) };
  if (type === 'terminal' && typeof terminalId === 'string') return { type, terminalId };
  if (type === 'diff' && typeof path === 'string' && typeof newText === 'string') {
    if (typeof oldText === 'string') return { type, path, newText, oldText };
    if (oldText == null) return { type, path, newText };
  }
  // Some agents send a bare content block, as an example of the documentation does.
  const block = toBlock(raw);
  return block.type === 'unknown' && !block.forAgent ? block : { type: 'content', block };
}

/** Adds a location that can be one; its line only where there can be such a line. The schema allows 0, which can only mean the first one. */
function addLocation(locations: ToolLocation[], raw: unknown): ToolLocation[] {
  const { path, line } = fieldsOf(raw);
  if (typeof path === 'string')
    locations.push(Number.isInteger(line) && Number(line) >= 0 ? { path, line: Math.max(1, Number(line)) } : { path });
  return locations;
}

function fieldsOf(raw: unknown): Partial<Record<string, unknown>> {
  return typeof raw === 'object' && raw !== null ? raw : {};
}

function toCommand(command: {
  name: string;
  description?: string | null | undefined;
  input?: { hint?: string | null | undefined } | null | undefined;
}): AvailableCommand {
  const hint = command.input?.hint;
  return { name: command.name, description: command.description ?? '', ...(hint && { hint }) };
}

/** Reads the full list of config options (section 1.12) in the agent's order; kinds that are not known are left out, as the protocol says. */
export function toConfigOptions(raw: unknown): ConfigOption[] {
  if (!Array.isArray(raw)) return [];
  return raw.slice(0, MAX_ITEMS).flatMap((item): ConfigOption[] => {
    const parsed = configOptionSchema.safeParse(item);
    if (!parsed.success) return [];
    const option = parsed.data;
    const { id, name, description, category } = option;
    const base = { id, name: name ?? id, ...(description && { description }), ...(category && { category }) };
    if (option.type === 'boolean') return [{ ...base, type: 'boolean', value: option.currentValue }];
    const values = option.options.flatMap((entry): ConfigValue[] =>
      'group' in entry
        ? entry.options.map((value) => toConfigValue(value, entry.name ?? entry.group))
        : [toConfigValue(entry)],
    );
    return [{ ...base, type: 'select', value: option.currentValue, values }];
  });
}

function toConfigValue(
  entry: { value: string; name?: string | null | undefined; description?: string | null | undefined },
  group?: string,
): ConfigValue {
  const { value, name, description } = entry;
  return { value, name: name ?? value, ...(description && { description }), ...(group !== undefined && { group }) };
}

/** Reads `modes` of a session response; undefined where there are none. */
export function toModes(raw: unknown): { current: string; modes: SessionMode[] } | undefined {
  const parsed = modesSchema.safeParse(raw);
  if (!parsed.success || parsed.data.availableModes.length === 0) return undefined;
  const modes = parsed.data.availableModes.slice(0, MAX_ITEMS).map(({ id, name, description }) => ({
    id,
    name: name ?? id,
    ...(description && { description }),
  }));
  return { current: parsed.data.currentModeId, modes };
}

/** The id under which the models of {@link toModelOption} are an option; no agent has one of this name. */
export const MODEL_OPTION = 'session/set_model';

/** Reads `models` of a session response as an option of category `model`; undefined where there are none. */
export function toModelOption(raw: unknown): ModelOption | undefined {
  const parsed = modelsSchema.safeParse(raw);
  if (!parsed.success || parsed.data.availableModels.length === 0) return undefined;
  const { currentModelId: value, availableModels } = parsed.data;
  const values = availableModels
    .slice(0, MAX_ITEMS)
    .map(({ modelId, name, description }) => toConfigValue({ value: modelId, name, description }));
  // Some agents run a model that they do not list.
  if (!values.some((one) => one.value === value)) values.unshift({ value, name: value });
  return { type: 'select', id: MODEL_OPTION, name: 'Model', category: 'model', value, values };
}

/** The words in a text, a block or a list of blocks; a list in a list is none that the protocol has. */
function plainText(value: unknown): string {
  return Array.isArray(value) ? value.slice(0, MAX_ITEMS).map(wordsOf).join('') : wordsOf(value);
}

function wordsOf(value: unknown): string {
  if (typeof value === 'string') return value;
  const block = toBlock(value);
  if (block.type === 'text') return block.text;
  if (typeof value === 'object' && value !== null && 'message' in value) return wordOf(value.message);
  return `[${block.type === 'unknown' ? block.kind : block.type}]`;
}
