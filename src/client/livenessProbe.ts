// Whether the agent still has the session: known by hearing from it, asked by session/status where it offers that, and never more often than needed.
import { probeStatus } from '../acp/sessionStatus';
import type { Liveness } from '../panel/contract';
import type { OpenedSession } from './turnControl';

/** How long a session is quiet before a probe precedes the next prompt, in milliseconds. */
const QUIET_MS = 5 * 60_000;
const PROBE_TIMEOUT_MS = 5000;
/** How long a turn is silent before the agent is asked, at first; each question doubles it, up to the longest. In milliseconds. */
const SILENCE_MS = 60_000;
const LONGEST_SILENCE_MS = 20 * 60_000;
/** Two looks are farther apart than this only where the machine has slept or its clock was moved, in milliseconds. */
const LEAP_MS = 60_000;

/** How a look at a running turn came about. */
export interface Look {
  readonly waitsForUser: boolean;
  readonly isFirst: boolean;
}

export class LivenessProbe {
  readonly #now: () => number;
  readonly #quietMs: number;
  readonly #onChange: () => void;
  readonly #timeoutMs: number;
  #liveness: Liveness = 'unknown';
  #heardAt = 0;
  /** When the agent was given something to do. */
  #busyAt = 0;
  #lookedAt: number | undefined;
  #askAfterMs = SILENCE_MS;
  #asking = false;
  #isUnresponsive = false;

  /** @param timeoutMs how long an answer may take */
  constructor(
    now: () => number,
    quietMs: number | undefined,
    onChange: () => void,
    timeoutMs: number = PROBE_TIMEOUT_MS,
  ) {
    this.#now = now;
    this.#timeoutMs = timeoutMs;
    this.#quietMs = quietMs ?? QUIET_MS;
    this.#onChange = onChange;
  }

  get liveness(): Liveness {
    return this.#liveness;
  }

  /** When the agent said something last, or was given something to do (ms since 1970); and whether it was asked in a turn, did not answer and was not heard since. */
  get signs(): { readonly heardAt: number; readonly isUnresponsive: boolean } {
    return { heardAt: Math.max(this.#heardAt, this.#busyAt), isUnresponsive: this.#isUnresponsive };
  }

  /** The agent said something. Cheap: called for each batch of updates. */
  heard(): void {
    this.#heardAt = this.#now();
    this.#askAfterMs = SILENCE_MS;
    if (!this.#isUnresponsive) return;
    this.#isUnresponsive = false;
    this.#onChange();
  }

  set(liveness: Liveness): void {
    this.#liveness = liveness;
    this.#isUnresponsive = false;
    this.#onChange();
  }

  /** Asks the agent; without the capability nothing is sent and nothing is known. */
  async ask({ link, sessionId }: OpenedSession): Promise<Liveness> {
    const { rpc, description } = link;
    if (!description.features.status || !rpc) return 'unknown';
    const answer = await probeStatus(rpc, sessionId, this.#timeoutMs).catch(() => 'unsupported' as const);
    if (link.isAlive) this.set(answer === 'live' || answer === 'not_found' ? answer : 'unknown');
    return this.#liveness;
  }

  /**
   * Looked at from time to time while a turn runs: an agent that has been silent in it for long is asked, less and less often, and not at all while it talks.
   * @param look `waitsForUser`: its silence counts from the user's answer on; `isFirst`: nobody has looked for a while
   */
  look(session: OpenedSession, { waitsForUser, isFirst }: Look): void {
    const now = this.#now();
    const leapt = !isFirst && this.#lookedAt !== undefined && Math.abs(now - this.#lookedAt) > LEAP_MS;
    this.#lookedAt = now;
    if (waitsForUser || leapt) {
      this.#busyAt = now;
      if (this.#heardAt > now) this.#heardAt = now;
    } else if (
      !this.#asking &&
      session.link.description.features.status &&
      now - this.signs.heardAt >= this.#askAfterMs
    )
      void this.#askInTurn(session);
  }

  async #askInTurn({ link, sessionId }: OpenedSession): Promise<void> {
    const { rpc } = link;
    if (!rpc) return;
    const silentSince = this.signs.heardAt;
    this.#asking = true;
    const answer = await probeStatus(rpc, sessionId, this.#timeoutMs).catch(() => 'unsupported' as const);
    this.#asking = false;
    if (this.signs.heardAt !== silentSince || !link.isAlive) return; // it spoke meanwhile, or is gone: that says more
    this.#askAfterMs = Math.min(2 * (this.#now() - silentSince), this.#now() - silentSince + LONGEST_SILENCE_MS);
    if (answer === 'live' || answer === 'not_found') this.set(answer);
    else if (answer === 'unresponsive') {
      this.#isUnresponsive = true;
      this.#onChange();
    }
  }

  /** Before a prompt: a session that was quiet for long is asked whether it is there. @returns why the prompt must wait; undefined where it may go */
  async doubt(session: OpenedSession): Promise<string | undefined> {
    if (this.#now() - this.#heardAt < this.#quietMs || !session.link.description.features.status) return undefined;
    const liveness = await this.ask(session);
    this.heard(); // asked once for one silence
    if (liveness === 'live') return undefined;
    return liveness === 'not_found'
      ? 'the agent no longer has this session'
      : 'the agent did not answer when asked whether it is there';
  }
}
