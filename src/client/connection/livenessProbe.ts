// Tracks whether the agent still has the session, from its updates or by `session/status` if the
// agent supports it.

import { probeStatus, type StatusAnswer } from '../../acp/proposals/sessionStatus';
import type { StateReport } from '../../acp/protocol/dialect';
import type { Liveness } from '../../panel/contract';
import type { SessionState } from '../../session/model/state';
import type { AgentLink, OpenedSession } from '../ports/agentLink';

/** Silence after which a session is probed before a prompt. */
const QUIET_MS = 5 * 60_000;
const PROBE_TIMEOUT_MS = 5000;
/** Silence in a turn before the agent is asked; doubles with each question. */
const SILENCE_MS = 60_000;
const LONGEST_SILENCE_MS = 20 * 60_000;
/** A longer pause between checks means that the machine slept or its clock was set. */
const LEAP_MS = 60_000;

export interface SilenceCheck {
  readonly waitsForUser: boolean;
  readonly isFirst: boolean;
}

/** Times are milliseconds since 1970. */
export interface LifeSigns {
  readonly state: Readonly<SessionState>;
  readonly now: number;
  /** When the agent last sent something or was given something to do. */
  readonly heardAt: number;
  readonly isUnresponsive: boolean;
}

export interface ProbeOptions {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly quietMs?: number | undefined;
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
  /** The connection whose agent doesn't support `session/status`. */
  #unsupported: AgentLink | undefined;
  #liveness: Liveness = 'unknown';
  #heardAt = 0;
  #updateCount = 0;
  #busyAt = 0;
  #checkedAt: number | undefined;
  #askAfterMs = SILENCE_MS;
  #isAsking = false;
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
   * `heardAt` (ms since 1970): when the agent last sent something or was given something to do.
   * `isUnresponsive`: it was asked in a turn, did not answer, and has sent nothing since.
   */
  get signs(): { readonly heardAt: number; readonly isUnresponsive: boolean } {
    return { heardAt: Math.max(this.#heardAt, this.#busyAt), isUnresponsive: this.#isUnresponsive };
  }

  onUpdate(): void {
    this.#heardAt = this.#now();
    this.#updateCount++;
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
   * Asks the agent whether it has the session. An agent without this method is asked only once.
   * @throws `signal`'s reason
   */
  async ask(session: OpenedSession, signal?: AbortSignal): Promise<StatusAnswer> {
    const { link, sessionId } = session;
    const { rpc } = link;
    if (!rpc || !this.#mayAsk(link)) return 'unsupported';
    const updateCount = this.#updateCount;
    const terms = { timeoutMs: this.#timeoutMs, heardTimes: () => this.#updateCount, signal };
    const { answer, state } = await probeStatus(rpc, sessionId, terms).catch(() => {
      signal?.throwIfAborted();
      return { answer: 'failed' as const, state: undefined };
    });
    if (answer === 'unsupported') this.#unsupported = link;
    // Later messages are newer than the answer, and an agent that has ended has no session.
    if (!link.isAlive || this.#updateCount !== updateCount) return answer;
    if (answer === 'unresponsive') {
      this.#liveness = 'unknown';
      this.#isUnresponsive = true;
      this.#onChange();
    } else if (answer !== 'unsupported' && answer !== 'failed') this.set(livenessOf(answer));
    if (state) this.#onState(state);
    return answer;
  }

  #mayAsk(link: AgentLink): boolean {
    return link.description.features.status !== undefined && this.#unsupported !== link;
  }

  /**
   * Called regularly during a turn. Asks an agent that has been silent for long, less and less
   * often.
   * @param check `waitsForUser`: silence counts from the user's answer; `isFirst`: the turn was not
   * visible for a while
   */
  checkSilence(session: OpenedSession, { waitsForUser, isFirst }: SilenceCheck): void {
    const now = this.#now();
    const leapt = !isFirst && this.#checkedAt !== undefined && Math.abs(now - this.#checkedAt) > LEAP_MS;
    this.#checkedAt = now;
    if (waitsForUser || leapt) {
      this.#busyAt = now;
      if (this.#heardAt > now) this.#heardAt = now;
    } else if (!this.#isAsking && this.#mayAsk(session.link) && now - this.signs.heardAt >= this.#askAfterMs)
      void this.#askInTurn(session);
  }

  async #askInTurn(session: OpenedSession): Promise<void> {
    const silentSince = this.signs.heardAt;
    const updateCount = this.#updateCount;
    this.#isAsking = true;
    await this.ask(session);
    this.#isAsking = false;
    if (this.#updateCount !== updateCount || !session.link.isAlive) return; // anything newer outweighs a missing answer
    this.#askAfterMs = Math.min(2 * (this.#now() - silentSince), this.#now() - silentSince + LONGEST_SILENCE_MS);
  }

  /**
   * Returns whether the session was silent for so long that it should be probed before a prompt.
   */
  needsCheck({ link }: OpenedSession): boolean {
    return this.#now() - this.#heardAt >= this.#quietMs && this.#mayAsk(link);
  }

  /**
   * Probes a session before a prompt, once per silence, if {@link needsCheck}.
   * @returns `gone`: reopen it first. `silent`: the agent does not answer. `none`: no reason to
   * doubt it
   * @throws `signal`'s reason
   */
  async checkBeforePrompt(session: OpenedSession, signal: AbortSignal): Promise<'none' | 'gone' | 'silent'> {
    const answer = await this.ask(session, signal);
    this.#heardAt = this.#now();
    if (answer === 'saved' || answer === 'not_found') return 'gone';
    return answer === 'unresponsive' ? 'silent' : 'none';
  }
}

/** Converts an answer for display. A saved session is neither live nor lost. */
export function livenessOf(answer: StatusAnswer): Liveness {
  return answer === 'live' || answer === 'not_found' ? answer : 'unknown';
}
