// What the turns of a session depend on: the open session, a recorder and settings.
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
  readonly key: string;
  readonly current: OpenedSession | undefined;
  /**
   * Returns what must run before a prompt; undefined if none. It rejects when its signal is
   * aborted.
   */
  precedes(session: OpenedSession): Preparation | undefined;
  /**
   * Reopens a session that the agent has lost; as {@link precedes}.
   * @param inVain how often it was reopened for this prompt and refused again
   */
  reopen(session: OpenedSession, inVain: number): Preparation;
  leaving(): void;
  /** Returns the transcript for a new session, to send with the next message. */
  appendix(capabilities: PromptCapabilities): readonly ContentBlock[];
  answered(): void;
  /** A message that was sent before was taken in, possibly at that time: its turn may be over. */
  duplicateAccepted(): void;
  /**
   * The agent wants a sign-in, and the session can't be used until then.
   * @param data of its error
   */
  needSignIn(refusal: { readonly message: string; readonly data?: unknown }): void;
}

export interface TurnServices {
  readonly log: Log;
  readonly clock: Clock;
  readonly afterCancel: () => 'pause' | 'continue';
  readonly barrierGraceMs?: number;
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
  readonly judge?: JudgePermission | undefined;
}
