// The data model of the Agent Communication Protocol (release 1.0.3). Reads leniently: null means
// absent, unknown fields are preserved, ids are any safe string. Writes strictly: absent fields are
// omitted, times end in `Z`, new ids are UUIDs.

import { randomUUID } from 'node:crypto';
import * as z from 'zod/mini';
import en from 'zod/v4/locales/en.js';
import { ParleyError } from '../../base/errors';
import { type LocalizableText, localizable } from '../../base/localizable';
import { nestsTooDeep } from '../../base/untrusted';
import type { RemoteContent } from '../../session/events/event';
import { originOf } from './resourceUrl';

/** The protocol needs less than a tenth. */
export const MAX_DEPTH = 100;

/** @throws ParleyError `too-large`, `not-json`, `too-deep`, without the text */
export function parseBounded(text: string | Uint8Array, maxBytes: number): unknown {
  const bytes = typeof text === 'string' ? Buffer.byteLength(text) : text.byteLength;
  if (bytes > maxBytes)
    throw new ParleyError('too-large', localizable('The text has {0} bytes; the maximum is {1}.', bytes, maxBytes));
  let value: unknown;
  try {
    const json = typeof text === 'string' ? text : new TextDecoder('utf-8', { fatal: true }).decode(text);
    value = nestsTooDeep(json) ? undefined : JSON.parse(json);
  } catch {
    // The engine's own message quotes the text.
    throw new ParleyError('not-json', localizable("The text isn't JSON."));
  }
  if (value === undefined || !isDepthWithin(value, MAX_DEPTH)) {
    throw new ParleyError('too-deep', localizable('The JSON is nested more than {0} levels deep.', MAX_DEPTH));
  }
  return value;
}

/** Not recursive, so that depth cannot overflow the stack. */
export function isDepthWithin(value: unknown, limit: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    const next: unknown[] = [];
    for (const item of level) {
      if (typeof item !== 'object' || item === null) continue;
      if (depth >= limit) return false;
      for (const child of Object.values(item)) if (typeof child === 'object' && child !== null) next.push(child);
    }
    level = next;
  }
  return true;
}

z.config(en());

/** As JSON text. */
export const MAX_MESSAGE_BYTES = 5 * 1024 * 1024;
/** As JSON text; this bounds a history. */
export const MAX_DESCRIPTOR_BYTES = 16 * 1024 * 1024;
/** As many signed links as fit into a descriptor. */
export const MAX_HISTORY = 20_000;
/** Of all messages of a session. */
export const MAX_SESSION_BYTES = 100 * 1024 * 1024;
/** Agents stream one part per token, and all again at the end. */
export const MAX_PARTS = 50_000;
/** Presigned URLs with session tokens have about 3,000. */
const MAX_URL_CHARS = 8192;

type DeepReadonly<T> = T extends readonly (infer I)[]
  ? readonly DeepReadonly<I>[]
  : T extends object
    ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
    : T;

/** An object with unknown fields, and null or undefined for absent ones. */
function record<const Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  const withoutAbsent = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).filter(([key, field]) => !(field == null && key in shape)));
  };
  return z.pipe(z.transform(withoutAbsent), z.looseObject(shape));
}

const optional = z.exactOptional;
const word = z.string().check(z.maxLength(1000));
const sentence = z.string().check(z.maxLength(64 * 1024));
const time = z.string().check(z.maxLength(64));

/** One path segment: a UUID, or the proposal's `session-123`. */
export const idSchema = z.string().check(z.regex(/^[A-Za-z0-9][A-Za-z0-9._~:-]{0,127}$/));

export const agentNameSchema = z.string().check(z.regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/));

const NO_URL = `expected an http or https URL of at most ${MAX_URL_CHARS} characters`;

export const urlSchema = z.string().check(z.refine(isUrl, { error: NO_URL }));

function isUrl(text: unknown): text is string {
  return (
    typeof text === 'string' &&
    text.length <= MAX_URL_CHARS &&
    /^https?:\/\//i.test(text) &&
    originOf(text) !== undefined
  );
}

/** A schema per URL would take longer than all the rest. */
const urlsSchema = z.custom<string[]>(Array.isArray).check(
  z.superRefine((urls, { addIssue }) => {
    const index = urls.findIndex((url) => !isUrl(url));
    if (index >= 0) addIssue({ code: 'custom', path: [index], message: NO_URL });
  }),
);

export const partSchema = record({
  name: optional(word),
  content_type: z._default(word, 'text/plain'),
  content: optional(z.string()),
  content_encoding: z._default(z.enum(['plain', 'base64']), 'plain'),
  content_url: optional(urlSchema),
  metadata: optional(z.record(z.string(), z.unknown())),
}).check(
  z.refine((part) => part.content === undefined || part.content_url === undefined, {
    error: 'only one of content and content_url can be given',
  }),
);

export const messageSchema = record({
  role: z._default(z.string().check(z.regex(/^(user|agent(\/[a-zA-Z0-9_.-]{1,63})?)$/)), 'user'),
  parts: z.array(partSchema).check(z.maxLength(MAX_PARTS)),
  created_at: optional(time),
  /** Absent while streaming, and permanently after a failed or cancelled run. */
  completed_at: optional(time),
});

export const errorSchema = record({ code: word, message: sentence, data: optional(z.unknown()) });

const awaitRequestSchema = record({ type: z._default(word, 'message'), message: optional(messageSchema) });
const awaitResumeSchema = record({ type: z._default(word, 'message'), message: optional(messageSchema) });

export const runStatusSchema = z.enum([
  'created',
  'in-progress',
  'awaiting',
  'cancelling',
  'cancelled',
  'completed',
  'failed',
]);

export const runSchema = record({
  run_id: idSchema,
  agent_name: word,
  session_id: optional(idSchema),
  status: runStatusSchema,
  /** Upstream doesn't clear it after a resume: check `status`. */
  await_request: optional(awaitRequestSchema),
  output: z._default(z.array(messageSchema).check(z.maxLength(MAX_PARTS)), []),
  error: optional(errorSchema),
  created_at: optional(time),
  finished_at: optional(time),
});

export const sessionSchema = record({
  id: idSchema,
  history: z._default(urlsSchema.check(z.maxLength(MAX_HISTORY)), []),
  state: optional(urlSchema),
});

export const runModeSchema = z.enum(['sync', 'async', 'stream']);

/** Body of `POST /runs`. Like upstream, accepts an empty `input`. */
export const runCreateSchema = record({
  agent_name: agentNameSchema,
  session_id: optional(idSchema),
  session: optional(sessionSchema),
  input: z.array(messageSchema).check(z.maxLength(MAX_PARTS)),
  mode: z._default(runModeSchema, 'sync'),
});

/** The specification requires `run_id`, but upstream doesn't send it. */
export const runResumeSchema = record({
  run_id: optional(idSchema),
  await_resume: awaitResumeSchema,
  mode: z._default(runModeSchema, 'sync'),
});

export const agentManifestSchema = record({
  name: agentNameSchema,
  description: optional(sentence),
  input_content_types: optional(z.array(word).check(z.maxLength(100))),
  output_content_types: optional(z.array(word).check(z.maxLength(100))),
  metadata: optional(z.record(z.string(), z.unknown())),
});

const RUN_EVENTS = ['created', 'in-progress', 'awaiting', 'completed', 'failed', 'cancelled'] as const;

const knownEventSchema = z.discriminatedUnion('type', [
  z.looseObject({
    type: z.enum(RUN_EVENTS.map((name) => `run.${name}` as const)),
    run: runSchema,
  }),
  z.looseObject({ type: z.enum(['message.created', 'message.completed']), message: messageSchema }),
  z.looseObject({ type: z.literal('message.part'), part: partSchema }),
  z.looseObject({ type: z.literal('generic'), generic: z.unknown() }),
  z.looseObject({ type: z.literal('error'), error: errorSchema }),
]);

export type MessagePart = DeepReadonly<z.infer<typeof partSchema>>;
export type Message = DeepReadonly<z.infer<typeof messageSchema>>;
export type Run = DeepReadonly<z.infer<typeof runSchema>>;
export type RunStatus = z.infer<typeof runStatusSchema>;
export type RunMode = z.infer<typeof runModeSchema>;
export type RunCreate = DeepReadonly<z.infer<typeof runCreateSchema>>;
export type SessionDescriptor = DeepReadonly<z.infer<typeof sessionSchema>>;
export type AgentManifest = DeepReadonly<z.infer<typeof agentManifestSchema>>;
export type AcpError = DeepReadonly<z.infer<typeof errorSchema>>;
export type RunEvent =
  | DeepReadonly<z.infer<typeof knownEventSchema>>
  | { readonly type: 'unknown'; readonly name: string; readonly raw: unknown }
  /** Replaces an unreadable event that would have ended the run. */
  | { readonly type: 'error'; readonly error: { readonly code: string; readonly message: LocalizableText } };

/** Throws ParleyError `invalid-data`, which names fields but no values. */
export function readAs<T>(schema: z.ZodMiniType<T>, value: unknown, what: string): T {
  const result = z.safeParse(schema, value);
  if (result.success) return result.data;
  throw new ParleyError('invalid-data', `${what} does not fit the protocol: ${describeIssues(result.error.issues)}.`);
}

/** @throws ParleyError `invalid-data`, `session-full` */
export function readSession(value: unknown, what: string): SessionDescriptor {
  const history = typeof value === 'object' && value !== null && 'history' in value ? value.history : undefined;
  const length = Array.isArray(history) ? history.length : 0;
  if (length > MAX_HISTORY) {
    const most = MAX_HISTORY.toLocaleString('en');
    throw new ParleyError(
      'session-full',
      localizable('The session has {0} messages; the maximum is {1}.', length.toLocaleString('en'), most),
    );
  }
  return readAs(sessionSchema, value, what);
}

function describeIssues(issues: readonly z.core.$ZodIssue[]): string {
  const shown = issues.slice(0, 3).map((issue) => {
    const path = issue.path.map(String).join('.').slice(0, 100) || 'the value';
    return `${path} (${issue.message.slice(0, 200)})`;
  });
  return shown.join(', ') + (issues.length > 3 ? ` and ${issues.length - 3} more` : '');
}

/** @throws ParleyError `invalid-data` */
export function readMessage(value: unknown): Message {
  return readAs(messageSchema, value, 'The message');
}

/** Protocol 1.0.3 "Events". Throws ParleyError `invalid-data`. */
export function readEvent(value: unknown): RunEvent {
  const name = z.safeParse(z.looseObject({ type: z.string() }), value).data?.type;
  if (name !== undefined && !isKnownEvent(name)) return { type: 'unknown', name: name.slice(0, 100), raw: value };
  return readAs(knownEventSchema, value, 'The event');
}

function isKnownEvent(name: string): boolean {
  return (
    RUN_EVENTS.some((event) => name === `run.${event}`) ||
    ['message.created', 'message.part', 'message.completed', 'generic', 'error'].includes(name)
  );
}

export interface Citation {
  readonly startIndex?: number;
  readonly endIndex?: number;
  readonly url?: string;
  readonly title?: string;
  readonly description?: string;
}

const citationSchema = record({
  kind: z.literal('citation'),
  start_index: optional(z.number()),
  end_index: optional(z.number()),
  url: z.catch(z.optional(urlSchema), undefined),
  title: optional(sentence),
  description: optional(sentence),
});

export function citationOf(part: MessagePart): Citation | undefined {
  const { success, data } = z.safeParse(citationSchema, part.metadata);
  if (!success) return undefined;
  return {
    startIndex: data.start_index,
    endIndex: data.end_index,
    url: data.url,
    title: data.title,
    description: data.description,
  };
}

/** A thought if it has only a message, a tool call if it names a tool. */
export interface Trajectory {
  readonly message?: string;
  readonly toolName?: string;
  readonly toolInput?: unknown;
  readonly toolOutput?: unknown;
}

const trajectorySchema = record({
  kind: z.literal('trajectory'),
  message: optional(z.string()),
  tool_name: optional(sentence),
  tool_input: optional(z.unknown()),
  tool_output: optional(z.unknown()),
});

export function trajectoryOf(part: MessagePart): Trajectory | undefined {
  const { success, data } = z.safeParse(trajectorySchema, part.metadata);
  if (!success) return undefined;
  return {
    message: data.message,
    toolName: data.tool_name,
    toolInput: data.tool_input,
    toolOutput: data.tool_output,
  };
}

export function textPart(content: string, contentType = 'text/plain'): MessagePart {
  return { content_type: contentType, content, content_encoding: 'plain' };
}

/** SDKs read only `text/plain` parts as text, so an extra field marks Markdown. */
export function markdownPart(content: string): MessagePart {
  return { ...textPart(content), parley_content_type: 'text/markdown' };
}

export function remotePart({ url, mimeType, name }: RemoteContent): MessagePart & { readonly content_url: string } {
  return { name, content_type: mimeType, content_url: url, content_encoding: 'plain' };
}

/** Other servers of the protocol require UUIDs. */
export function mintId(): string {
  return randomUUID();
}

/** ISO 8601 with `Z`. */
export function timestamp(at: number): string {
  return new Date(at).toISOString();
}
