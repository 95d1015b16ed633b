// Tracks whether the agent still has the session: from hearing from it, or by asking with
// session/status where the agent offers that, and not more often than needed.

import { probeStatus, type StatusAnswer } from '../../acp/proposals/sessionStatus';
import type { StateReport } from '../../acp/protocol/dialect';
import type { Liveness } from '../../panel/contract';
import type { SessionState } from '../../session/model/state';
import type { AgentLink, OpenedSession } from '../ports/agentLink';

/** How long a session is quiet before it is probed, in milliseconds. */
const QUIET_MS = 5 * 60_000;
const PROBE_TIMEOUT_MS = 5000;
/**
 * How long a turn is silent before the agent is asked; each question doubles it. In milliseconds.
 */
const SILENCE_MS = 60_000;
const LONGEST_SILENCE_MS = 20 * 60_000;
/**
 * Looks are farther apart only if the machine has slept or its clock was set, in milliseconds.
 */
const LEAP_MS = 60_000;

export interface Look {
  readonly waitsForUser: boolean;
  readonly isFirst: boolean;
}

/** Times are milliseconds since 1970. */
export interface LifeSigns {
  readonly state: Readonly<SessionState>;
  readonly now: number;
  /** When the agent was last heard, or given something to do. */
  readonly heardAt: number;
  readonly isUnresponsive: boolean;
}

export interface ProbeOptions {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** In milliseconds. */
  readonly quietMs?: number | undefined;
  /** In milliseconds. */
  readonly timeoutMs?: number;
  readonly onChange: () => void;
  readonly onState: (report: StateReport) => void;
}

export class LivenessProbe {
  readonly #now: () => number;
  readonly #quietMs: number;
  readonly #onChange: () => void;
  readonly #onState: (report: StateReport) => void;
  readonly #timeoutMs: number;
  /** The connection whose agent doesn't support the question. */
  #unasked: AgentLink | undefined;
  #liveness: Liveness = 'unknown';
  #heardAt = 0;
  /** How often the agent was heard. */
  #heardTimes = 0;
  /** When the agent was given something to do. */
  #busyAt = 0;
  #lookedAt: number | undefined;
  #askAfterMs = SILENCE_MS;
  #asking = false;
  #isUnresponsive = false;

  constructor({ now, quietMs = QUIET_MS, timeoutMs = PROBE_TIMEOUT_MS, onChange, onState }: ProbeOptions) {
    this.#now = now;
    this.#quietMs = quietMs;
    this.#timeoutMs = timeoutMs;
    this.#onChange = onChange;
    this.#onState = onState;
  }

  get liveness(): Liveness {
    return this.#liveness;
  }

  /**
   * When the agent said something last, or was given something to do (ms since 1970); and whether
   * it was asked in a turn, did not answer and was not heard since.
   */
  get signs(): { readonly heardAt: number; readonly isUnresponsive: boolean } {
    return { heardAt: Math.max(this.#heardAt, this.#busyAt), isUnresponsive: this.#isUnresponsive };
  }

  /**
   * The agent said something in the session, so it has it. Cheap: called for each batch of updates.
   */
  heard(): void {
    this.#heardAt = this.#now();
    this.#heardTimes++;
    this.#askAfterMs = SILENCE_MS;
    if (!this.#isUnresponsive && this.#liveness === 'live') return;
    this.set('live');
  }

  set(liveness: Liveness): void {
    this.#liveness = liveness;
    this.#isUnresponsive = false;
    this.#onChange();
  }

  /**
   * Asks the agent whether it has the session; an agent that does not know the question is asked
   * once.
   * @throws `signal`'s reason
   */
  async ask(session: OpenedSession, signal?: AbortSignal): Promise<StatusAnswer> {
    const { link, sessionId } = session;
    const { rpc } = link;
    if (!rpc || !this.#mayAsk(link)) return 'unsupported';
    const heard = this.#heardTimes;
    const terms = { timeoutMs: this.#timeoutMs, heardTimes: () => this.#heardTimes, signal };
    const { answer, state } = await probeStatus(rpc, sessionId, terms).catch(() => {
      signal?.throwIfAborted();
      return { answer: 'failed' as const, state: undefined };
    });
    if (answer === 'unsupported') this.#unasked = link;
    // Later messages are newer than its answer, and an agent that has ended has no
    // session.
    if (!link.isAlive || this.#heardTimes !== heard) return answer;
    if (answer === 'unresponsive') {
      this.#liveness = 'unknown';
      this.#isUnresponsive = true;
      this.#onChange();
    } else if (answer !== 'unsupported' && answer !== 'failed') this.set(livenessOf(answer));
    if (state) this.#onState(state);
    return answer;
  }

  #mayAsk(link: AgentLink): boolean {
    return link.description.features.status !== undefined && this.#unasked !== link;
  }

  /**
   * Looked at from time to time while a turn runs: an agent that has been silent in it for long is
   * asked, less and less often, and not at all while it talks.
   * @param look `waitsForUser`: its silence counts from the user's answer on; `isFirst`: the turn
   * was not visible for a while
   */
  look(session: OpenedSession, { waitsForUser, isFirst }: Look): void {
    const now = this.#now();
    const leapt = !isFirst && this.#lookedAt !== undefined && Math.abs(now - this.#lookedAt) > LEAP_MS;
    this.#lookedAt = now;
    if (waitsForUser || leapt) {
      this.#busyAt = now;
      if (this.#heardAt > now) this.#heardAt = now;
    } else if (!this.#asking && this.#mayAsk(session.link) && now - this.signs.heardAt >= this.#askAfterMs)
      void this.#askInTurn(session);
  }

  async #askInTurn(session: OpenedSession): Promise<void> {
    const silentSince = this.signs.heardAt;
    const heard = this.#heardTimes;
    this.#asking = true;
    await this.ask(session);
    this.#asking = false;
    if (this.#heardTimes !== heard || !session.link.isAlive) return; // it spoke since, or has ended: that says more
    this.#askAfterMs = Math.min(2 * (this.#now() - silentSince), this.#now() - silentSince + LONGEST_SILENCE_MS);
  }

  /**
   * Returns whether a session was quiet for so long that the agent should be asked about it before
   * a prompt.
   */
  isDoubtful({ link }: OpenedSession): boolean {
    return this.#now() - this.#heardAt >= this.#quietMs && this.#mayAsk(link);
  }

  /**
   * Before a prompt: a session that was quiet for long is asked about, once for one silence. Only
   * if {@link isDoubtful} says so.
   * @returns `gone`: it has to be opened again first. `silent`: the agent does not answer. `none`:
   * it is there, or nothing is known against it
   * @throws `signal`'s reason
   */
  async doubt(session: OpenedSession, signal: AbortSignal): Promise<'none' | 'gone' | 'silent'> {
    const answer = await this.ask(session, signal);
    this.#heardAt = this.#now();
    if (answer === 'saved' || answer === 'not_found') return 'gone';
    return answer === 'unresponsive' ? 'silent' : 'none';
  }
}

/** Converts an answer for display: a session that is saved is neither live nor lost. */
export function livenessOf(answer: StatusAnswer): Liveness {
  return answer === 'live' || answer === 'not_found' ? answer : 'unknown';
}
