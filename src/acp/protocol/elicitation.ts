// Forms and browser pages that agents request (`elicitation/create`, `elicitation/complete`), the
// same in v1 and v2 (section 1.8).
//
// - The client advertises its modes (`elicitation: {form: {}, url: {}}`); others are answered with
//   -32602.
// - A request belongs either to a session, optionally to a tool call in it, or to a pending request
//   of the client.
// - A form has only simple fields, and its answer is validated before it is sent. Only the user
//   answers, and can always decline or dismiss.
// - A URL is shown in full, opened only after consent in the system's browser, and never fetched
//   here. `accept` means that the user agreed to open it; `elicitation/complete` reports
//   completion, and unknown ids in it are ignored.
// - `decline` is the user's refusal; any other end without an answer is `cancel`.
import * as z from 'zod/mini';
import { at } from '../../base/untrusted';
import type { ElicitationBody, Form, FormField, FormOption } from '../../session/events/form';
import { RPC_CODES, RpcError } from '../jsonrpc/rpcError';

const MAX_MESSAGE = 10_000;
const MAX_FIELDS = 100;
const MAX_OPTIONS = 500;
const MAX_TITLE = 500;
const MAX_DESCRIPTION = 4000;
const MAX_VALUE = 20_000;
const MAX_URL = 8192;

export type ElicitationScope =
  | { readonly sessionId: string; readonly toolCallId?: string }
  | { readonly requestId: string | number };

export interface ElicitationAsk {
  readonly scope: ElicitationScope;
  readonly message: string;
  readonly elicitationId?: string;
  readonly body: ElicitationBody;
}

export const ELICITATION_CAPABILITY = { form: {}, url: {} } as const;

/** Optional fields: invalid values are dropped. */
const hint = <T extends z.ZodMiniType>(schema: T) =>
  z.pipe(
    z.catch(z.nullish(schema), null),
    z.transform((value) => value ?? undefined),
  );
const shortText = z.catch(z.nullish(z.string().check(z.maxLength(MAX_DESCRIPTION))), null);
const common = {
  title: z.pipe(
    shortText,
    z.transform((title) => title?.slice(0, MAX_TITLE) || undefined),
  ),
  description: z.pipe(
    shortText,
    z.transform((description) => description || undefined),
  ),
};
const count = hint(z.int().check(z.nonnegative()));
const number = hint(z.number());
const optionSchema = z.object({ const: z.string().check(z.maxLength(MAX_VALUE)), ...common });
const options = z.array(optionSchema).check(z.maxLength(MAX_OPTIONS));
const values = z.array(z.string().check(z.maxLength(MAX_VALUE))).check(z.maxLength(MAX_OPTIONS));

/** Fields that decide which answers are valid must be readable. */
const fieldSchemas = {
  string: z.object({
    ...common,
    minLength: count,
    maxLength: count,
    pattern: hint(z.string()),
    format: hint(z.enum(['email', 'uri', 'date', 'date-time'])),
    default: hint(z.string().check(z.maxLength(MAX_VALUE))),
    enum: z.nullish(values),
    oneOf: z.nullish(options),
  }),
  number: z.object({ ...common, minimum: number, maximum: number, default: number }),
  boolean: z.object({ ...common, default: hint(z.boolean()) }),
  array: z.object({
    ...common,
    minItems: count,
    maxItems: count,
    items: z.union([z.object({ anyOf: options }), z.object({ type: z.optional(z.literal('string')), enum: values })]),
    default: hint(values),
  }),
} as const;

/** Throws RpcError -32602 for unsupported modes, scopes, forms and URLs. */
export function readElicitation(params: unknown): ElicitationAsk {
  const message = at(params, 'message');
  if (typeof message !== 'string') throw invalid('message is missing');
  const mode = at(params, 'mode');
  const scope = readScope(params);
  const shown = message.length > MAX_MESSAGE ? `${message.slice(0, MAX_MESSAGE)}…` : message;
  if (mode === 'form') return { scope, message: shown, body: { mode, form: readForm(at(params, 'requestedSchema')) } };
  if (mode !== 'url') throw invalid(`the mode ${JSON.stringify(mode)?.slice(0, 50)} is not offered by this client`);
  const elicitationId = at(params, 'elicitationId');
  if (typeof elicitationId !== 'string' || elicitationId === '') throw invalid('elicitationId is missing');
  return { scope, message: shown, elicitationId, body: { mode, url: readAddress(at(params, 'url')) } };
}

export function readCompleted(params: unknown): string | undefined {
  const id = at(params, 'elicitationId');
  return typeof id === 'string' ? id : undefined;
}

function readScope(params: unknown): ElicitationScope {
  const sessionId = at(params, 'sessionId');
  const requestId = at(params, 'requestId');
  const toolCallId = at(params, 'toolCallId');
  const hasSession = typeof sessionId === 'string';
  const hasRequest = typeof requestId === 'string' || typeof requestId === 'number';
  if (hasSession === hasRequest) throw invalid('exactly one of sessionId and requestId must be there');
  if (hasRequest) return { requestId };
  return { sessionId: sessionId as string, toolCallId: typeof toolCallId === 'string' ? toolCallId : undefined };
}

function readForm(schema: unknown): Form {
  const type = at(schema, 'type') ?? 'object';
  const properties = at(schema, 'properties') ?? {};
  const required = at(schema, 'required');
  if (typeof schema !== 'object' || schema === null || type !== 'object') throw invalid('requestedSchema is no object');
  if (typeof properties !== 'object' || Array.isArray(properties)) throw invalid('properties is no object');
  const entries = Object.entries(properties as object);
  if (entries.length > MAX_FIELDS) throw invalid(`a form has at most ${MAX_FIELDS} fields`);
  const requiredKeys = new Set(Array.isArray(required) ? required.filter((key) => typeof key === 'string') : []);
  return {
    ...z.object(common).parse(schema),
    fields: entries.map(([key, raw]) => readField(key, raw, requiredKeys.has(key))),
  };
}

function readField(key: string, raw: unknown, required: boolean): FormField {
  const type = at(raw, 'type');
  switch (type) {
    case 'string': {
      const { oneOf, enum: listed, default: initial, ...field } = parse(fieldSchemas.string, key, raw);
      const options = oneOf?.map(toOption) ?? listed?.map((value) => ({ value, title: value }));
      if (!options) return { key, required, ...field, type: 'text', initial };
      const { title, description } = field;
      const isOffered = options.some(({ value }) => value === initial);
      return { key, required, title, description, type: 'choice', options, initial: isOffered ? initial : undefined };
    }
    case 'number':
    case 'integer': {
      const { default: initial, ...field } = parse(fieldSchemas.number, key, raw);
      return { key, required, ...field, type, initial };
    }
    case 'boolean': {
      const { default: initial, ...field } = parse(fieldSchemas.boolean, key, raw);
      return { key, required, ...field, type, initial };
    }
    case 'array': {
      const parsed = fieldSchemas.array.safeParse(raw);
      // An array of anything but listed strings is an unknown field.
      if (!parsed.success) return unknownField(key, raw, required, 'array');
      const { items, default: initial, ...field } = parsed.data;
      const options =
        'anyOf' in items ? items.anyOf.map(toOption) : items.enum.map((value) => ({ value, title: value }));
      const validDefaults = initial?.filter((value) => options.some((option) => option.value === value));
      return { key, required, ...field, type: 'choices', options, initial: validDefaults };
    }
    default:
      return unknownField(key, raw, required, typeof type === 'string' ? type.slice(0, 100) : 'no type');
  }
}

function unknownField(key: string, raw: unknown, required: boolean, kind: string): FormField {
  const words = z.object(common).parse(typeof raw === 'object' && raw !== null ? raw : {});
  return { key, required, ...words, type: 'unknown', kind };
}

function toOption({ const: value, title, description }: z.infer<typeof optionSchema>): FormOption {
  return { value, title: title ?? value, description };
}

function parse<T extends z.ZodMiniType>(schema: T, key: string, raw: unknown): z.infer<T> {
  const parsed = schema.safeParse(raw);
  if (parsed.success) return parsed.data;
  throw invalid(
    `the field ${JSON.stringify(key.slice(0, 100))} does not fit: ${parsed.error.issues[0]?.message ?? ''}`,
  );
}

function readAddress(raw: unknown): string {
  if (typeof raw !== 'string' || raw.length > MAX_URL || !URL.canParse(raw)) throw invalid('url is no address');
  const url = new URL(raw);
  const isLocal = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(url.hostname);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLocal)) {
    throw invalid('url must begin with https:, or with http: for this machine');
  }
  if (url.username !== '' || url.password !== '') throw invalid('url must not have a user name in it');
  return url.href;
}

function invalid(why: string): RpcError {
  return new RpcError(RPC_CODES.invalidParams, `elicitation/create: ${why}`);
}
