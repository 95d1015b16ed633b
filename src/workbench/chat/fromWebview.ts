// Validates messages from the webview: it renders text of agents, so it is not trusted.
import * as z from 'zod/mini';
import { at } from '../../base/untrusted';
import {
  type FromWebview,
  MAX_CODE_PATH,
  MAX_FIND,
  MAX_LANG,
  MAX_REASON,
  MAX_TEXT,
  MAX_THUMBNAIL,
} from '../../panel/contract';

const MAX_ID = 500;
const id = z.string().check(z.maxLength(MAX_ID));
const index = z.int().check(z.nonnegative());
/** It must stay possible to add one to the revision of a draft. */
const revision = z.int().check(z.nonnegative(), z.lte(2 ** 50));
const MAX_IMAGE_BASE64 = 20_000_000;

const MAX_UNSENT = 1000;

const queueAction = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('edit'), id, text: z.string().check(z.maxLength(MAX_TEXT)) }),
  z.object({ kind: z.literal('hold'), id, held: z.boolean() }),
  z.object({ kind: z.literal('remove'), id }),
  z.object({ kind: z.literal('takeBack'), id }),
  z.object({ kind: z.literal('sendNow'), id }),
  z.object({ kind: z.literal('move'), id, to: index }),
  z.object({ kind: z.literal('pause') }),
  z.object({ kind: z.literal('resume') }),
  z.object({ kind: z.literal('clear') }),
]);

/** Fields judge values later (panel/checkForm.ts); here only kinds and sizes. */
const formText = z.string().check(z.maxLength(20_000));
const formValue = z.union([formText, z.number(), z.boolean(), z.array(formText).check(z.maxLength(500)), z.null()]);

const elicitationAction = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('submit'), values: z.record(z.string(), formValue) }),
  z.object({ kind: z.literal('open') }),
  z.object({ kind: z.literal('decline') }),
  z.object({ kind: z.literal('cancel') }),
]);

const changesScope = z.union([z.object({ turnId: id }), z.literal('review')]);
/** The path of a changed file. */
const file = z.string().check(z.maxLength(10_000));

function ofSession<const T extends string, S extends z.core.$ZodLooseShape>(type: T, shape: S) {
  return z.object({ type: z.literal(type), key: z.nullable(id), ...shape });
}

const schema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('hello'), version: z.number() }),
  z.object({ type: z.literal('focused') }),
  ofSession('ack', { revision: z.number() }),
  ofSession('wake', {}),
  ofSession('send', {
    clientId: id,
    text: z.string().check(z.maxLength(MAX_TEXT)),
    revision,
    now: z.optional(z.boolean()),
  }),
  ofSession('sendAgain', { turnId: id }),
  ofSession('draft', { text: z.string().check(z.maxLength(MAX_TEXT)), revision }),
  ofSession('unsent', {
    clientId: id,
    messages: z.array(z.string().check(z.maxLength(MAX_TEXT))).check(z.maxLength(MAX_UNSENT)),
    text: z.string().check(z.maxLength(MAX_TEXT)),
    revision,
  }),
  ofSession('scrolled', { anchor: z.nullable(z.object({ index, offset: z.int() })) }),
  ofSession('cancel', {}),
  ofSession('permission', {
    id,
    optionId: z.nullable(z.string()),
    reason: z.optional(z.string().check(z.maxLength(MAX_REASON))),
  }),
  ofSession('showRule', { index }),
  ofSession('editProposal', { id }),
  ofSession('permissionRule', { id }),
  ofSession('elicitation', { id, answer: elicitationAction }),
  ofSession('stopOne', { kind: z.enum(['tool', 'terminal', 'subagent']), id: z.string() }),
  ofSession('queue', { action: queueAction }),
  ofSession('setMode', { modeId: z.string() }),
  ofSession('setConfig', { id: z.string(), value: z.union([z.string(), z.boolean()]) }),
  ofSession('page', { from: index, to: index }),
  ofSession('nested', { index, from: index, to: index, around: z.optional(index) }),
  ofSession('find', {
    id: index,
    from: index,
    query: z.object({
      text: z.string().check(z.minLength(1), z.maxLength(MAX_FIND.query)),
      matchCase: z.boolean(),
      wholeWord: z.boolean(),
      regex: z.boolean(),
    }),
  }),
  ofSession('findIn', {
    id: index,
    request: index,
    texts: z.array(z.string().check(z.maxLength(MAX_FIND.text))).check(z.maxLength(MAX_FIND.texts)),
  }),
  ofSession('endFind', {}),
  ofSession('dismissAway', {}),
  ofSession('timeline', { id: index, from: index }),
  ofSession('details', { index }),
  ofSession('openLocation', { path: z.string(), line: z.optional(z.int().check(z.positive())) }),
  ofSession('openDiff', { index, content: index }),
  ofSession('openWritten', { index, content: index }),
  ofSession('openOutput', { index, content: index }),
  ofSession('saveResource', { index, content: index }),
  ofSession('openTerminal', { terminalId: z.string() }),
  ofSession('retryGap', { id }),
  ofSession('retryGaps', {}),
  ofSession('openLink', { href: z.string().check(z.maxLength(10_000)) }),
  ofSession('copy', { text: z.string() }),
  ofSession('copyTurn', { turnId: id }),
  ofSession('copySession', {}),
  ofSession('useCode', {
    action: z.enum(['insert', 'apply', 'open', 'run', 'draw']),
    text: z.string().check(z.maxLength(MAX_TEXT)),
    lang: z.string().check(z.maxLength(MAX_LANG)),
    path: z.optional(z.string().check(z.maxLength(MAX_CODE_PATH))),
  }),
  ofSession('action', { id }),
  ofSession('command', {
    command: z.enum([
      'newSession',
      'selectAgent',
      'sessions',
      'showLog',
      'showTraffic',
      'troubleshoot',
      'attachFile',
      'openSettings',
      'showKeys',
      'installAgent',
      'renameSession',
      'forkSession',
      'checkStatus',
      'applyWorktree',
      'commitWorktree',
      'removeWorktree',
      'continueWith',
      'openAsMarkdown',
      'commentOnPlan',
      'export',
    ]),
  }),
  ofSession('useAgent', { id }),
  ofSession('attachImage', {
    data: z.string().check(z.maxLength(MAX_IMAGE_BASE64)),
    mimeType: z.string().check(z.regex(/^image\/[\w.+-]+$/)),
    name: z.string().check(z.maxLength(500)),
    thumbnail: z.optional(
      z.string().check(z.maxLength(MAX_THUMBNAIL), z.regex(/^data:image\/(?:jpeg|png|webp);base64,[A-Za-z0-9+/]+=*$/)),
    ),
  }),
  ofSession('attachFile', {
    data: z.string().check(z.maxLength(MAX_IMAGE_BASE64)),
    mimeType: z.string().check(z.regex(/^(?:[\w.+-]+\/[\w.+-]+)?$/)),
    name: z.string().check(z.maxLength(500)),
  }),
  ofSession('attachUris', { uris: z.array(file).check(z.maxLength(100)) }),
  ofSession('detach', { id }),
  ofSession('mentions', { query: z.string().check(z.maxLength(200)) }),
  ofSession('mention', { id: file }),
  ofSession('changes', { scope: changesScope, from: index, to: index }),
  ofSession('changesAction', {
    kind: z.enum(['open', 'keep', 'undo']),
    scope: changesScope,
    file: z.optional(file),
  }),
  ofSession('cancelChanges', {}),
  ofSession('restoreCheckpoint', { turnId: id }),
  ofSession('continueFrom', { turnId: id, how: z.enum(['edit', 'fork', 'retry', 'review']) }),
  z.object({ type: z.literal('problem'), kind: z.enum(['error', 'csp']), text: z.string().check(z.maxLength(20_000)) }),
]);

/** Allowed before a session is shown. */
const BEFORE_SESSION: ReadonlySet<string> = new Set([
  'wake',
  'send',
  'unsent',
  'draft',
  'command',
  'attachImage',
  'attachFile',
  'find',
  'findIn',
  'endFind',
  'timeline',
]);

/** Why a message was refused, with its ids, so that the page can say what wasn't done. */
export interface Refusal {
  readonly refused: 'too-large' | 'invalid';
  readonly type: string;
  readonly clientId?: string;
  readonly id?: string;
}

export function readFromWebview(message: unknown): FromWebview | Refusal {
  const parsed = schema.safeParse(message);
  if (!parsed.success) {
    const tooLarge = parsed.error.issues.some(({ code }) => code === 'too_big');
    return { refused: tooLarge ? 'too-large' : 'invalid', ...idsOf(message) };
  }
  const { data } = parsed;
  if ('key' in data && data.key === null && !BEFORE_SESSION.has(data.type))
    return { refused: 'invalid', ...idsOf(message) };
  return data as FromWebview;
}

/** Returns the ids of a message, whatever else is wrong with it. */
export function idsOf(message: unknown): Omit<Refusal, 'refused'> {
  const [type, clientId, id] = ['type', 'clientId', 'id'].map((name) => {
    const value = at(message, name);
    return typeof value === 'string' && value.length <= MAX_ID ? value : undefined;
  });
  return { type: type ?? 'unknown', clientId, id };
}
