// Journals for tests: a clock and timers that are held, and small things to write.
import { type Disposable, toDisposable } from '../../../src/base/disposable';
import { silentLog } from '../../../src/base/log';
import type { SessionEvent, TimedEvent } from '../../../src/session/events/event';
import { SessionModel } from '../../../src/session/model/model';
import { Journal, type JournalOptions } from '../../../src/store/journal';
import { lastOf, type SearchResult } from '../../../src/store/search/search';
import type { NewSession, StoredQueueItem } from '../../../src/store/sessions/records';

export class HeldTimers {
  readonly #waiting = new Map<symbol, () => void>();
  readonly #times = new Map<symbol, number>();

  readonly schedule = (run: () => void, ms = 0): Disposable => {
    const id = Symbol();
    this.#waiting.set(id, run);
    this.#times.set(id, ms);
    return toDisposable(() => this.#waiting.delete(id));
  };

  get count(): number {
    return this.#waiting.size;
  }

  runFirst(): void {
    const [first] = [...this.#waiting].sort(([a], [b]) => (this.#times.get(a) ?? 0) - (this.#times.get(b) ?? 0));
    if (!first) return;
    this.#waiting.delete(first[0]);
    first[1]();
  }

  run(): void {
    for (const [id, run] of [...this.#waiting]) {
      this.#waiting.delete(id);
      run();
    }
  }
}

/** A journal whose clock stands at 1,000 and whose timers are held, unless told otherwise. */
export function openJournal(folder: string, options: Partial<JournalOptions> = {}): Journal {
  return Journal.open({
    folder,
    log: silentLog,
    now: () => 1000,
    busyMs: 20,
    schedule: new HeldTimers().schedule,
    ...options,
  });
}

export function searchIn(journal: Journal, text: string, limit: number): readonly SearchResult[] {
  return lastOf(journal.search(text, limit));
}

export function newSession(key: string, more: Partial<NewSession> = {}): NewSession {
  return { key, agentId: 'demo', cwd: '/work', roots: ['/work'], protocol: 1, ...more };
}

export function queued(id: string, more: Partial<StoredQueueItem> = {}): StoredQueueItem {
  return { id, text: `message ${id}`, attachments: [], state: 'queued', held: false, ...more };
}

export function timed(at: number, ...events: SessionEvent[]): TimedEvent[] {
  return events.map((event, index) => ({ at: at + index, event }));
}

export function said(text: string, messageId?: string): SessionEvent {
  const block = { type: 'text', text } as const;
  return { type: 'message_chunk', role: 'agent', block, ...(messageId !== undefined && { messageId }) };
}

export function turn(id: string, at: number, prompt: string, answer: string): TimedEvent[] {
  const half = Math.ceil(answer.length / 2);
  return timed(
    at,
    { type: 'turn_started', turnId: id, origin: 'user', at },
    { type: 'prompt_sent', turnId: id, promptId: `p-${id}`, content: [{ type: 'text', text: prompt }] },
    said(answer.slice(0, half)),
    said(answer.slice(half)),
    { type: 'turn_ended', turnId: id, stopReason: 'end_turn', barrier: 'response', at: at + 4 },
  );
}

export function modelOf(events: readonly TimedEvent[]): SessionModel {
  const model = new SessionModel();
  for (const { at, event } of events) model.apply(event, at);
  return model;
}

export function stateOf(events: readonly TimedEvent[]): unknown {
  return structuredClone(modelOf(events).state);
}

export function textIn(events: readonly TimedEvent[]): string {
  return events
    .map(({ event }) => (event.type === 'message_chunk' && event.block.type === 'text' ? event.block.text : ''))
    .join('');
}
