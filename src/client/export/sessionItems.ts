// Schemas of exported entries, version 1 (docs/sessions.md, "Format of exported sessions"). Files
// can come from anyone; unknown fields are dropped.
import * as z from 'zod/mini';
import { MAX_NESTING } from '../../session/model/state';

const text = z.string();
const at = z.number().check(z.nonnegative(), z.lte(8.64e15));
const line = z.int().check(z.nonnegative());
const PARTS = z.maxLength(2000);

const block = z.union([
  z.object({ type: z.literal('text'), text }),
  z.object({ type: z.literal('image'), data: text, mimeType: text, uri: z.optional(text) }),
  z.object({ type: z.literal('audio'), data: text, mimeType: text }),
  z.object({
    type: z.literal('resource_link'),
    uri: text,
    name: text,
    title: z.optional(text),
    mimeType: z.optional(text),
    description: z.optional(text),
  }),
  z.object({
    type: z.literal('resource'),
    uri: text,
    text: z.optional(text),
    blob: z.optional(text),
    mimeType: z.optional(text),
  }),
  z.object({ type: z.literal('unknown'), kind: text, raw: z.unknown(), forAgent: z.optional(z.literal(true)) }),
]);

const part = z.union([
  z.object({ type: z.literal('content'), block }),
  z.object({
    type: z.literal('diff'),
    path: text,
    oldText: z.optional(text),
    newText: text,
    hunks: z.optional(z.array(z.object({ oldStart: line, newStart: line, lines: z.array(text) })).check(PARTS)),
    oldPath: z.optional(text),
    operation: z.optional(text),
  }),
  z.object({
    type: z.literal('terminal'),
    command: z.optional(text),
    cwd: z.optional(text),
    output: text,
    truncated: z.optional(z.literal(true)),
    exitCode: z.optional(z.number()),
    signal: z.optional(text),
  }),
  z.object({ type: z.literal('unknown'), kind: text, raw: z.unknown() }),
]);

const content = z.array(block).check(PARTS);
const count = z.optional(z.number().check(z.nonnegative()));
const depth = z.optional(z.int().check(z.positive(), z.lte(MAX_NESTING)));

const item = z.discriminatedUnion('type', [
  z.object({ type: z.literal('turn'), at, by: z.enum(['user', 'agent']), elsewhere: z.optional(z.literal(true)) }),
  z.object({
    type: z.literal('turn_end'),
    at,
    reason: z.enum(['end_turn', 'cancelled', 'refusal', 'max_tokens', 'max_turn_requests', 'error', 'unknown']),
    barrier: z.optional(z.enum(['turn_complete', 'state', 'response', 'timeout', 'exit'])),
    interrupted: z.optional(z.literal(true)),
    note: z.optional(text),
    tokens: count,
    tokenParts: z.optional(
      z.object({ input: count, output: count, cachedRead: count, cachedWrite: count, thought: count }),
    ),
  }),
  z.object({ type: z.literal('user'), at, content }),
  z.object({ type: z.literal('agent'), at, content, depth }),
  z.object({ type: z.literal('thought'), at, content, depth }),
  z.object({
    type: z.literal('tool'),
    at,
    depth,
    endedAt: z.optional(at),
    title: text,
    name: z.optional(text),
    kind: text,
    status: z.enum(['pending', 'in_progress', 'completed', 'failed', 'cancelled', 'paused']),
    content: z.array(part).check(PARTS),
    locations: z.array(z.object({ path: text, line: z.optional(line) })).check(PARTS),
    input: z.optional(z.unknown()),
    output: z.optional(z.unknown()),
    decision: z.optional(z.object({ outcome: text, by: text, name: z.optional(text), rule: z.optional(text) })),
  }),
  z.object({
    type: z.literal('plan'),
    at,
    steps: z.array(z.object({ content: text, priority: z.optional(text), status: text })).check(PARTS),
    markdown: z.optional(text),
    uri: z.optional(text),
    removed: z.optional(z.literal(true)),
  }),
  z.object({
    type: z.literal('notice'),
    at,
    severity: text,
    title: text,
    text,
    raw: z.optional(z.unknown()),
  }),
  z.object({
    type: z.literal('error'),
    at,
    code: text,
    text,
    hint: z.optional(text),
    stderr: z.optional(text),
  }),
  z.object({ type: z.literal('missing'), at, text }),
]);

type Frozen<T> = T extends readonly (infer One)[]
  ? readonly Frozen<One>[]
  : T extends object
    ? { readonly [Key in keyof T]: Frozen<T[Key]> }
    : T;

export type SessionItem = Frozen<z.infer<typeof item>>;
export type ItemBlock = Frozen<z.infer<typeof block>>;
export type ItemPart = Frozen<z.infer<typeof part>>;
export type ToolItem = Extract<SessionItem, { type: 'tool' }>;

export function readItem(value: unknown): SessionItem | undefined {
  return item.safeParse(value).data as SessionItem | undefined;
}

const head = z.object({
  format: z.literal('parley-session'),
  version: z.number(),
  title: z.optional(text),
  agent: z.optional(z.object({ id: text, name: text })),
  cwd: z.optional(text),
  exported: z.optional(text),
  usage: z.optional(
    z.object({
      used: z.number(),
      size: z.number(),
      cost: z.optional(z.object({ amount: z.number(), currency: text })),
    }),
  ),
});

export type SessionHead = Frozen<z.infer<typeof head>>;

/** Returns a file's description of its session; undefined if it isn't a session file. */
export function readHead(value: unknown): SessionHead | undefined {
  return head.safeParse(value).data as SessionHead | undefined;
}
