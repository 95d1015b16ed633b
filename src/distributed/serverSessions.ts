// The sessions that our server knows: descriptors and nothing else. Messages go to the resource store, one object each; a descriptor that a client brings is taken as
// that client's version, and one that contradicts it is kept beside it, never merged.
import { ParleyError } from '../base/errors';
import type { Log } from '../base/log';
import { compareHistories } from './handOver';
import { MAX_HISTORY, type Message, mintId, type RunCreate, type SessionDescriptor } from './model';
import { DEFAULT_URL_SECONDS, type ResourceStore } from './resources';
import { expiryOf, hashOf } from './resourceUrl';
import { invalidInput } from './serverRefusal';

const MAX_SESSIONS = 1000;
const MAX_FORKS = 8;

/** One line of a session's past; it only grows. */
export interface Branch {
  readonly id: string;
  history: readonly string[];
  state: string | undefined;
}

interface Known {
  current: Branch;
  readonly forks: Branch[];
}

export class ServerSessions {
  readonly #store: ResourceStore;
  readonly #log: Log;
  readonly #now: () => number;
  /** Least recently used first. */
  readonly #known = new Map<string, Known>();

  /** @param now milliseconds since 1970 */
  constructor(store: ResourceStore, now: () => number, log: Log) {
    this.#store = store;
    this.#now = now;
    this.#log = log;
  }

  /**
   * The branch that a run works on (protocol 1.0.3 "Sessions", distributed sessions): the caller's version where a descriptor came with the request, else the one known here.
   * @throws ServerRefusal 400 where the two ids differ
   */
  enter({ session, session_id: id }: Pick<RunCreate, 'session' | 'session_id'>): Branch {
    if (!session) return this.#touch(id ?? mintId()).current;
    if (id !== undefined && id !== session.id) throw invalidInput('Session ID mismatch', 400);
    const known = this.#touch(session.id);
    const { relation } = compareHistories(known.current.history, session.history);
    if (relation === 'same' || relation === 'extendedBy') {
      known.current.history = session.history;
      known.current.state = session.state ?? known.current.state;
      return known.current;
    }
    known.forks.push(known.current);
    if (known.forks.length > MAX_FORKS) known.forks.shift();
    known.current = { id: session.id, history: session.history, state: session.state };
    this.#log.info(`Session ${session.id} came back with another past; both versions are kept.`);
    return known.current;
  }

  /** The session as it is handed out, or undefined. URLs of our own that end soon are signed anew. */
  async describe(id: string): Promise<SessionDescriptor | undefined> {
    const known = this.#known.get(id);
    if (!known) return undefined;
    return this.descriptorOf(known.current);
  }

  async descriptorOf(branch: Branch): Promise<SessionDescriptor> {
    const fresh = await Promise.all(branch.history.map((url) => this.#fresh(url)));
    // A run may have added to it meanwhile.
    branch.history = [...fresh, ...branch.history.slice(fresh.length)];
    return { id: branch.id, history: branch.history, ...(branch.state !== undefined && { state: branch.state }) };
  }

  /** Versions of a session that a later descriptor contradicted, oldest first. */
  forks(id: string): readonly SessionDescriptor[] {
    return (this.#known.get(id)?.forks ?? []).map(({ history, state }) => ({
      id,
      history,
      ...(state !== undefined && { state }),
    }));
  }

  /**
   * Records messages of a turn, each as one object, and adds them to the branch, all or none.
   * @throws ParleyError as the store does, `history-full`
   */
  async append(branch: Branch, messages: readonly Message[], signal: AbortSignal): Promise<void> {
    if (branch.history.length + messages.length > MAX_HISTORY) {
      throw new ParleyError('history-full', `The session has ${MAX_HISTORY} messages; no more are recorded.`);
    }
    const urls: string[] = [];
    for (const message of messages) {
      const sequence = String(branch.history.length + urls.length).padStart(8, '0');
      const key = `sessions/${branch.id.replaceAll(':', '~')}/${sequence}-${mintId()}.json`;
      const bytes = Buffer.from(JSON.stringify(message));
      const { sha256 } = await this.#store.put(key, bytes, 'application/json', signal);
      urls.push(await this.#store.urlFor(key, { expiresIn: DEFAULT_URL_SECONDS, sha256 }));
    }
    branch.history = [...branch.history, ...urls];
    // It may have been forgotten meanwhile.
    if (!this.#known.has(branch.id)) this.#known.set(branch.id, { current: branch, forks: [] });
  }

  async #fresh(url: string): Promise<string> {
    const key = await this.#store.keyOf(url);
    const ends = expiryOf(url);
    if (key === undefined || ends === undefined || ends - this.#now() > (DEFAULT_URL_SECONDS * 1000) / 2) return url;
    const sha256 = hashOf(url);
    return this.#store.urlFor(key, { expiresIn: DEFAULT_URL_SECONDS, ...(sha256 !== undefined && { sha256 }) });
  }

  #touch(id: string): Known {
    const known = this.#known.get(id) ?? { current: { id, history: [], state: undefined }, forks: [] };
    this.#known.delete(id);
    this.#known.set(id, known);
    if (this.#known.size > MAX_SESSIONS) {
      const [oldest] = this.#known.keys();
      if (oldest !== undefined) this.#known.delete(oldest);
    }
    return known;
  }
}
