// The state, inputs and effects of the turn engine (engine.ts). The state is plain JSON, so that
// another window can continue with the same agent from what `keptTurns` returns.
import * as z from 'zod/mini';
import type { SessionStatus } from '../../acp/proposals/sessionStatus';
import type { PromptAnswer, StateReport, TurnComplete } from '../../acp/protocol/dialect';
import type { LocalizableText } from '../../base/localizable';
import type { TurnMarkKind, TurnMarkNote } from '../../panel/trafficContract';
import type { SessionEvent, StopReason } from '../../session/events/event';

const stopReasons = [
  'end_turn',
  'cancelled',
  'refusal',
  'max_tokens',
  'max_turn_requests',
  'error',
  'unknown',
] as const;
const endsBy = z.enum(['response', 'state']);
const reportSchema = z.custom<StateReport>((value) => typeof (value as StateReport | undefined)?.state === 'string');

const promptSchema = z.object({
  /** Unique, as one message may be sent more than once. */
  handle: z.string(),
  promptId: z.string(),
  /** What ends its turn: the response, or the agent's state. */
  endsBy,
  promised: z.boolean(),
  messageId: z.optional(z.string()),
  requestId: z.optional(z.string()),
  inTurn: z.boolean(),
  /** Neither answered nor given up. */
  awaited: z.boolean(),
  inserted: z.boolean(),
  cancelRequested: z.boolean(),
  /** Sent into the running turn: it begins none, and its answer ends none. */
  steers: z.optional(z.boolean()),
  /** Answered with an error while other prompts of its turn continue. */
  failed: z.optional(z.boolean()),
  echoed: z.optional(z.boolean()),
  /** Not stored, see `restoredTurns`. */
  text: z.optional(z.string()),
});

/** What an open turn waits for while the agent is silent. Times are milliseconds since 1970. */
const graceSchema = z.object({
  kind: z.enum([
    'barrier',
    /** A turn_complete with an unknown id came after the response: was it meant for this turn? */
    'renumbered',
    'answer',
    /** A response without a reason came: is it a receipt? */
    'unclear',
    /** An early idle came: is it the end? */
    'idle',
    'watch',
  ]),
  quietMs: z.number(),
  /** Absent while a tool call of the turn is open. */
  until: z.optional(z.number()),
  /** Updates without progress extend the wait up to here. */
  longest: z.optional(z.number()),
});

const endingSchema = z.custom<Ending>((value) => typeof value === 'object' && value !== null);

const turnSchema = z.object({
  id: z.string(),
  endsBy,
  promised: z.boolean(),
  busySeen: z.boolean(),
  barrierSeen: z.boolean(),
  cancelRequested: z.boolean(),
  ended: z.optional(z.enum(stopReasons)),
  idle: z.optional(reportSchema),
  /** That idle came before the prompt's echo, so it may have ended something else. */
  idleIsDoubtful: z.optional(z.boolean()),
  answered: z.optional(z.object({ stopReason: z.enum(stopReasons), said: endingSchema })),
  /** Continues on another connection: its prompts get no responses. */
  isRejoined: z.optional(z.boolean()),
  /** Replayed by the agent, without prompts on this connection. */
  isPast: z.optional(z.boolean()),
  /** Handle of the prompt whose response gives no reason. */
  unclear: z.optional(z.string()),
  /** Another client's message was taken in before this turn's prompt. */
  hasForeign: z.optional(z.boolean()),
  /** A turn_complete with an unknown id came, and no output since. */
  hasForeignBarrier: z.optional(z.boolean()),
  hasOutput: z.optional(z.boolean()),
  /** Open tool calls, if a turn_complete is promised. */
  calls: z.optional(z.array(z.string())),
  grace: z.optional(graceSchema),
});

/** Stored with the events of a session, so fields that were added later are optional. */
export const keptTurnsSchema = z.object({
  agentState: z.optional(z.string()),
  followers: z.number(),
  turn: z.optional(turnSchema),
  prompts: z.array(promptSchema),
  /** User messages that may be the turn's prompt in other words, until its receipt. */
  undecided: z.optional(z.array(z.custom<UserMessageEvent>((value) => typeof value === 'object' && value !== null))),
  /** The ids in turn_complete differ from those sent: a proxy renumbers them. */
  renumbers: z.optional(z.boolean()),
  pastIds: z.optional(z.array(z.string())),
  /** Tool calls that have ended, or whose turn has. */
  pastCalls: z.optional(z.array(z.string())),
  /** When steered prompts without an answer are given up after their turn. */
  steersUntil: z.optional(z.number()),
});

export type KeptTurns = z.infer<typeof keptTurnsSchema>;
export type Prompt = z.infer<typeof promptSchema>;
export type OpenTurn = z.infer<typeof turnSchema>;
export type GraceKind = z.infer<typeof graceSchema>['kind'];

export interface TurnState extends Readonly<KeptTurns> {
  readonly turns: number;
  readonly pastIds: string[];
  readonly pastCalls: string[];
  readonly userIds: readonly string[];
  /** The connection was lost in the open turn, and the agent was not asked yet. */
  readonly cut?: Cut | undefined;
}

/** The newest messages of each kind since the connection was lost. */
export interface Cut {
  /** Before the agent was asked: may repeat the state of an earlier turn. */
  readonly before?: StateReport | undefined;
  readonly state?: StateReport | undefined;
  readonly complete?: TurnComplete;
}

export type UserMessageEvent = Extract<SessionEvent, { type: 'message' | 'message_chunk' }> & {
  readonly messageId: string;
};

export type Ending = Pick<Extract<SessionEvent, { type: 'turn_ended' }>, 'tokens' | 'tokenParts' | 'note'>;

export interface StoredFailure {
  readonly code: string;
  readonly message: LocalizableText;
  readonly hint?: LocalizableText;
}

export type PromptTerms = Pick<Prompt, 'handle' | 'promptId' | 'endsBy' | 'promised'> & {
  readonly text: string;
  readonly steers?: boolean;
};

export type TurnFact =
  | ({ readonly type: 'prompt' } & PromptTerms)
  | { readonly type: 'sent'; readonly handle: string; readonly requestId: string }
  /** The prompt is about to be sent to another session, with this text. */
  | { readonly type: 'text'; readonly handle: string; readonly text: string }
  | { readonly type: 'answer'; readonly handle: string; readonly answer: PromptAnswer }
  /** `withdrawn`: the error says that it was cancelled. */
  | {
      readonly type: 'failed';
      readonly handle: string;
      readonly error: StoredFailure;
      readonly withdrawn: boolean;
    }
  | { readonly type: 'state'; readonly report: StateReport }
  | { readonly type: 'complete'; readonly barrier: TurnComplete }
  /** A user message from the agent; the engine decides where it belongs. */
  | { readonly type: 'message'; readonly event: UserMessageEvent }
  /** A replayed user message. Only in an engine for the replay. */
  | { readonly type: 'past' }
  | { readonly type: 'continues' }
  /** Any update. `isOutput`: it shows progress and is not applied yet. */
  | { readonly type: 'update'; readonly isOutput: boolean }
  /** `isNew`: the agent announces the call, so its id may be reused. */
  | { readonly type: 'call'; readonly id: string; readonly isOpen: boolean; readonly isNew: boolean }
  | { readonly type: 'cancel' }
  /** `interrupted`: ended on purpose, not a failure. */
  | { readonly type: 'exited'; readonly note: LocalizableText; readonly interrupted: boolean }
  | { readonly type: 'cut' }
  | { readonly type: 'asking' }
  /** `hasArrived`: whether it has the prompts of the turn; undefined: unknown. */
  | { readonly type: 'asked'; readonly status: SessionStatus; readonly hasArrived: boolean | undefined }
  /** Requests the effect `quiet` after this long without an update in the open turn. */
  | { readonly type: 'watch'; readonly quietMs: number }
  | { readonly type: 'no_end'; readonly note: LocalizableText }
  /** Nothing could be received for a while, so all waits begin again. */
  | { readonly type: 'resumed' }
  | { readonly type: 'tick' };

/** `at`: ms since 1970. */
export type TurnInput = TurnFact & { readonly at: number };

export interface TurnResult {
  readonly turnId: string;
  readonly stopReason: StopReason;
}

export type TurnEffect =
  | { readonly type: 'event'; readonly event: SessionEvent }
  | {
      readonly type: 'inserted';
      readonly handle: string;
      readonly promptId: string;
      readonly turnId: string;
      readonly messageId?: string | undefined;
    }
  /** The prompt is finished; without a result, no turn took it in. */
  | {
      readonly type: 'done';
      readonly handle: string;
      readonly promptId: string;
      readonly result?: TurnResult;
      /** Whether the user had asked for the refusal. */
      readonly refused?: { readonly asked: boolean };
    }
  | { readonly type: 'settled'; readonly stopReason: StopReason }
  | { readonly type: 'quiet' }
  | { readonly type: 'lost' }
  | { readonly type: 'log'; readonly level: 'info' | 'warn'; readonly text: string }
  | { readonly type: 'mark'; readonly mark: TurnMark };

export interface TurnMark {
  readonly kind: TurnMarkKind;
  readonly turnId?: string;
  readonly handle?: string;
  /** The JSON-RPC id that was sent, or that a turn_complete names. */
  readonly requestId?: string;
  readonly note?: TurnMarkNote;
}

/** @param turns number of turns in the session so far */
export function initialTurns(turns = 0): TurnState {
  return { turns, followers: 0, prompts: [], pastIds: [], pastCalls: [], userIds: [] };
}

const MAX_KEPT_IDS = 20;

export function keptTurns({ turns: _, userIds, cut, ...kept }: TurnState): KeptTurns {
  const { turn } = kept;
  const prompts = kept.prompts.map(({ text, ...prompt }) => ({ ...prompt, awaited: isAwaited(prompt, turn) }));
  const [pastIds, pastCalls] = [kept.pastIds.slice(-MAX_KEPT_IDS), kept.pastCalls.slice(-MAX_KEPT_IDS)];
  return { ...kept, prompts, pastIds, pastCalls };
}

/**
 * Returns the state that an earlier window stored.
 * @param turns number of turns in the session
 * @param userIds of messages in the transcript
 */
export function restoredTurns(
  kept: KeptTurns,
  turns: number,
  textOf: (promptId: string) => string,
  userIds: readonly string[],
): TurnState {
  const prompts = kept.prompts.map((prompt) => ({ ...prompt, text: textOf(prompt.promptId) }));
  const { pastIds = [], pastCalls = [] } = kept;
  return { ...kept, turns, prompts, pastIds, pastCalls, userIds };
}

/** Returns whether a response to the prompt is still due, or would still count. */
export function isAwaited({ awaited, inTurn, steers }: Prompt, turn: OpenTurn | undefined): boolean {
  return awaited || (inTurn && !steers && turn?.endsBy === 'response');
}

export function hasWaitingPrompt({ prompts }: TurnState): boolean {
  return prompts.some(({ awaited, inserted }) => awaited && !inserted);
}

export function hasSteeredPrompt({ prompts }: Pick<TurnState, 'prompts'>): boolean {
  return prompts.some(({ steers, inTurn }) => steers && !inTurn);
}

/** Returns whether only the agent's own work is running, without a prompt. */
export function isOwnWork({ turn, prompts }: TurnState): boolean {
  return turn !== undefined && turn.ended === undefined && !prompts.some(({ inTurn }) => inTurn);
}

/**
 * Returns whether a tool call of the turn is open. A stopped one may never be reported as ended.
 */
export function hasOpenCall({ calls, cancelRequested }: OpenTurn): boolean {
  return !cancelRequested && calls !== undefined && calls.length > 0;
}

export const GRACES = {
  /** From the response to the promised turn_complete. */
  barrierMs: 10_000,
  /** As `barrierMs`, while updates show no progress. */
  longestBarrierMs: 60_000,
  /**
   * From `turn_complete` to the response, or from a turn's end to the answer to a steered prompt.
   */
  answerMs: 10_000,
  unclearMs: 1000,
};

export type Graces = Readonly<typeof GRACES>;
