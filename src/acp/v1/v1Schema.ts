// zod schemas of what a client receives in protocol v1. Lenient where agents differ in practice:
// null means absent, unknown keys are dropped, unknown words pass as strings. Anything else is
// rejected. Reference: schema/v1 of the official SDK.
import * as z from 'zod/mini';
import { knownText, permissionOptionsSchema, TOOL_FIELDS, word } from '../protocol/sharedSchema';

const text = z.string();
const optionalText = z.nullish(z.string());

export const toolCallUpdateSchema = z.object(TOOL_FIELDS);

export type ToolFields = z.infer<typeof toolCallUpdateSchema>;

export type ToolUpdate = ToolFields & { readonly sessionUpdate: 'tool_call' | 'tool_call_update' };

/** {@link toolCallUpdateSchema} without zod, which is too slow for these frequent updates. */
export function isToolUpdate(update: unknown): update is ToolUpdate {
  if (typeof update !== 'object' || update === null) return false;
  const { sessionUpdate, toolCallId, title, name, kind, status, content, locations } = update as Partial<
    Record<string, unknown>
  >;
  return (
    (sessionUpdate === 'tool_call' || sessionUpdate === 'tool_call_update') &&
    typeof toolCallId === 'string' &&
    isTextOrAbsent(title) &&
    isTextOrAbsent(name) &&
    isTextOrAbsent(kind) &&
    isTextOrAbsent(status) &&
    (content == null || Array.isArray(content)) &&
    (locations == null || Array.isArray(locations))
  );
}

function isTextOrAbsent(value: unknown): boolean {
  return typeof value === 'string' || value == null;
}

const chunk = { content: z.unknown(), messageId: knownText, _meta: z.optional(z.unknown()) };

const planEntrySchema = z.object({
  content: text,
  priority: word,
  status: z.pipe(
    optionalText,
    z.transform((status) => status ?? 'pending'),
  ),
});

const commandSchema = z.object({
  name: text,
  description: optionalText,
  input: z.catch(z.nullish(z.object({ hint: optionalText })), null),
});

export const modesSchema = z.object({
  currentModeId: text,
  availableModes: z.array(z.object({ id: text, name: optionalText, description: word })),
});

/** `models` left the protocol in June 2026; some agents still send it instead of an option. */
export const modelsSchema = z.object({
  currentModelId: text,
  availableModels: z.array(z.object({ modelId: text, name: optionalText, description: word })),
});

/** All updates of v1 (section 1.3) except tool calls. */
export const updateSchema = z.discriminatedUnion('sessionUpdate', [
  z.object({ sessionUpdate: z.literal('agent_message_chunk'), ...chunk }),
  z.object({ sessionUpdate: z.literal('agent_thought_chunk'), ...chunk }),
  z.object({ sessionUpdate: z.literal('user_message_chunk'), ...chunk }),
  z.object({ sessionUpdate: z.literal('plan'), entries: z.array(planEntrySchema) }),
  z.object({ sessionUpdate: z.literal('available_commands_update'), availableCommands: z.array(commandSchema) }),
  z.object({ sessionUpdate: z.literal('current_mode_update'), currentModeId: optionalText, modeId: optionalText }),
  z.object({ sessionUpdate: z.literal('config_option_update'), configOptions: z.array(z.unknown()) }),
  z.object({ sessionUpdate: z.literal('session_info_update'), title: optionalText, updatedAt: optionalText }),
  z.object({
    sessionUpdate: z.literal('usage_update'),
    used: z.number(),
    size: z.number(),
    cost: z.pipe(
      z.catch(z.nullish(z.object({ amount: z.number(), currency: text })), null),
      z.transform((cost) => cost ?? undefined),
    ),
    _meta: z.optional(z.unknown()),
  }),
  z.object({
    sessionUpdate: z.literal('notice'),
    severity: z.catch(text, 'info'),
    title: text,
    description: word,
  }),
  z.object({
    sessionUpdate: z.literal('compaction_update'),
    compactionId: text,
    status: word,
    summary: z.optional(z.unknown()),
    error: z.optional(z.unknown()),
  }),
  z.object({ sessionUpdate: z.literal('compaction_summary_chunk'), compactionId: text, content: z.unknown() }),
]);

export type V1Update = z.infer<typeof updateSchema>;

export const permissionRequestSchema = z.object({
  sessionId: text,
  toolCall: toolCallUpdateSchema,
  options: permissionOptionsSchema,
});

export const authMethodSchema = z.object({
  id: optionalText,
  methodId: optionalText,
  name: optionalText,
  description: word,
  type: optionalText,
  args: z.optional(z.unknown()),
  env: z.optional(z.unknown()),
  varName: z.optional(z.unknown()),
  vars: z.optional(z.unknown()),
  _meta: z.optional(z.unknown()),
});

const infoSchema = z.catch(z.nullish(z.object({ name: text, title: word, version: word })), null);

/** The answer to `initialize` in v1 and v2; capabilities are read elsewhere. */
export const initializeResultSchema = z.object({
  protocolVersion: z.number(),
  agentInfo: infoSchema,
  info: infoSchema,
  authMethods: z.catch(z.nullish(z.array(z.unknown())), null),
});

export const promptResultSchema = z.nullable(
  z.object({
    stopReason: optionalText,
    messageId: z.catch(word, undefined),
    usage: z.optional(z.unknown()),
  }),
);
