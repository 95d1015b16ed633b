// Converts v2 session updates to session events; those shared with v1 are in v1Events.ts. Only this
// file and v2Agent.ts know v2's names.

import { StringDecoder } from 'node:string_decoder';
import * as z from 'zod/mini';
import { at, isMarked } from '../../base/untrusted';
import type { AvailableCommand, ConfigOption, ToolContent } from '../../session/events/content';
import type { SessionEvent, ToolPatch } from '../../session/events/event';
import { applyLifecycle } from '../proposals/promptLifecycle';
import type { UpdateTargets } from '../protocol/dialect';
import { readDiff } from '../protocol/gitPatch';
import {
  type EventSink,
  emitCall,
  MAX_ITEMS,
  sessionIn,
  toBlock,
  toConfigOptions,
  toToolPatch,
} from '../protocol/readContent';
import { permissionOptionsSchema, TOOL_FIELDS, word } from '../protocol/sharedSchema';
import { terminalMeta } from '../protocol/terminalMeta';
import { readMergingText } from '../protocol/textRuns';
import { withParent } from '../quirks/parentCall';
import { readUpdate as readSharedUpdate } from '../v1/v1Events';

const CLEARABLE = ['title', 'name', 'kind', 'status', 'content', 'locations', 'rawInput', 'rawOutput'] as const;

/**
 * Section 3.4, after {@link applyUpdates} has handled states, whole messages, terminals and
 * barriers. Unknown or invalid updates are shown raw as `unknown_update`. Returns a warning for the
 * log.
 */
export function readUpdate(update: unknown, emit: EventSink): string | undefined {
  const events = readV2Update(update);
  if (!events) return readSharedUpdate(update, emit);
  for (const event of events) emit(event);
  return undefined;
}

function readV2Update(update: unknown): readonly SessionEvent[] | undefined {
  switch (at(update, 'sessionUpdate')) {
    case 'tool_call_update':
      return readToolUpdate(update);
    case 'tool_call_content_chunk': {
      const parsed = contentChunkSchema.safeParse(update);
      if (!parsed.success) return undefined;
      const { toolCallId, content } = parsed.data;
      return toToolContents(content).map((part): SessionEvent => {
        const sessionId = sessionIn(part);
        if (sessionId !== undefined) return { type: 'subagent', sessionId, parent: toolCallId };
        return { type: 'tool_content', toolCallId, part };
      });
    }
    case 'available_commands_update': {
      const commands = at(update, 'availableCommands');
      return Array.isArray(commands) ? [{ type: 'commands', commands: toCommands(commands) }] : undefined;
    }
    case 'config_option_update': {
      const options = at(update, 'configOptions');
      return Array.isArray(options) ? [{ type: 'config', options: toOptions(options) }] : undefined;
    }
    default:
      return undefined;
  }
}

function readToolUpdate(update: unknown): readonly SessionEvent[] | undefined {
  const parsed = toolUpdateSchema.safeParse(update);
  if (!parsed.success) return undefined;
  const { toolCallId, _meta } = parsed.data;
  const events: SessionEvent[] = [];
  const emit: EventSink = (event) => void events.push(event);
  terminalMeta(_meta, emit);
  emitCall({ type: 'tool_call', toolCallId, patch: toPatch(parsed.data), announced: false }, emit);
  return events;
}

export function readToolCall(raw: unknown): { readonly toolCallId: string; readonly patch: ToolPatch } | undefined {
  const parsed = toolUpdateSchema.safeParse(raw);
  return parsed.success ? { toolCallId: parsed.data.toolCallId, patch: toPatch(parsed.data) } : undefined;
}

function toPatch(
  fields: {
    [K in (typeof CLEARABLE)[number]]?: unknown;
  } & Parameters<typeof toToolPatch>[0] & { capabilities?: unknown; _meta?: unknown },
): ToolPatch {
  const { content, capabilities, _meta } = fields;
  const cleared = CLEARABLE.filter((name) => fields[name] === null).map((name) => [name, null]);
  return {
    // Contents differ from v1 and are read below.
    ...withParent(toToolPatch({ ...fields, content: undefined }), _meta),
    ...(content && { content: content.slice(0, MAX_ITEMS).flatMap(toToolContents) }),
    ...Object.fromEntries(cleared),
    ...(capabilities !== undefined && { canCancel: isMarked(at(capabilities, 'cancel')) }),
  };
}

function toToolContents(raw: unknown): readonly ToolContent[] {
  const type = at(raw, 'type');
  const terminalId = at(raw, 'terminalId');
  if (type === 'diff' && Array.isArray(at(raw, 'changes'))) return readDiff(raw);
  if (type === 'content') return [{ type, block: toBlock(at(raw, 'content')) }];
  if (type === 'terminal' && typeof terminalId === 'string') return [{ type, terminalId }];
  const block = toBlock(raw);
  return [block.type === 'unknown' && !block.forAgent ? block : { type: 'content', block }];
}

/** Drops unknown kinds of commands, which can't be typed. */
export function toCommands(raw: unknown): AvailableCommand[] {
  if (!Array.isArray(raw)) return [];
  return raw.slice(0, MAX_ITEMS).flatMap((entry): AvailableCommand[] => {
    const [type, name, description] = [at(entry, 'type'), at(entry, 'name'), at(entry, 'description')];
    const hint = at(entry, 'input', 'hint');
    if (typeof name !== 'string' || (type !== undefined && type !== 'command')) return [];
    return [
      {
        name,
        description: typeof description === 'string' ? description : '',
        hint: typeof hint === 'string' && hint !== '' ? hint : undefined,
      },
    ];
  });
}

export function toOptions(raw: unknown): ConfigOption[] {
  if (!Array.isArray(raw)) return [];
  return toConfigOptions(
    raw.slice(0, MAX_ITEMS).map((option) => {
      const values = at(option, 'options');
      const groups = Array.isArray(values) ? values.map((value) => renamed(value, 'groupId', 'group')) : undefined;
      return { ...renamed(option, 'configId', 'id'), ...(groups && { options: groups }) };
    }),
  );
}

function renamed(raw: unknown, from: string, to: string): Record<string, unknown> {
  const value = at(raw, from);
  return { ...(raw as Record<string, unknown>), ...(value !== undefined && { [to]: value }) };
}

/** Never throws. */
export function applyUpdates(updates: readonly unknown[], terminals: V2Terminals, targets: UpdateTargets): void {
  readMergingText(updates, targets.emit, (update) => {
    if (applyLifecycle(update, targets)) return;
    const terminal = terminals.read(update);
    if (terminal) {
      targets.emit(terminal);
      return;
    }
    const problem = readUpdate(update, targets.emit);
    if (problem !== undefined) targets.log.warn(problem);
  });
}

const text = z.string();
const optionalText = z.nullish(z.string());

const toolUpdateSchema = z.object({
  ...TOOL_FIELDS,
  capabilities: z.catch(z.nullish(z.object({ cancel: z.optional(z.unknown()) })), undefined),
});

const contentChunkSchema = z.object({ toolCallId: text, content: z.unknown() });

const terminalUpdateSchema = z.object({
  terminalId: text,
  command: optionalText,
  cwd: optionalText,
  output: z.nullish(z.object({ data: text })),
  exitStatus: z.nullish(
    z.object({
      exitCode: z.pipe(
        z.nullish(z.number()),
        z.transform((code) => code ?? undefined),
      ),
      signal: word,
    }),
  ),
});

const terminalChunkSchema = z.object({ terminalId: text, data: text });

export const permissionRequestSchema = z.object({
  title: text,
  description: word,
  subject: z.catch(z.nullish(z.looseObject({ type: text })), null),
  options: permissionOptionsSchema,
});

export const commandSubjectSchema = z.object({ command: text, cwd: word, toolCallId: word });

/** Dropping the oldest corrupts at most one character. */
const MAX_DECODERS = 500;

/** Output is base64 in pieces that may split characters. One instance per session stream. */
export class V2Terminals {
  readonly #decoders = new Map<string, StringDecoder>();

  read(update: unknown): SessionEvent | undefined {
    switch (at(update, 'sessionUpdate')) {
      case 'terminal_output_chunk': {
        const parsed = terminalChunkSchema.safeParse(update);
        if (!parsed.success) return undefined;
        const { terminalId, data } = parsed.data;
        return { type: 'terminal', terminalId, append: this.#decode(terminalId, data) };
      }
      case 'terminal_update':
        return this.#update(update);
      default:
        return undefined;
    }
  }

  #update(update: unknown): SessionEvent | undefined {
    const parsed = terminalUpdateSchema.safeParse(update);
    if (!parsed.success) return undefined;
    const { terminalId, command, cwd, output, exitStatus } = parsed.data;
    if (output !== undefined) this.#decoders.delete(terminalId);
    const text = output ? this.#decode(terminalId, output.data) : '';
    // An incomplete last character.
    const rest = exitStatus ? this.#end(terminalId) : '';
    const capabilities = at(update, 'capabilities');
    return {
      type: 'terminal',
      terminalId,
      canCancel: capabilities !== undefined ? isMarked(at(capabilities, 'cancel')) : undefined,
      command: command !== undefined ? (command ?? '') : undefined,
      cwd: cwd !== undefined ? (cwd ?? '') : undefined,
      ...(output !== undefined ? { output: text + rest } : rest !== '' && { append: rest }),
      exit: exitStatus,
    };
  }

  #decode(terminalId: string, data: string): string {
    let decoder = this.#decoders.get(terminalId);
    if (!decoder) {
      decoder = new StringDecoder('utf8');
      this.#decoders.set(terminalId, decoder);
      const [oldest] = this.#decoders.keys();
      if (this.#decoders.size > MAX_DECODERS && oldest !== undefined) this.#decoders.delete(oldest);
    }
    return decoder.write(Buffer.from(data, 'base64'));
  }

  #end(terminalId: string): string {
    const rest = this.#decoders.get(terminalId)?.end() ?? '';
    this.#decoders.delete(terminalId);
    return rest;
  }
}
