// Whether the agent still has the session: known by hearing from it, asked by session/status where it offers that, and never more often than needed.
import { probeStatus } from '../acp/sessionStatus';
import type { Liveness } from '../panel/contract';
import type { OpenedSession } from './turnControl';

/** How long a session is quiet before a probe precedes the next prompt, in milliseconds. */
const QUIET_MS = 5 * 60_000;
const PROBE_TIMEOUT_MS = 5000;

export class LivenessProbe {
  readonly #now: () => number;
  readonly #quietMs: number;
  readonly #onChange: () => void;
  #liveness: Liveness = 'unknown';
  #heardAt = 0;

  constructor(now: () => number, quietMs: number | undefined, onChange: () => void) {
    this.#now = now;
    this.#quietMs = quietMs ?? QUIET_MS;
    this.#onChange = onChange;
  }

  get liveness(): Liveness {
    return this.#liveness;
  }

  /** The agent said something. Cheap: called for each batch of updates. */
  heard(): void {
    this.#heardAt = this.#now();
  }

  set(liveness: Liveness): void {
    this.#liveness = liveness;
    this.#onChange();
  }

  /** Asks the agent; without the capability nothing is sent and nothing is known. */
  async ask({ link, sessionId }: OpenedSession): Promise<Liveness> {
    if (!link.description.features.status) return 'unknown';
    const answer = await probeStatus(link.rpc, sessionId, PROBE_TIMEOUT_MS).catch(() => 'unsupported' as const);
    if (link.isAlive) this.set(answer === 'live' || answer === 'not_found' ? answer : 'unknown');
    return this.#liveness;
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
