// How a conversation gets its session: a new one, an old one of the agent opened again, or one that
// begins with the past of another; and the method of the protocol that this takes with an agent.

import type { SessionStatus } from '../../acp/proposals/sessionStatus';
import type { AgentFeatures } from '../../acp/protocol/dialect';
import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import type { SessionEvent } from '../../session/events/event';
import { eventsOf, terminalsOf } from '../../session/model/entryEvents';
import type { SessionState } from '../../session/model/state';

export type SessionOpenStrategy =
  | { readonly kind: 'new' }
  | {
      readonly kind: 'reopen';
      readonly sessionId: string;
      /**
       * `replay`: the transcript is to be rebuilt from what the agent repeats. `keep`: it stands
       * here already.
       */
      readonly transcript: 'replay' | 'keep';
      /**
       * The connection was lost in a turn: what was said since then is missing here, and only a way
       * that repeats the session brings it back.
       */
      readonly catchesUp?: true;
      /**
       * The agent is asked first whether it handles the session, perhaps for another client: then the
       * session is joined, and not loaded.
       */
      readonly joins?: true;
      /** The agent has refused one of two ways: the other one is taken. */
      readonly refused?: 'load' | 'resume';
    }
  | {
      readonly kind: 'fork';
      readonly sessionId: string;
      /**
       * What makes the transcript of the session that is forked, where it stands in this window
       * (pastOf).
       */
      readonly past?: readonly SessionEvent[];
    };

type Reopening = Extract<SessionOpenStrategy, { kind: 'reopen' }>;

/**
 * The method that an opening takes with an agent. `replays`: the agent repeats what was said, so
 * the transcript begins empty.
 */
export type OpenMethod =
  | { readonly method: 'new' | 'fork'; readonly replays: false }
  | { readonly method: 'load'; readonly replays: true }
  /**
   * Nothing is opened: the agent is asked whether it still has the session, and the session is used
   * as it is.
   */
  | { readonly method: 'status'; readonly replays: false }
  | { readonly method: 'resume'; readonly replays: boolean };

/**
 * Chooses by what the agent can do (protocol.md 1.2, 3.5, 5.8). For a transcript that stands
 * already and misses nothing, `session/resume` goes before `session/load`, which would say everything
 * again; else a way that repeats the past goes first. An agent that can do neither may still
 * have it, and can be asked (4.2).
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
 * Returns how to join a session that the agent handles, without making it begin the session again
 * (protocol.md 4.2); undefined where it does not handle it, or has to load it all the same.
 */
export function joinMethodFor(
  { answer, isUnattached }: SessionStatus,
  { load, resume }: AgentFeatures,
): OpenMethod | undefined {
  if (answer !== 'live') return undefined;
  if (resume) return { method: 'resume', replays: resume.replay !== undefined };
  return isUnattached && load ? undefined : { method: 'status', replays: false };
}

/** Returns how a session is opened again whose turn the agent may go on with. */
export function rejoining(sessionId: string): Reopening {
  return { kind: 'reopen', sessionId, transcript: 'keep', catchesUp: true };
}

/** Returns how a session is opened that the agent has refused to open in one way; undefined: in no other. */
export function otherWay(opening: Reopening, { load, resume }: AgentFeatures): Reopening | undefined {
  if (opening.refused || !load || !resume) return undefined;
  return { ...opening, refused: opening.catchesUp ? 'load' : 'resume' };
}

/**
 * Returns how a session is opened again that the agent no longer has.
 * @param inVain how often that has worked, and the agent did not have the session all the same: the
 * other way follows, and then a new session
 */
export function reopening(sessionId: string, inVain: number, features: AgentFeatures): SessionOpenStrategy {
  const opening: Reopening = { kind: 'reopen', sessionId, transcript: 'keep' };
  if (inVain === 0) return opening;
  return (inVain === 1 ? otherWay(opening, features) : undefined) ?? { kind: 'new' };
}

/** Returns whether an agent can open its sessions again in any way. */
export function canReopen(features: AgentFeatures): boolean {
  return features.load !== undefined || features.resume !== undefined;
}

/**
 * Returns whether a session whose transcript stands here may continue after its connection has
 * ended: opened again, or as the agent still has it.
 */
export function mayGoOn(features: AgentFeatures): boolean {
  return canReopen(features) || features.status !== undefined;
}

/**
 * How a conversation that was kept comes by its session again: the transcript stands here already.
 */
export function strategyFor(kept: { readonly agentSessionId?: string } | undefined): SessionOpenStrategy {
  const sessionId = kept?.agentSessionId;
  return sessionId === undefined ? { kind: 'new' } : { kind: 'reopen', sessionId, transcript: 'keep' };
}

/**
 * Returns what makes the transcript of a session once more, in another one: its turns are the past
 * there.
 */
export function pastOf(state: Pick<SessionState, 'entries' | 'terminals'>): readonly SessionEvent[] {
  return state.entries.flatMap((entry): SessionEvent[] => {
    if (entry.kind === 'turn_end') return [];
    // By an id of its own, so that two in a row stay two.
    if (entry.kind === 'user')
      return [{ type: 'message', role: 'user', messageId: `origin-${entry.id}`, content: entry.content }];
    return [...terminalsOf(entry, state), ...eventsOf(entry)];
  });
}
