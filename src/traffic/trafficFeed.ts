// Feeds an open traffic inspector: rows in batches, messages on request.
import { setImmediate } from 'node:timers/promises';
import type { Disposable } from '../base/disposable';
import { redact } from '../base/redact';
import { oneLine } from '../base/text';
import { at } from '../base/untrusted';
import { MAX_PAYLOAD, MAX_ROWS, type ToTraffic, type TrafficRow, type TrafficSession } from '../panel/trafficContract';
import { cleanLine, cleanMessages, slices } from './cleanMessages';
import { messageOf, type TrafficEntry, type TrafficLog, type WireMessage } from './trafficLog';
import { type MarkReader, type TimedMark, TurnTrace } from './turnTrace';

/** Delay between batches, ms. */
const BATCH_MS = 100;
/** Duration between two yields, ms. */
const SLICE_MS = 10;
const MAX_IN_FLIGHT = 2;
/** Searched characters of each message. */
const MAX_SEARCHED = 256 * 1024;
const NEIGHBOURS = 400;
const MAX_AROUND = 256 * 1024;

export interface TrafficFeedOptions {
  readonly log: TrafficLog;
  readonly post: (message: ToTraffic) => void;
  readonly labelOf: (key: string) => string;
  readonly createReader: () => MarkReader;
  /** Returns ms since 1970; default: the clock. */
  readonly now?: () => number;
  readonly later?: (run: () => void, ms: number) => Disposable;
}

export class TrafficFeed implements Disposable {
  readonly #options: TrafficFeedOptions;
  readonly #log: TrafficLog;
  readonly #pairing = new Pairing();
  readonly #labels = new Map<string, string>();
  readonly #readers = new Map<string, MarkReader>();
  #trace = new TurnTrace();
  readonly #watching: Disposable;
  #next = 0;
  #first = 0;
  #inFlight = 0;
  #isPaused = false;
  #isLive = false;
  #isSending = false;
  #timer: Disposable | undefined;
  #markTimer: Disposable | undefined;
  #query = '';
  #search = 0;
  #isDisposed = false;

  constructor(options: TrafficFeedOptions) {
    this.#options = options;
    this.#log = options.log;
    this.#watching = options.log.onDidChange(() => this.#schedule());
  }

  begin(): void {
    this.#isLive = true;
    this.#isPaused = false;
    this.#inFlight = 0;
    this.#next = this.#log.first;
    this.#first = this.#next;
    this.#query = '';
    this.#search++;
    this.#pairing.clear();
    this.#labels.clear();
    this.#readers.clear();
    this.#trace = new TurnTrace();
    void this.#send();
  }

  suspend(): void {
    this.#isLive = false;
    this.#stopTimer();
  }

  acknowledge(): void {
    this.#inFlight = Math.max(0, this.#inFlight - 1);
    this.#schedule();
  }

  /** Stops sending. Entries that the log drops in the meantime are never sent. */
  pause(isPaused: boolean): void {
    this.#isPaused = isPaused;
    if (isPaused || !this.#isLive) return;
    void this.#send();
    this.#sendLanes();
  }

  async select(seq: number): Promise<void> {
    const content = await this.contentOf(seq);
    if (this.#isDisposed) return;
    this.#options.post({
      type: 'payload',
      seq,
      text: content === undefined ? null : content.text.slice(0, MAX_PAYLOAD),
      cut: content === undefined ? 0 : content.cut + Math.max(0, content.text.length - MAX_PAYLOAD),
    });
  }

  /**
   * Returns the text of an entry without secrets, JSON indented; undefined if no longer retained.
   * `cut`: number of characters that were not retained.
   */
  async contentOf(seq: number): Promise<{ readonly text: string; readonly cut: number } | undefined> {
    const entry = this.#log.entry(seq);
    if (!entry) return undefined;
    const around = this.#around(entry);
    const clean = (await cleanMessages(around)).find((one) => one.entry === entry);
    if (!clean) return undefined;
    const text = clean.message ? JSON.stringify(clean.message, undefined, 2) : clean.text;
    return { text, cut: entry.length - entry.text.length };
  }

  async find(id: number, text: string): Promise<void> {
    this.#query = text.toLowerCase();
    const search = ++this.#search;
    if (this.#query === '') return;
    const seqs: number[] = [];
    const yieldIfDue = slices();
    for (const entry of this.#log.entries()) {
      if (entry.seq >= this.#next) break;
      if (this.#matches(entry)) seqs.push(entry.seq);
      await yieldIfDue();
      if (search !== this.#search) return;
    }
    if (!this.#isDisposed) this.#options.post({ type: 'found', id, seqs });
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#search++;
    this.suspend();
    this.#watching.dispose();
  }

  /** Searches the raw line first, then its redacted text, since only visible text may match. */
  #matches({ text }: TrafficEntry): boolean {
    const part = text.slice(0, MAX_SEARCHED);
    return part.toLowerCase().includes(this.#query) && cleanLine(part).toLowerCase().includes(this.#query);
  }

  #around(entry: TrafficEntry): readonly TrafficEntry[] {
    if (entry.kind !== 'in' && entry.kind !== 'out') return [entry];
    const found = [entry];
    for (const step of [-1, 1]) {
      let chars = 0;
      for (let count = 1; count <= NEIGHBOURS && chars < MAX_AROUND; count++) {
        const other = this.#log.entry(entry.seq + step * count);
        if (!other) break;
        if (other.key !== entry.key || other.kind !== entry.kind) continue;
        chars += other.text.length;
        if (step < 0) found.unshift(other);
        else found.push(other);
      }
    }
    return found;
  }

  #schedule(): void {
    if (!this.#isLive || this.#isPaused || this.#timer || this.#isSending || this.#inFlight >= MAX_IN_FLIGHT) return;
    const { later = timer } = this.#options;
    this.#timer = later(() => {
      this.#timer = undefined;
      void this.#send();
    }, BATCH_MS);
  }

  #stopTimer(): void {
    for (const one of [this.#timer, this.#markTimer]) one?.dispose();
    this.#timer = undefined;
    this.#markTimer = undefined;
  }

  async #send(): Promise<void> {
    if (this.#isSending) return;
    this.#isSending = true;
    try {
      while (this.#canSend()) {
        const { rows, found } = this.#batch();
        this.#sendSessions(rows);
        this.#first = this.#log.first;
        this.#inFlight++;
        this.#options.post({ type: 'rows', first: this.#first, rows, found });
        this.#sendLanes();
        await setImmediate();
      }
    } finally {
      this.#isSending = false;
    }
    if (this.#canSend()) this.#schedule();
  }

  #canSend(): boolean {
    const isNew = this.#next < this.#log.next || this.#first !== this.#log.first;
    return this.#isLive && !this.#isPaused && isNew && this.#inFlight < MAX_IN_FLIGHT;
  }

  #batch(): { readonly rows: readonly TrafficRow[]; readonly found: readonly number[] } {
    const rows: TrafficRow[] = [];
    const found: number[] = [];
    const began = performance.now();
    for (const entry of this.#log.entries(this.#next)) {
      rows.push(this.#rowOf(entry));
      if (this.#query !== '' && this.#matches(entry)) found.push(entry.seq);
      this.#next = entry.seq + 1;
      if (rows.length >= MAX_ROWS || performance.now() - began > SLICE_MS) break;
    }
    if (rows.length === 0) this.#next = this.#log.next;
    return { rows, found };
  }

  #rowOf(entry: TrafficEntry): TrafficRow {
    const { seq, at, key, kind, text, length } = entry;
    const message = messageOf(entry);
    const facts = readFacts(entry, message, redact);
    if (message) this.#mark(key, this.#readerOf(key).read(entry, message));
    const size = length === text.length ? Buffer.byteLength(text) : length;
    return { seq, at, key, direction: kind, size, ...facts, ...this.#pairing.pair(entry, facts) };
  }

  #readerOf(key: string): MarkReader {
    const reader = this.#readers.get(key) ?? this.#options.createReader();
    this.#readers.set(key, reader);
    return reader;
  }

  #mark(key: string, marks: readonly TimedMark[]): void {
    for (const mark of marks) this.#trace.add(key, mark);
  }

  #sendLanes(): void {
    this.#trace.drop(this.#log.first);
    const changes = this.#trace.changes();
    if (changes) this.#options.post({ type: 'lanes', ...changes });
    this.#markTimer?.dispose();
    this.#markTimer = undefined;
    const { later = timer, now = Date.now } = this.#options;
    const due = Math.min(...[...this.#readers.values()].map(({ dueAt = Number.POSITIVE_INFINITY }) => dueAt));
    if (due === Number.POSITIVE_INFINITY) return;
    this.#markTimer = later(
      () => {
        this.#markTimer = undefined;
        // Newer entries come first.
        if (!this.#isLive || this.#isPaused || this.#next < this.#log.next) return;
        for (const [key, reader] of this.#readers) this.#mark(key, reader.tick(Math.max(now(), due)));
        this.#sendLanes();
      },
      Math.max(0, due - now()),
    );
  }

  #sendSessions(rows: readonly TrafficRow[]): void {
    let isNew = false;
    for (const key of new Set(rows.map((row) => row.key))) {
      const label = this.#options.labelOf(key);
      if (this.#labels.get(key) === label) continue;
      this.#labels.set(key, label);
      isNew = true;
    }
    if (!isNew) return;
    const sessions: TrafficSession[] = [...this.#labels].map(([key, label]) => ({ key, label }));
    this.#options.post({ type: 'sessions', sessions });
  }
}

function timer(run: () => void, ms: number): Disposable {
  const handle = setTimeout(run, ms);
  handle.unref();
  return { dispose: () => clearTimeout(handle) };
}

/** Maximum number of requests without a response: an agent may never respond. */
const MAX_OPEN = 5_000;

interface OpenRequest {
  readonly seq: number;
  readonly at: number;
  readonly method: string;
}

export class Pairing {
  readonly #open = new Map<string, OpenRequest>();

  get size(): number {
    return this.#open.size;
  }

  pair(
    { seq, at, key, kind }: Pick<TrafficEntry, 'seq' | 'at' | 'key' | 'kind'>,
    facts: LineFacts,
  ): Partial<Pick<TrafficRow, 'method' | 'ms' | 'request'>> {
    if (facts.kind === 'request') {
      const name = nameOf(key, kind, facts);
      // A restarted agent reuses ids, so the newest request counts.
      this.#open.delete(name);
      this.#open.set(name, { seq, at, method: facts.method });
      const [oldest] = this.#open.keys();
      if (this.#open.size > MAX_OPEN && oldest !== undefined) this.#open.delete(oldest);
      return {};
    }
    if (facts.kind !== 'response') return {};
    const name = nameOf(key, kind === 'in' ? 'out' : 'in', facts);
    const request = this.#open.get(name);
    if (!request) return {};
    this.#open.delete(name);
    return { method: request.method, ms: Math.max(0, at - request.at), request: request.seq };
  }

  clear(): void {
    this.#open.clear();
  }
}

/** Requests to an HTTP agent have no id. Some agents answer "1" to 1. */
function nameOf(key: string, sender: string, { id, method }: LineFacts): string {
  return JSON.stringify(id === undefined ? [key, sender, null, method] : [key, sender, id]);
}

/** Maximum characters of a method or text in a row. */
const MAX_METHOD = 200;
/** Characters of a truncated message that are searched for its method and id. */
const MAX_LOOK = 2_000;

export type LineFacts = Pick<TrafficRow, 'kind' | 'method' | 'id' | 'isError'>;

export function readFacts(
  { kind, text, length }: TrafficEntry,
  whole: WireMessage | undefined,
  clean: (text: string) => string,
): LineFacts {
  if (kind === 'stderr' || kind === 'noise') return textFacts(text, clean, kind === 'noise');
  const message = length === text.length ? whole : beginning(text);
  if (message === undefined) return httpFacts(text, kind) ?? textFacts(text, clean, false);
  const { id, method } = message;
  const hasId = typeof id === 'string' || typeof id === 'number';
  const shownId = hasId ? { id: oneLine(clean(String(id)), MAX_METHOD) } : {};
  if (typeof method === 'string') {
    const name = oneLine(clean(method), MAX_METHOD);
    return { kind: hasId ? 'request' : 'notification', method: detail(name, message), ...shownId };
  }
  if (hasId || 'result' in message || 'error' in message) {
    const isError = message.error !== undefined && message.error !== null;
    return { kind: 'response', method: '', ...shownId, isError: isError || undefined };
  }
  // An event of an HTTP agent.
  const type = at(message, 'type');
  return { kind: 'notification', method: typeof type === 'string' ? oneLine(clean(type), MAX_METHOD) : '' };
}

function detail(method: string, message: unknown): string {
  const update = at(message, 'params', 'update', 'sessionUpdate');
  return method === 'session/update' && typeof update === 'string' ? `${method} ${oneLine(update, 60)}` : method;
}

function textFacts(text: string, clean: (text: string) => string, isError: boolean): LineFacts {
  const method = oneLine(clean(text.slice(0, MAX_LOOK)), MAX_METHOD);
  return { kind: 'text', method, isError: isError || undefined };
}

function httpFacts(text: string, kind: 'in' | 'out'): LineFacts | undefined {
  const found = /^(?:(\d{3}|\(no answer\)) )?((?:GET|HEAD|POST|PUT|PATCH|DELETE) \S{1,190})/.exec(text);
  const [, status, method] = found ?? [];
  if (method === undefined || (kind === 'in') !== (status !== undefined)) return undefined;
  if (status === undefined) return { kind: 'request', method };
  return { kind: 'response', method, isError: !/^[123]/.test(status) || undefined };
}

function beginning(text: string): WireMessage | undefined {
  const start = text.slice(0, MAX_LOOK);
  if (!/^\s*\{/.test(start)) return undefined;
  const method = /"method"\s*:\s*"([^"\\]{1,200})"/.exec(start)?.[1];
  const [, word, number] = /"id"\s*:\s*(?:"([^"\\]{1,200})"|(-?\d{1,15}))/.exec(start) ?? [];
  const id = word ?? (number === undefined ? undefined : Number(number));
  const isError = method === undefined && /"error"\s*:\s*\{/.test(start);
  return {
    method,
    id,
    error: isError ? {} : undefined,
  };
}
