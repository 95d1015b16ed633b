// Updates and requests for sessions that the client does not know yet: agents send them before the
// response that names the session. Both are buffered in order, within limits: updates until the
// session is registered (protocol.md 5.1), requests until it is open (protocol.md 5.13).

import { Deferred } from '../../base/deferred';
import { roughSize } from '../../base/text';

const MAX_REQUESTS = 100;
const MAX_CHARS = 4 * 1024 * 1024;

export class EarlyRequests {
  #openings = 0;
  #allOpened = new Deferred<void>();
  #requests = 0;
  #chars = 0;

  async during<T>(open: () => Promise<T>): Promise<T> {
    this.#openings++;
    try {
      return await open();
    } finally {
      this.#openings--;
      if (this.#openings === 0) this.#release();
    }
  }

  /** Resolves when no session is being opened. */
  async untilOpened(params: unknown): Promise<void> {
    const chars = roughSize(params, MAX_CHARS);
    if (this.#openings === 0 || this.#requests >= MAX_REQUESTS || this.#chars + chars > MAX_CHARS) return;
    this.#requests++;
    this.#chars += chars;
    await this.#allOpened.promise;
  }

  #release(): void {
    this.#allOpened.resolve();
    this.#allOpened = new Deferred();
    this.#requests = 0;
    this.#chars = 0;
  }
}

const MAX_UPDATES = 10_000;
const MAX_SESSIONS = 64;
const MAX_ALL_CHARS = 16 * 1024 * 1024;

interface Early {
  readonly updates: unknown[];
  chars: number;
  dropped: number;
}

interface Registered {
  readonly sink: UpdateSink;
  readonly onRequest: (() => void) | undefined;
  updates: number;
}

export type UpdateSink = (updates: readonly unknown[]) => void;

/** Routes updates to sessions, and buffers those for unknown sessions. */
export class UpdateRouter {
  readonly requests = new EarlyRequests();
  readonly #sinks = new Map<string, Registered>();
  readonly #early = new Map<string, Early>();
  #chars = 0;
  readonly #onDrop: (sentence: string) => void;

  constructor(onDrop: (sentence: string) => void) {
    this.#onDrop = onDrop;
  }

  register(sessionId: string, sink: UpdateSink, onRequest?: () => void): number {
    this.#sinks.set(sessionId, { sink, onRequest, updates: 0 });
    const early = this.#takeEarly(sessionId);
    if (!early) return 0;
    if (early.dropped > 0) this.#onDrop(`${early.dropped} early updates of session ${sessionId} were left out`);
    sink(early.updates);
    return early.updates.length;
  }

  unregister(sessionId: string): void {
    this.#sinks.delete(sessionId);
  }

  requested(sessionId: string): void {
    this.#sinks.get(sessionId)?.onRequest?.();
  }

  /** Updates received for a session since it was registered, or buffered ones if it is not. */
  updatesOf(sessionId: string): number {
    const { updates = 0 } = this.#sinks.get(sessionId) ?? {};
    const early = this.#early.get(sessionId);
    return updates + (early ? early.updates.length + early.dropped : 0);
  }

  readonly route = (batch: readonly unknown[]): void => {
    let runId: string | undefined;
    let run: unknown[] = [];
    for (const params of batch) {
      const { sessionId, update } = (params ?? {}) as { sessionId?: unknown; update?: unknown };
      if (typeof sessionId !== 'string' || typeof update !== 'object' || update === null) {
        this.#onDrop('a session/update without a session id or an update was left out');
        continue;
      }
      if (sessionId !== runId) {
        if (runId !== undefined) this.#deliver(runId, run);
        runId = sessionId;
        run = [];
      }
      run.push(update);
    }
    if (runId !== undefined) this.#deliver(runId, run);
  };

  #deliver(sessionId: string, updates: readonly unknown[]): void {
    const registered = this.#sinks.get(sessionId);
    if (registered) {
      registered.updates += updates.length;
      registered.sink(updates);
      return;
    }
    let early = this.#early.get(sessionId);
    if (!early) {
      if (this.#early.size >= MAX_SESSIONS) this.#dropOldest('too many unknown sessions');
      early = { updates: [], chars: 0, dropped: 0 };
      this.#early.set(sessionId, early);
    }
    for (const update of updates) {
      const size = roughSize(update, MAX_CHARS);
      if (early.updates.length >= MAX_UPDATES || early.chars + size > MAX_CHARS) {
        early.dropped++;
        continue;
      }
      early.updates.push(update);
      early.chars += size;
      this.#chars += size;
    }
    while (this.#chars > MAX_ALL_CHARS) this.#dropOldest('the updates of unknown sessions are too large');
  }

  #dropOldest(why: string): void {
    const [oldest] = this.#early.keys();
    if (oldest === undefined) return;
    this.#takeEarly(oldest);
    this.#onDrop(`the early updates of unknown session ${oldest} were left out: ${why}`);
  }

  #takeEarly(sessionId: string): Early | undefined {
    const early = this.#early.get(sessionId);
    this.#early.delete(sessionId);
    this.#chars -= early?.chars ?? 0;
    return early;
  }
}
