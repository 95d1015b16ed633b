// What turns need from outside: the session that prompts go to, how what belongs to a prompt is
// kept, and the user's settings.
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
import type { JudgePermission } from '../requests/permissionRequestHandler';

/**
 * Prepares a prompt.
 * @returns why it must wait
 */
export type Preparation = (signal: AbortSignal) => Promise<WaitReason<PauseCode> | undefined>;

export interface PromptSession {
  /** The conversation's, unique. */
  readonly key: string;
  readonly current: OpenedSession | undefined;
  /**
   * Undefined if a prompt may go immediately. The preparation rejects when its signal is aborted.
   */
  precedes(session: OpenedSession): Preparation | undefined;
  /**
   * Opens a session again that the agent has lost; as {@link precedes}.
   * @param inVain how often it was reopened for this prompt and refused again
   */
  reopen(session: OpenedSession, inVain: number): Preparation;
  /** A prompt is about to leave. */
  leaving(): void;
  /** Returns what goes along with the next message for a new session. */
  appendix(capabilities: PromptCapabilities): readonly ContentBlock[];
  answered(): void;
  /** A message that was sent before was taken in, perhaps at that time: its turn may be over. */
  takenAgain(): void;
  /**
   * The agent wants a sign-in: until then there is no session to send to.
   * @param data of its error
   */
  needSignIn(refusal: { readonly message: string; readonly data?: unknown }): void;
}

export interface TurnServices {
  readonly log: Log;
  readonly clock: Clock;
  /** Whether the queue continues after the user stopped a turn. */
  readonly afterCancel: () => 'pause' | 'continue';
  readonly barrierGraceMs?: number;
  /** In milliseconds. */
  readonly answerGraceMs?: number;
  readonly schedule?: Schedule;
}

export interface EventRecorder {
  readonly apply: (event: SessionEvent) => void;
  /** Stores all events of `run` in one transaction. */
  together<T>(run: () => T): T;
  commit(): void;
  afterwards(run: () => void): void;
}

export interface TurnControlOptions {
  readonly queue: PromptQueue;
  readonly model: Pick<SessionModel, 'state' | 'touch'>;
  readonly recorder: EventRecorder;
  readonly services: TurnServices;
  readonly session: PromptSession;
  /** Absent: there are no rules. */
  readonly judge?: JudgePermission | undefined;
}
