// zod schemas shared by both protocol versions. Lenient where agents differ in practice: null means
// absent, unknown keys are dropped, unknown words pass as strings. Reference: schema/v1 and
// schema/v2 of the official SDK.
import * as z from 'zod/mini';
import en from 'zod/v4/locales/en.js';

// zod/mini contains no messages, and the log and the agent need the reason.
z.config(en());

const text = z.string();
const optionalText = z.nullish(z.string());
/** Null means absent. */
export const knownText = z.pipe(
  optionalText,
  z.transform((value) => value ?? undefined),
);
/** Null and empty mean absent. */
export const word = z.pipe(
  optionalText,
  z.transform((value) => value || undefined),
);

export const contentBlockSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text }),
  z.object({ type: z.literal('image'), data: text, mimeType: text, uri: word }),
  z.object({ type: z.literal('audio'), data: text, mimeType: text }),
  z.object({
    type: z.literal('resource_link'),
    uri: text,
    name: optionalText,
    title: word,
    mimeType: word,
    description: word,
  }),
  z.object({
    type: z.literal('resource'),
    resource: z.object({ uri: text, text: knownText, blob: word, mimeType: word }),
  }),
]);

const configValueSchema = z.object({ value: text, name: optionalText, description: word });

const configOption = { id: text, name: optionalText, description: word, category: word };

export const configOptionSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('select'),
    ...configOption,
    currentValue: text,
    options: z.array(
      z.union([configValueSchema, z.object({ group: text, name: optionalText, options: z.array(configValueSchema) })]),
    ),
  }),
  z.object({ type: z.literal('boolean'), ...configOption, currentValue: z.boolean() }),
]);

export const permissionOptionsSchema = z.array(z.object({ optionId: text, name: optionalText, kind: optionalText }));

export const sessionInfoSchema = z.object({
  sessionId: text,
  cwd: z.pipe(
    optionalText,
    z.transform((cwd) => cwd ?? ''),
  ),
  additionalDirectories: z.pipe(
    z.catch(z.nullish(z.array(text)), null),
    z.transform((folders) => folders ?? []),
  ),
  title: word,
  updatedAt: word,
  archived: z.pipe(
    z.catch(z.nullish(z.boolean()), null),
    z.transform((archived) => (archived ? (true as const) : undefined)),
  ),
});

export const TOOL_FIELDS = {
  toolCallId: z.string(),
  title: z.nullish(z.string()),
  name: z.nullish(z.string()),
  kind: z.nullish(z.string()),
  status: z.nullish(z.string()),
  content: z.nullish(z.array(z.unknown())),
  locations: z.nullish(z.array(z.unknown())),
  rawInput: z.optional(z.unknown()),
  rawOutput: z.optional(z.unknown()),
  _meta: z.optional(z.unknown()),
};
