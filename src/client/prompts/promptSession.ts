// What turns need from outside: the session that prompts go to, how what belongs to a prompt is kept,
// and the user's settings.
import type { PromptCapabilities } from '../../acp/protocol/dialect';
import type { Log } from '../../base/log';
import type { ContentBlock } from '../../session/events/content';
import type { SessionEvent } from '../../session/events/event';
import type { SessionModel } from '../../session/model/model';
import type { PromptQueue } from '../../session/queue/queue';
import type { PauseCode, WaitReason } from '../../session/queue/waitReason';
import type { OpenedSession } from '../ports/agentLink';
import type { Schedule } from '../ports/grace';
import type { Clock } from '../ports/ports';
import type { JudgePermission } from '../requests/judgement';

/** Sees to it that a prompt can go. @returns why it must wait */
export type Preparation = (signal: AbortSignal) => Promise<WaitReason<PauseCode> | undefined>;

/** The session that prompts go to. */
export interface PromptSession {
  /** Undefined while nothing can be sent. */
  readonly current: OpenedSession | undefined;
  /**
   * Returns what has to be done before a prompt, undefined where it may go at once. It gives why
   * the prompt must wait, and rejects where the signal is aborted.
   */
  precedes(session: OpenedSession): Preparation | undefined;
  /**
   * Returns what opens a session again that the agent no longer has; as {@link precedes}.
   * @param inVain how often it was opened again for this prompt, which the agent then refused
   */
  reopen(session: OpenedSession, inVain: number): Preparation;
  /**
   * A prompt is about to leave; what was heard of the session until now may show that it must wait.
   */
  leaving(): void;
  /** Returns what goes along with the next message: what a new session must be told of the one before. */
  appendix(capabilities: PromptCapabilities): readonly ContentBlock[];
  /** The agent answered a prompt. */
  answered(): void;
  /**
   * The agent wants a sign-in: until then there is no session to send to.
   * @param message its words
   * @param data of its error
   */
  needSignIn(message: string, data?: unknown): void;
}

/** What turns need from outside. */
export interface TurnServices {
  readonly log: Log;
  readonly clock: Clock;
  /** Returns whether the queue continues automatically after the user stopped a turn. */
  readonly afterCancel: () => 'pause' | 'continue';
  readonly barrierGraceMs?: number;
  /** How long an answer may trail its turn_complete, in milliseconds. */
  readonly answerGraceMs?: number;
  /** Timers, so that tests can hold them. */
  readonly schedule?: Schedule;
}

/** Applies and stores events. */
export interface EventRecorder {
  readonly apply: (event: SessionEvent) => void;
  /** Stores all events of `run` in one transaction. */
  together<T>(run: () => T): T;
  /** Stores what came so far, before the prompt leaves. */
  commit(): void;
  /** Runs something once all of {@link together} is stored. */
  afterwards(run: () => void): void;
}

export interface TurnControlOptions {
  readonly queue: PromptQueue;
  readonly model: Pick<SessionModel, 'state' | 'touch'>;
  readonly recorder: EventRecorder;
  readonly services: TurnServices;
  readonly session: PromptSession;
  /** What rules say of a permission request; absent: there are no rules. */
  readonly judge?: JudgePermission | undefined;
}
