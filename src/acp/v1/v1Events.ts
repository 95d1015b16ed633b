// Converts v1 session updates to session events. Only this file and v1Agent.ts know v1's names.

import * as l10n from '@vscode/l10n';
import * as z from 'zod/mini';
import { at, isMarked, wordOf } from '../../base/untrusted';
import type { AvailableCommand, ConfigOption, SessionMode } from '../../session/events/content';
import type { SessionEvent } from '../../session/events/event';
import { applyLifecycle } from '../proposals/promptLifecycle';
import { suggestedPrompt } from '../proposals/promptSuggestions';
import type { UpdateTargets } from '../protocol/dialect';
import {
  type EventSink,
  emitCall,
  MAX_ITEMS,
  plainText,
  toBlock,
  toConfigOptions,
  toConfigValue,
  toToolPatch,
} from '../protocol/readContent';
import { word } from '../protocol/sharedSchema';
import { terminalMeta } from '../protocol/terminalMeta';
import { readMergingText } from '../protocol/textRuns';
import { parentCallOf, withParent } from '../quirks/parentCall';
import { rateLimitsOf } from '../quirks/rateLimits';
import { isToolUpdate, modelsSchema, modesSchema, type ToolUpdate, updateSchema, type V1Update } from './v1Schema';

export type ModelOption = Extract<ConfigOption, { type: 'select' }>;

/**
 * Section 1.3. Unknown or invalid updates are shown raw as `unknown_update`. Returns a warning for
 * the log.
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
  if (readPlanOrSubagent(update, emit)) return undefined;
  const name = updateName(update);
  emit({ type: 'unknown_update', name, raw: update });
  return `session/update "${name}" is not understood: ${parsed.error.issues[0]?.message ?? 'unknown shape'}`;
}

function updateName(update: unknown): string {
  if (typeof update === 'object' && update !== null && 'sessionUpdate' in update) {
    return wordOf(update.sessionUpdate).slice(0, 200);
  }
  return 'update without a name';
}

const ROLES = { agent_message_chunk: 'agent', agent_thought_chunk: 'thought', user_message_chunk: 'user' } as const;

function emitKnown(update: V1Update, emit: EventSink): void {
  switch (update.sessionUpdate) {
    case 'agent_message_chunk':
    case 'agent_thought_chunk':
    case 'user_message_chunk': {
      const { sessionUpdate, content, messageId, _meta } = update;
      const role = ROLES[sessionUpdate];
      emit({ type: 'message_chunk', role, messageId, block: toBlock(content), parent: parentCallOf(_meta) });
      break;
    }
    case 'plan':
      emit({ type: 'plan', planId: 'plan', entries: update.entries.slice(0, MAX_ITEMS) });
      break;
    case 'available_commands_update':
      emit({ type: 'commands', commands: update.availableCommands.slice(0, MAX_ITEMS).map(toCommand) });
      break;
    case 'current_mode_update': {
      // The documentation says modeId, the schema currentModeId; agents send either.
      const current = update.currentModeId ?? update.modeId;
      if (current) emit({ type: 'mode', current });
      break;
    }
    case 'config_option_update':
      emit({ type: 'config', options: toConfigOptions(update.configOptions) });
      break;
    case 'session_info_update':
      emit({ type: 'info', title: update.title, updatedAt: update.updatedAt });
      break;
    case 'usage_update': {
      const { used, size, cost, _meta } = update;
      emit({ type: 'usage', usage: { used, size, cost } });
      const limits = rateLimitsOf(_meta);
      if (limits) emit(limits);
      break;
    }
    case 'notice': {
      const { severity, title, description } = update;
      emit({ type: 'notice', severity, title, description });
      break;
    }
    case 'compaction_update':
      emit({
        type: 'compaction',
        compactionId: update.compactionId,
        status: update.status,
        summary: update.summary !== undefined ? plainText(update.summary ?? '') : undefined,
        error: update.error !== undefined ? plainText(update.error ?? '') : undefined,
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
  const patch = withParent(toToolPatch(update), _meta);
  emitCall({ type: 'tool_call', toolCallId, patch, announced: sessionUpdate === 'tool_call' }, emit);
}

function toCommand(command: {
  name: string;
  description?: string | null;
  input?: { hint?: string | null } | null;
}): AvailableCommand {
  const hint = command.input?.hint;
  return { name: command.name, description: command.description ?? '', hint: hint || undefined };
}

export function toModes(raw: unknown): { current: string; modes: SessionMode[] } | undefined {
  const parsed = modesSchema.safeParse(raw);
  if (!parsed.success || parsed.data.availableModes.length === 0) return undefined;
  const modes = parsed.data.availableModes.slice(0, MAX_ITEMS).map(({ id, name, description }) => ({
    id,
    name: name ?? id,
    description,
  }));
  return { current: parsed.data.currentModeId, modes };
}

export const MODEL_OPTION = 'session/set_model';

export function toModelOption(raw: unknown): ModelOption | undefined {
  const parsed = modelsSchema.safeParse(raw);
  if (!parsed.success || parsed.data.availableModels.length === 0) return undefined;
  const { currentModelId: value, availableModels } = parsed.data;
  const values = availableModels
    .slice(0, MAX_ITEMS)
    .map(({ modelId, name, description }) => toConfigValue({ value: modelId, name, description }));
  // Some agents run a model that they do not list.
  if (!values.some((one) => one.value === value)) values.unshift({ value, name: value });
  return { type: 'select', id: MODEL_OPTION, name: l10n.t('Model'), category: 'model', value, values };
}

/** Never throws. */
export function applyUpdates(updates: readonly unknown[], targets: UpdateTargets): void {
  readMergingText(updates, targets.emit, (update) => {
    if (applyLifecycle(update, targets)) return;
    const problem = readUpdate(update, targets.emit);
    if (problem !== undefined) targets.log.warn(problem);
  });
}

const text = z.string();
const optionalText = z.catch(z.nullish(text), undefined);

const MAX_ENTRIES = 2000;
const MAX_FOLDERS = 100;

const planEntry = z.object({
  content: text,
  priority: z.catch(word, undefined),
  status: z.pipe(
    optionalText,
    z.transform((status) => status ?? 'pending'),
  ),
});

const schema = z.discriminatedUnion('sessionUpdate', [
  z.object({
    sessionUpdate: z.literal('plan_update'),
    plan: z.discriminatedUnion('type', [
      z.object({ type: z.literal('items'), planId: text, entries: z.array(z.unknown()) }),
      z.object({ type: z.literal('markdown'), planId: text, content: text, path: optionalText }),
      z.object({ type: z.literal('file'), planId: text, uri: text }),
    ]),
  }),
  z.object({ sessionUpdate: z.literal('plan_removed'), planId: text }),
  z.object({ sessionUpdate: z.literal('prompt_suggestions_update'), suggestions: z.array(z.unknown()) }),
  z.object({
    sessionUpdate: z.literal('subagent_update'),
    sessionId: text,
    title: optionalText,
    description: optionalText,
    state: z.catch(z.nullish(z.object({ state: text })), undefined),
    cwd: optionalText,
    additionalDirectories: z.catch(z.nullish(z.array(text)), undefined),
    capabilities: z.optional(z.unknown()),
  }),
  z.object({
    sessionUpdate: z.literal('session_message'),
    messageId: text,
    senderSessionId: optionalText,
    recipientSessionId: optionalText,
    senderMessageId: optionalText,
    recipientMessageId: optionalText,
    content: z.catch(z.nullish(z.array(z.unknown())), undefined),
  }),
  z.object({ sessionUpdate: z.literal('session_message_chunk'), messageId: text, content: z.unknown() }),
]);

/** Returns false for other updates. */
export function readPlanOrSubagent(update: unknown, emit: (event: SessionEvent) => void): boolean {
  const parsed = schema.safeParse(update);
  if (!parsed.success) return false;
  const { data } = parsed;
  switch (data.sessionUpdate) {
    case 'plan_update':
      emitPlan(data.plan, emit);
      break;
    case 'plan_removed':
      emit({ type: 'plan_removed', planId: data.planId });
      break;
    case 'prompt_suggestions_update':
      emit(suggestedPrompt(data.suggestions));
      break;
    case 'subagent_update': {
      const { sessionId, title, description, state, cwd, additionalDirectories, capabilities } = data;
      emit({
        type: 'subagent',
        sessionId,
        title,
        description,
        state: state !== undefined ? (state?.state ?? null) : undefined,
        cwd,
        additionalDirectories: additionalDirectories?.slice(0, MAX_FOLDERS) ?? additionalDirectories,
        canCancel: capabilities !== undefined ? isMarked(at(capabilities, 'cancel')) : undefined,
      });
      break;
    }
    case 'session_message': {
      const { messageId, senderSessionId: sender, recipientSessionId: recipient, content } = data;
      const { senderMessageId: senderMessage, recipientMessageId: recipientMessage } = data;
      emit({
        type: 'session_message',
        messageId,
        sender,
        recipient,
        senderMessage,
        recipientMessage,
        text: content !== undefined ? (content ?? []).map(textOf).join('') : undefined,
      });
      break;
    }
    case 'session_message_chunk':
      emit({ type: 'session_message', messageId: data.messageId, append: textOf(data.content) });
      break;
  }
  return true;
}

type PlanContent = Extract<z.infer<typeof schema>, { sessionUpdate: 'plan_update' }>['plan'];

function emitPlan(plan: PlanContent, emit: (event: SessionEvent) => void): void {
  const { planId } = plan;
  switch (plan.type) {
    case 'items':
      // An invalid entry must not hide the others.
      emit({
        type: 'plan',
        planId,
        entries: plan.entries.slice(0, MAX_ENTRIES).flatMap((raw) => {
          const entry = planEntry.safeParse(raw);
          return entry.success ? [entry.data] : [];
        }),
      });
      return;
    case 'markdown':
      emit({
        type: 'plan_document',
        planId,
        document: { type: 'markdown', text: plan.content, path: plan.path ?? undefined },
      });
      return;
    case 'file':
      emit({ type: 'plan_document', planId, document: { type: 'file', uri: plan.uri } });
  }
}

function textOf(block: unknown): string {
  const { type, text: words } = (block ?? {}) as { readonly type?: unknown; readonly text?: unknown };
  return type === 'text' && typeof words === 'string' ? words : `[${wordOf(type).slice(0, 50)}]`;
}
