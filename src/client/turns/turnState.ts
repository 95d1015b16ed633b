// The state of the turn engine (engine.ts), its inputs and its effects. The state is plain JSON, so
// that another window can continue with the same agent from what `keptTurns` returns.
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
  /** Unique: one message may be sent more than once. */
  handle: z.string(),
  promptId: z.string(),
  /** What ends its turn: the answer to it, or the agent's own state. */
  endsBy,
  promised: z.boolean(),
  messageId: z.optional(z.string()),
  requestId: z.optional(z.string()),
  inTurn: z.boolean(),
  /** Neither answered nor given up. */
  awaited: z.boolean(),
  inserted: z.boolean(),
  cancelRequested: z.boolean(),
  /** It was sent into the running turn: it begins none, and its answer ends none. */
  steers: z.optional(z.boolean()),
  /** Answered with an error, while others of its turn continue. */
  failed: z.optional(z.boolean()),
  echoed: z.optional(z.boolean()),
  /** Not stored, see `restoredTurns`. */
  text: z.optional(z.string()),
});

/** What an open turn waits for while the agent is quiet. Times are milliseconds since 1970. */
const graceSchema = z.object({
  kind: z.enum([
    'barrier',
    /** Whether a turn_complete with an unknown id, after the answer, was meant for this turn. */
    'renumbered',
    'answer',
    /** Whether an answer without a reason is a receipt. */
    'unclear',
    /** Whether an idle that came early is the end. */
    'idle',
    'watch',
  ]),
  quietMs: z.number(),
  /** Absent: for as long as a tool call of the turn is open. */
  until: z.optional(z.number()),
  /** Updates that show no progress extend the wait up to here. */
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
  /** The reason for its end; the next prompt may still have to wait. */
  ended: z.optional(z.enum(stopReasons)),
  /** An idle that could not be its end when it came. */
  idle: z.optional(reportSchema),
  /** That idle came before the agent repeated the prompt: it may be the end of something else. */
  idleIsDoubtful: z.optional(z.boolean()),
  /** The answer, while a promised turn_complete is waited for. */
  answered: z.optional(z.object({ stopReason: z.enum(stopReasons), said: endingSchema })),
  /** Continues on another connection: its prompts get no answers. */
  isRejoined: z.optional(z.boolean()),
  /** The agent repeats it: it has no prompts of this connection. */
  isPast: z.optional(z.boolean()),
  /** The handle of the prompt whose answer names no reason. */
  unclear: z.optional(z.string()),
  /** Another client's message was taken in before the prompt of this turn. */
  hasForeign: z.optional(z.boolean()),
  /** A turn_complete with an unknown id came, and no output since. */
  hasForeignBarrier: z.optional(z.boolean()),
  hasOutput: z.optional(z.boolean()),
  /** Tool calls that are not over, if a turn_complete is promised. */
  calls: z.optional(z.array(z.string())),
  grace: z.optional(graceSchema),
});

/** Stored with the events of a session. Fields that were added later are optional. */
export const keptTurnsSchema = z.object({
  agentState: z.optional(z.string()),
  followers: z.number(),
  turn: z.optional(turnSchema),
  prompts: z.array(promptSchema),
  /** Messages of the user that may be the prompt of the turn in other words, until its receipt. */
  undecided: z.optional(z.array(z.custom<UserMessageEvent>((value) => typeof value === 'object' && value !== null))),
  /**
   * The agent's turn_complete names other ids than those that were sent: a proxy renumbers them.
   */
  renumbers: z.optional(z.boolean()),
  pastIds: z.optional(z.array(z.string())),
  /** Tool calls that are over, or whose turn is. */
  pastCalls: z.optional(z.array(z.string())),
  /** When steered messages whose answers trail the end of their turn are given up. */
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
  /** In the transcript. */
  readonly userIds: readonly string[];
  /** The connection was lost in the open turn, and the agent was not asked about it yet. */
  readonly cut?: Cut | undefined;
}

/** What the agent said since the connection was lost, the newest of each. */
export interface Cut {
  /** Before it was asked: it may be the state of an earlier turn, repeated. */
  readonly before?: StateReport | undefined;
  readonly state?: StateReport | undefined;
  readonly complete?: TurnComplete;
}

export type UserMessageEvent = Extract<SessionEvent, { type: 'message' | 'message_chunk' }> & {
  readonly messageId: string;
};

/** Tokens and an explanation that belong to the end of a turn. */
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
  /** The prompt is about to be sent again, to another session, with this text. */
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
  /** A message of the user that the agent sends; the engine says where it goes. */
  | { readonly type: 'message'; readonly event: UserMessageEvent }
  /** A message of the user in a past that the agent repeats. Only in an engine of that past. */
  | { readonly type: 'past' }
  /** The agent continues a turn that it began before this connection. */
  | { readonly type: 'continues' }
  /** Any update. `isOutput`: it shows progress, and is not applied yet. */
  | { readonly type: 'update'; readonly isOutput: boolean }
  /** `isNew`: the agent announces it; a call that was over may have had the same id. */
  | { readonly type: 'call'; readonly id: string; readonly isOpen: boolean; readonly isNew: boolean }
  | { readonly type: 'cancel' }
  /** `interrupted`: it was ended, and has not failed. */
  | { readonly type: 'exited'; readonly note: LocalizableText; readonly interrupted: boolean }
  /** The connection is lost, and the agent may continue the open turn. */
  | { readonly type: 'cut' }
  /** The agent is about to be asked about the turn that was cut. */
  | { readonly type: 'asking' }
  /** It was asked. `hasArrived`: whether it has the prompts of the turn; undefined: not known. */
  | { readonly type: 'asked'; readonly status: SessionStatus; readonly hasArrived: boolean | undefined }
  /** Wants the effect `quiet` once no update has come in the open turn for this long. */
  | { readonly type: 'watch'; readonly quietMs: number }
  | { readonly type: 'no_end'; readonly note: LocalizableText }
  /** Nothing could be heard for a while: what is waited for may come from now on. */
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
  /** The prompt is part of a turn from here on. */
  | {
      readonly type: 'inserted';
      readonly handle: string;
      readonly promptId: string;
      readonly turnId: string;
      readonly messageId?: string | undefined;
    }
  /** The prompt is over. Without a result: no turn took it in. */
  | {
      readonly type: 'done';
      readonly handle: string;
      readonly promptId: string;
      readonly result?: TurnResult;
      /** Whether the user had asked for the refusal. */
      readonly refused?: { readonly asked: boolean };
    }
  /** The turn is complete: the next prompt can be sent. */
  | { readonly type: 'settled'; readonly stopReason: StopReason }
  | { readonly type: 'quiet' }
  | { readonly type: 'lost' }
  | { readonly type: 'log'; readonly level: 'info' | 'warn'; readonly text: string }
  | { readonly type: 'mark'; readonly mark: TurnMark };

/** A point in the life of a prompt or turn, for its trace. */
export interface TurnMark {
  readonly kind: TurnMarkKind;
  readonly turnId?: string;
  readonly handle?: string;
  /** The JSON-RPC id that was sent, or that a turn_complete names. */
  readonly requestId?: string;
  readonly note?: TurnMarkNote;
}

/** @param turns of the session so far */
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
 * Returns the state as an earlier window left it.
 * @param turns of the session
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

/** Returns whether the answer to a prompt is still to come, or still counts. */
export function isAwaited({ awaited, inTurn, steers }: Prompt, turn: OpenTurn | undefined): boolean {
  return awaited || (inTurn && !steers && turn?.endsBy === 'response');
}

/** Returns whether prompts were sent that no turn has taken in. */
export function hasWaiting({ prompts }: TurnState): boolean {
  return prompts.some(({ awaited, inserted }) => awaited && !inserted);
}

export function hasSteers({ prompts }: Pick<TurnState, 'prompts'>): boolean {
  return prompts.some(({ steers, inTurn }) => steers && !inTurn);
}

/** Returns whether what runs is only the agent's own work, without a prompt. */
export function isOwnWork({ turn, prompts }: TurnState): boolean {
  return turn !== undefined && turn.ended === undefined && !prompts.some(({ inTurn }) => inTurn);
}

/** Returns whether a call of the turn is open. A stopped one may never be reported as ended. */
export function hasOpenCall({ calls, cancelRequested }: OpenTurn): boolean {
  return !cancelRequested && calls !== undefined && calls.length > 0;
}

export const GRACES = {
  /** Between the answer and the promised turn_complete. */
  barrierMs: 10_000,
  /** The same while updates show no progress. */
  longestBarrierMs: 60_000,
  /**
   * From `turn_complete` to the answer, or from a turn's end to the answer of a steered message.
   */
  answerMs: 10_000,
  /** Until an unclear answer, idle or turn_complete counts. */
  unclearMs: 1000,
};

export type Graces = Readonly<typeof GRACES>;
