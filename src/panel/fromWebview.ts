// Schemas of messages from the webview, which are untrusted because it renders text of agents.
import * as z from 'zod/mini';
import { MAX_CODE_PATH, MAX_FIND, MAX_LANG, MAX_REASON, MAX_TEXT, MAX_THUMBNAIL } from './limits';

export const MAX_ID = 500;
const id = z.string().check(z.maxLength(MAX_ID));
const index = z.int().check(z.nonnegative());
const words = z.string().check(z.maxLength(MAX_TEXT));
/** Leaves room to increment the revision of a draft. */
const revision = z.int().check(z.nonnegative(), z.lte(2 ** 50));
const MAX_IMAGE_BASE64 = 20_000_000;

const MAX_UNSENT = 1000;

const queueAction = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('edit'), id, text: z.string().check(z.maxLength(MAX_TEXT)) }),
  /** Holds a queued message while it is edited. */
  z.object({ kind: z.literal('hold'), id, held: z.boolean() }),
  z.object({ kind: z.literal('remove'), id }),
  /** Asks the agent to return a queued message. */
  z.object({ kind: z.literal('takeBack'), id }),
  z.object({ kind: z.literal('sendNow'), id }),
  z.object({ kind: z.literal('steer'), id }),
  z.object({ kind: z.literal('move'), id, to: index }),
  z.object({ kind: z.literal('pause') }),
  z.object({ kind: z.literal('resume') }),
  z.object({ kind: z.literal('clear') }),
]);

/** panel/checkForm.ts validates values against the fields later. */
const formText = z.string().check(z.maxLength(20_000));
const formValue: z.ZodMiniType<unknown> = z.union([
  formText,
  z.number(),
  z.boolean(),
  z.array(formText).check(z.maxLength(500)),
  z.null(),
]);

/** A page's URL never comes from the webview. */
const elicitationAction = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('submit'), values: z.record(z.string(), formValue) }),
  z.object({ kind: z.literal('open') }),
  z.object({ kind: z.literal('decline') }),
  z.object({ kind: z.literal('cancel') }),
]);

const changesScope = z.union([z.object({ turnId: id }), z.literal('review')]);
const file = z.string().check(z.maxLength(10_000));

function ofSession<const T extends string, S extends z.core.$ZodLooseShape>(type: T, shape: S) {
  return z.object({ type: z.literal(type), key: z.nullable(id), ...shape });
}

/** Untrusted. `key`: the session shown when the user acted; null if none. */
export const fromWebview = z.discriminatedUnion('type', [
  z.object({ type: z.literal('hello'), version: z.number() }),
  z.object({ type: z.literal('focused') }),
  ofSession('ack', { revision: z.number() }),
  /** The user interacted, so an idle session can start its agent. */
  ofSession('wake', {}),
  /** `now`: sends it into the running turn, or stops that. */
  ofSession('send', {
    clientId: id,
    text: z.string().check(z.maxLength(MAX_TEXT)),
    revision,
    now: z.optional(z.enum(['steer', 'sendNow'])),
  }),
  /** A slash command of the agent, without draft and attachments. */
  ofSession('sendCommand', { name: id }),
  ofSession('sendAgain', { turnId: id }),
  ofSession('draft', { text: z.string().check(z.maxLength(MAX_TEXT)), revision }),
  /**
   * Messages and text that no host received, oldest first; `text` is the rest of the draft. The
   * response is `accepted`. The host may know only the key of its session.
   */
  ofSession('unsent', {
    clientId: id,
    messages: z.array(z.string().check(z.maxLength(MAX_TEXT))).check(z.maxLength(MAX_UNSENT)),
    text: z.string().check(z.maxLength(MAX_TEXT)),
    revision,
  }),
  /** Null: at the end. */
  ofSession('scrolled', { anchor: z.nullable(z.object({ index, offset: z.int() })) }),
  ofSession('cancel', {}),
  /** `optionId` null: dismissed. `reason`: of a rejection. */
  ofSession('permission', {
    id,
    optionId: z.nullable(z.string()),
    reason: z.optional(z.string().check(z.maxLength(MAX_REASON))),
  }),
  ofSession('showRule', { index }),
  ofSession('editProposal', { id }),
  /** Saves the offered rule after a dialog, and answers with it. */
  ofSession('permissionRule', { id }),
  ofSession('elicitation', { id, answer: elicitationAction }),
  ofSession('stopOne', { kind: z.enum(['tool', 'terminal', 'subagent']), id: z.string() }),
  ofSession('queue', { action: queueAction }),
  ofSession('setMode', { modeId: z.string() }),
  ofSession('setConfig', { id: z.string(), value: z.union([z.string(), z.boolean()]) }),
  ofSession('page', { from: index, to: index }),
  /** Requests items nested in the call at `index`: `from` to `to`, around `around`, or the last. */
  ofSession('nested', { index, from: index, to: index, around: z.optional(index) }),
  /** Replaces the last search. Starts with the entry at `from`. The responses are `found`. */
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
  ofSession('focusView', { on: z.boolean() }),
  ofSession('timeline', { id: index, from: index }),
  /** Requests raw input and output of an item. The response is a `put`. */
  ofSession('details', { index }),
  ofSession('openLocation', { path: z.string(), line: z.optional(z.int().check(z.positive())) }),
  ofSession('openDiff', { index, content: index }),
  /** Compares a diff with what the call has written to disk. */
  ofSession('openWritten', { index, content: index }),
  ofSession('openOutput', { index, content: index }),
  ofSession('saveResource', { index, content: index }),
  ofSession('openTerminal', { terminalId: z.string() }),
  ofSession('retryGap', { id }),
  ofSession('retryGaps', {}),
  ofSession('openLink', { href: z.string().check(z.maxLength(10_000)) }),
  ofSession('copy', { text: z.string() }),
  ofSession('copyTurn', { turnId: id }),
  /** The webview may not have loaded everything that is copied. */
  ofSession('copySession', {
    /** Items from `from` up to `to`, with the partially selected text before and after them. */
    part: z.optional(z.object({ from: index, to: index, before: words, after: words })),
  }),
  /** `path`: of the code's file, as written by the agent. */
  ofSession('useCode', {
    action: z.enum(['insert', 'apply', 'open', 'run', 'savePicture']),
    text: z.string().check(z.maxLength(MAX_TEXT)),
    lang: z.string().check(z.maxLength(MAX_LANG)),
    path: z.optional(z.string().check(z.maxLength(MAX_CODE_PATH))),
  }),
  ofSession('action', { id }),
  ofSession('command', {
    command: z.enum([
      'newSession',
      'selectAgent',
      'selectFolder',
      'sessions',
      'showLog',
      'showTraffic',
      'troubleshoot',
      'attachFile',
      'openSettings',
      'openDocumentation',
      'showKeys',
      'installAgent',
      'renameSession',
      'forkSession',
      'checkStatus',
      'sessionInfo',
      'applyWorktree',
      'commitWorktree',
      'removeWorktree',
      'compareSessions',
      'continueWith',
      'continueWithSummary',
      'setModel',
      'savePreset',
      'openAsMarkdown',
      'commentOnPlan',
      'export',
    ]),
  }),
  ofSession('useAgent', { id }),
  /** `data`: base64. */
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
  ofSession('prompts', {}),
  ofSession('savePrompt', { text: words }),
  ofSession('changes', { scope: changesScope, from: index, to: index }),
  /** Without `file`, applies to the whole scope. */
  ofSession('changesAction', {
    kind: z.enum(['open', 'keep', 'undo', 'redo']),
    scope: changesScope,
    file: z.optional(file),
  }),
  ofSession('cancelChanges', {}),
  /** The host shows what will change and asks. */
  ofSession('restoreCheckpoint', { turnId: id }),
  /**
   * Starts a new session with the history before a message, and the message. `edit` restores the
   * files first, `retry` and `review` use another agent.
   */
  ofSession('continueFrom', { turnId: id, how: z.enum(['edit', 'fork', 'retry', 'review']) }),
  z.object({ type: z.literal('problem'), kind: z.enum(['error', 'csp']), text: z.string().check(z.maxLength(20_000)) }),
]);

type Deep<T> = T extends object ? { readonly [K in keyof T]: Deep<T[K]> } : T;
type WithoutKey<T> = T extends unknown ? Omit<T, 'key'> : never;

export type FromWebview = Deep<z.infer<typeof fromWebview>>;
/** The page's first script runs: not for the surface, which hears the greeting of the main one. */
export interface Begun {
  readonly type: 'begun';
}
export type PageMessage = Extract<FromWebview, { type: 'hello' | 'focused' | 'problem' }>;
export type SessionMessage = WithoutKey<Exclude<FromWebview, PageMessage>>;
type Message<T extends SessionMessage['type']> = Extract<SessionMessage, { type: T }>;

export type QueueAction = Message<'queue'>['action'];
/** How a message is sent during a turn instead of waiting for its end. */
export type SendNow = NonNullable<Message<'send'>['now']>;
export type ElicitationAction = Message<'elicitation'>['answer'];
export type ChangesScope = Message<'changes'>['scope'];
export type ChangesAction = Omit<Message<'changesAction'>, 'type'>;
export type FindQuery = Message<'find'>['query'];
export type CodeAction = Message<'useCode'>['action'];
export type FromTurn = Message<'continueFrom'>['how'];
