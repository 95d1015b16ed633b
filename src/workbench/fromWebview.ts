// What the webview says, checked: it draws text of agents, so nothing from it is trusted.
import * as z from 'zod/mini';
import type { FromWebview } from '../panel/contract';

const id = z.string().check(z.maxLength(500));
const index = z.int().check(z.nonnegative());
/** Characters of one message; what is larger belongs into a file. */
const MAX_TEXT = 2_000_000;
const MAX_IMAGE_BASE64 = 20_000_000;

const queueAction = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('edit'), id, text: z.string().check(z.maxLength(MAX_TEXT)) }),
  z.object({ kind: z.literal('hold'), id, held: z.boolean() }),
  z.object({ kind: z.literal('remove'), id }),
  z.object({ kind: z.literal('sendNow'), id }),
  z.object({ kind: z.literal('move'), id, to: index }),
  z.object({ kind: z.literal('pause') }),
  z.object({ kind: z.literal('resume') }),
  z.object({ kind: z.literal('clear') }),
]);

/** Values of a form: judged by its fields where it is known (panel/checkForm.ts); here only their kinds and sizes. */
const formText = z.string().check(z.maxLength(20_000));
const formValue = z.union([formText, z.number(), z.boolean(), z.array(formText).check(z.maxLength(500)), z.null()]);

const elicitationAction = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('submit'), values: z.record(z.string(), formValue) }),
  z.object({ kind: z.literal('open') }),
  z.object({ kind: z.literal('decline') }),
  z.object({ kind: z.literal('cancel') }),
]);

const schema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('hello'), version: z.number() }),
  z.object({ type: z.literal('ack'), revision: z.number() }),
  z.object({ type: z.literal('wake') }),
  z.object({ type: z.literal('send'), clientId: id, text: z.string().check(z.maxLength(MAX_TEXT)) }),
  z.object({ type: z.literal('draft'), key: z.optional(id), text: z.string().check(z.maxLength(MAX_TEXT)) }),
  z.object({ type: z.literal('scrolled'), anchor: z.nullable(z.object({ index, offset: z.int() })) }),
  z.object({ type: z.literal('cancel') }),
  z.object({ type: z.literal('permission'), id, optionId: z.nullable(z.string()) }),
  z.object({ type: z.literal('elicitation'), id, answer: elicitationAction }),
  z.object({ type: z.literal('stopOne'), kind: z.enum(['tool', 'terminal']), id: z.string() }),
  z.object({ type: z.literal('queue'), action: queueAction }),
  z.object({ type: z.literal('setMode'), modeId: z.string() }),
  z.object({ type: z.literal('setConfig'), id: z.string(), value: z.union([z.string(), z.boolean()]) }),
  z.object({ type: z.literal('page'), from: index, to: index }),
  z.object({ type: z.literal('details'), index }),
  z.object({ type: z.literal('openLocation'), path: z.string(), line: z.optional(z.int().check(z.positive())) }),
  z.object({ type: z.literal('openDiff'), index, content: index }),
  z.object({ type: z.literal('saveResource'), index, content: index }),
  z.object({ type: z.literal('openTerminal'), terminalId: z.string() }),
  z.object({ type: z.literal('retryGap'), id }),
  z.object({ type: z.literal('openLink'), href: z.string().check(z.maxLength(10_000)) }),
  z.object({ type: z.literal('copy'), text: z.string() }),
  z.object({ type: z.literal('copyTurn'), turnId: id }),
  z.object({ type: z.literal('action'), id }),
  z.object({
    type: z.literal('command'),
    command: z.enum(['newSession', 'selectAgent', 'sessions', 'showLog', 'showTraffic', 'attachFile', 'openSettings']),
  }),
  z.object({
    type: z.literal('attachImage'),
    data: z.string().check(z.maxLength(MAX_IMAGE_BASE64)),
    mimeType: z.string().check(z.regex(/^image\/[\w.+-]+$/)),
    name: z.string().check(z.maxLength(500)),
  }),
  z.object({
    type: z.literal('attachFile'),
    data: z.string().check(z.maxLength(MAX_IMAGE_BASE64)),
    mimeType: z.string().check(z.regex(/^(?:[\w.+-]+\/[\w.+-]+)?$/)),
    name: z.string().check(z.maxLength(500)),
  }),
  z.object({ type: z.literal('detach'), id }),
  z.object({ type: z.literal('problem'), kind: z.enum(['error', 'csp']), text: z.string().check(z.maxLength(20_000)) }),
]);

/** Reads one message; undefined where it is none that the contract has. */
export function readFromWebview(message: unknown): FromWebview | undefined {
  const parsed = schema.safeParse(message);
  return parsed.success ? (parsed.data as FromWebview) : undefined;
}
