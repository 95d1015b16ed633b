// How a conversation gets its session (new, reopened or forked), and which protocol method that
// takes.

import type { SessionStatus } from '../../acp/proposals/sessionStatus';
import type { AgentFeatures } from '../../acp/protocol/dialect';
import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';

export type SessionOpenStrategy =
  | { readonly kind: 'new' }
  | {
      readonly kind: 'reopen';
      readonly sessionId: string;
      /** `replay`: rebuilt from what the agent repeats. `keep`: stored here already. */
      readonly transcript: 'replay' | 'keep';
      /**
       * The connection was lost in a turn: only a method with replay brings back missed updates.
       */
      readonly catchesUp?: true;
      /**
       * Ask whether the agent already handles the session, perhaps for another client; then it is
       * joined, not loaded.
       */
      readonly joins?: true;
      /** The method that the agent refused; the other one is used. */
      readonly refused?: 'load' | 'resume';
    }
  | {
      readonly kind: 'fork';
      readonly sessionId: string;
      /**
       * The agent's id of the last message in the fork; absent: all. The transcript up to it is
       * stored here, and a new session gets it if the agent doesn't fork there.
       */
      readonly messageId?: string;
    };

type Reopening = Extract<SessionOpenStrategy, { kind: 'reopen' }>;

/**
 * The request that opens a session. `replays`: the agent repeats earlier messages, so the
 * transcript begins empty.
 */
export type OpenMethod =
  | { readonly method: 'new' | 'fork'; readonly replays: false }
  | { readonly method: 'load'; readonly replays: true }
  /** Opens nothing: the agent confirms that it has the session. */
  | { readonly method: 'status'; readonly replays: false }
  | { readonly method: 'resume'; readonly replays: boolean };

/**
 * Chooses by the agent's features (protocol.md 1.2, 3.5, 5.8). With a complete transcript,
 * `session/resume` is preferred, as `session/load` repeats everything; else a method with replay.
 * An agent with neither may be asked (4.2).
 * @throws ParleyError `cannot-reopen`, `cannot-fork`
 */
export function openMethodFor(opening: SessionOpenStrategy, features: AgentFeatures, agent: string): OpenMethod {
  if (opening.kind === 'new') return { method: 'new', replays: false };
  if (opening.kind === 'fork') {
    if (features.fork) return { method: 'fork', replays: false };
    throw new ParleyError('cannot-fork', localizable("{0} can't fork sessions.", agent), {
      hint: localizable('Start a new session instead.'),
    });
  }
  const { refused } = opening;
  const load = refused === 'load' ? undefined : features.load;
  const resume = refused === 'resume' ? undefined : features.resume;
  if (opening.catchesUp && load) return { method: 'load', replays: true };
  if ((opening.transcript === 'replay' || opening.catchesUp) && resume?.replay)
    return { method: 'resume', replays: true };
  if (resume && (opening.transcript === 'keep' || !load)) return { method: 'resume', replays: false };
  if (load) return { method: 'load', replays: true };
  if (opening.transcript === 'keep' && features.status) return { method: 'status', replays: false };
  throw new ParleyError('cannot-reopen', localizable("{0} can't reopen earlier sessions.", agent), {
    hint: localizable('Start a new session instead.'),
  });
}

/**
 * Returns how to join a session that the agent handles (protocol.md 4.2); undefined if it doesn't,
 * or has to load it.
 */
export function joinMethodFor(
  { answer, isUnattached }: SessionStatus,
  { load, resume }: AgentFeatures,
): OpenMethod | undefined {
  if (answer !== 'live') return undefined;
  if (resume) return { method: 'resume', replays: resume.replay !== undefined };
  return isUnattached && load ? undefined : { method: 'status', replays: false };
}

export function rejoining(sessionId: string): Reopening {
  return { kind: 'reopen', sessionId, transcript: 'keep', catchesUp: true };
}

export function otherMethod(opening: Reopening, { load, resume }: AgentFeatures): Reopening | undefined {
  if (opening.refused || !load || !resume) return undefined;
  return { ...opening, refused: opening.catchesUp ? 'load' : 'resume' };
}

/**
 * Returns how to reopen a session that the agent has lost.
 * @param inVain earlier reopenings after which the agent still didn't have it: the other method is
 * next, then a new session
 */
export function reopening(sessionId: string, inVain: number, features: AgentFeatures): SessionOpenStrategy {
  const opening: Reopening = { kind: 'reopen', sessionId, transcript: 'keep' };
  if (inVain === 0) return opening;
  return (inVain === 1 ? otherMethod(opening, features) : undefined) ?? { kind: 'new' };
}

export function canReopen(features: AgentFeatures): boolean {
  return features.load !== undefined || features.resume !== undefined;
}

/** Returns whether a session can outlive its connection. */
export function canContinueLater(features: AgentFeatures): boolean {
  return canReopen(features) || features.status !== undefined;
}

export function strategyFor(kept: { readonly agentSessionId?: string } | undefined): SessionOpenStrategy {
  const sessionId = kept?.agentSessionId;
  return sessionId === undefined ? { kind: 'new' } : { kind: 'reopen', sessionId, transcript: 'keep' };
}
