// The state of one conversation's distributed session, between the agent and whoever keeps the session: what the agent was
// offered, what it has stored since, and whether somebody else was quicker.
import { MAX_AGENT_STATE, type StateHolder, type StateOffer, type StateUpdate } from '../../acp/proposals/sessionState';
import { messageOf } from '../../base/errors';
import { KeyedQueue } from '../../base/keyedQueue';
import { type Log, silentLog } from '../../base/log';
import { urlIdentity } from '../../distributed/model/resourceUrl';
import type { RunState } from '../../distributed/server/servedAgent';

export class StateExchange implements StateHolder {
  readonly #log: Log;
  readonly #jobs = new KeyedQueue<'store'>();
  #keeper: RunState | undefined;
  /** As the agent is told of it with the next prompt. */
  #url: string | undefined;
  #content: Uint8Array | string | undefined;
  /** What the agent itself has stored since it was offered `#url`. */
  #stored: string | undefined;
  /** The state whose bytes the agent has. */
  #known: string | undefined;
  #hasConflict = false;

  constructor(log: Log = silentLog) {
    this.#log = log;
  }

  /** Looks up the state before a prompt. What the agent stores during its turn goes to this keeper. */
  async prepare(keeper: RunState, signal: AbortSignal): Promise<void> {
    this.#keeper = keeper;
    const state = await keeper.read(signal);
    this.#url = state?.url;
    this.#content = state?.content;
    this.#stored = undefined;
  }

  /** When what the agent has stored so far is kept, or refused. */
  settled(): Promise<void> {
    return this.#jobs.run('store', async () => {});
  }

  offer(): StateOffer | undefined {
    if (!this.#keeper) return undefined;
    const conflict = this.#hasConflict;
    this.#hasConflict = false;
    const head = { url: this.#url ?? null, ...(conflict && { conflict: true as const }) };
    const content = this.#content;
    if (content === undefined || isSame(this.#known, this.#url)) return head;
    if (typeof content === 'string') return { ...head, unavailable: content };
    if (content.length > MAX_AGENT_STATE) return { ...head, unavailable: `It has more than ${MAX_AGENT_STATE} bytes.` };
    this.#known = this.#url;
    return { ...head, content: Buffer.from(content).toString('base64') };
  }

  opened(): void {
    this.#known = undefined;
  }

  store({ previous, bytes }: StateUpdate): void {
    const keeper = this.#keeper;
    const isNext = isSame(previous ?? undefined, this.#url);
    void this.#jobs.run('store', async () => {
      try {
        const stored = isNext ? await keeper?.store(bytes, this.#stored ?? this.#url) : undefined;
        this.#hasConflict = stored === undefined;
        if (stored === undefined) return;
        this.#stored = stored;
        this.#known = stored;
      } catch (error) {
        this.#hasConflict = true;
        this.#log.warn(`The state of an agent is not kept: ${messageOf(error)}`);
      }
    });
  }
}

/** Whether two links lead to the same state, whenever they were signed. */
function isSame(one: string | undefined, other: string | undefined): boolean {
  return one === other || (one !== undefined && other !== undefined && urlIdentity(one) === urlIdentity(other));
}
