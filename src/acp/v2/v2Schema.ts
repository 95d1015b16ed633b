// zod schemas of what v2 has and v1 has not; the others are in v1Schema.ts. Lenient in the same
// way, except that null clears a field. Reference: schema/v2 of the official SDK.
import * as z from 'zod/mini';
import { permissionOptionsSchema, TOOL_FIELDS, word } from '../protocol/sharedSchema';

const text = z.string();
const optionalText = z.nullish(z.string());

export const toolUpdateSchema = z.object({
  ...TOOL_FIELDS,
  capabilities: z.catch(z.nullish(z.object({ cancel: z.optional(z.unknown()) })), undefined),
});

export const contentChunkSchema = z.object({ toolCallId: text, content: z.unknown() });

export const terminalUpdateSchema = z.object({
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

export const terminalChunkSchema = z.object({ terminalId: text, data: text });

export const permissionRequestSchema = z.object({
  title: text,
  description: word,
  subject: z.catch(z.nullish(z.looseObject({ type: text })), null),
  options: permissionOptionsSchema,
});

export const commandSubjectSchema = z.object({ command: text, cwd: word, toolCallId: word });
