// Resolves the URLs of a descriptor. A history is always complete and in order: a message, or a gap
// with its reason. A failing server affects only its own messages.
import { messageOf } from '../../base/errors';
import { mapConcurrently } from '../../base/keyedQueue';
import { type Log, silentLog } from '../../base/log';
import { orAborted } from '../model/deadline';
import { type Gap, gapOf, ResourceFailure, reasonOfError } from '../model/gap';
import {
  MAX_MESSAGE_BYTES,
  MAX_SESSION_BYTES,
  type Message,
  type MessagePart,
  parseBounded,
  readMessage,
  type SessionDescriptor,
} from '../model/model';
import { originOf, redactUrl } from '../model/resourceUrl';
import { OriginHealth } from './originLimiter';
import { type Loaded, type LoaderOptions, type LoadOptions, ResourceLoader, type Target } from './resourceLoader';

export interface ResolvedMessage {
  readonly kind: 'message';
  readonly index: number;
  readonly url: string;
  readonly message: Message;
  readonly sha256: string;
  readonly bytes: number;
  readonly source: Loaded['source'];
}

export type HistoryEntry = ResolvedMessage | Gap;

export interface ResolvedState {
  readonly kind: 'state';
  readonly url: string;
  readonly bytes: Uint8Array;
  readonly sha256: string;
  readonly source: Loaded['source'];
}

export interface ResolvedContent {
  readonly kind: 'content';
  readonly bytes: Uint8Array;
  readonly contentType: string;
}

export interface HistoryOptions {
  /** Called as soon as an entry is known, newest first if possible. */
  onEntry?(entry: HistoryEntry): void;
  sha256?(index: number): string | undefined;
  /** Without the time for the user's answer. Default: 60 s, more for a long history. */
  readonly budgetMs?: number;
  readonly newest?: { readonly count: number; readonly others: Promise<unknown> };
}

export interface PartOptions extends Pick<LoadOptions, 'health' | 'asks'> {
  readonly maxBytes: number;
  /** Requires the server to confirm a cached part. */
  readonly isNew?: boolean;
}

export interface ResolverOptions extends LoaderOptions {
  readonly maxMessageBytes?: number;
  readonly maxSessionBytes?: number;
}

/** More than the limit per origin, so that no slot stays free. */
const MAX_STARTED_PER_ORIGIN = 32;
const MAX_STATE_BYTES = 20 * 1024 * 1024;

export class Resolver {
  readonly #loader: ResourceLoader;
  readonly #options: ResolverOptions;
  readonly #log: Log;

  constructor(options: ResolverOptions) {
    this.#options = options;
    this.#loader = new ResourceLoader(options);
    this.#log = options.log ?? silentLog;
  }

  /** One entry or gap per URL, in order. Never throws for server errors. */
  async resolveHistory(
    descriptor: SessionDescriptor,
    options: HistoryOptions,
    signal: AbortSignal,
  ): Promise<readonly HistoryEntry[]> {
    const { history } = descriptor;
    const entries = new Array<HistoryEntry | undefined>(history.length);
    const budget = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isOver = false;
    const { state } = descriptor;
    void this.#loader.askTogether(state === undefined ? history : [...history, state], signal).then(() => {
      if (!isOver) timer = setTimeout(() => budget.abort(), options.budgetMs ?? budgetFor(history.length));
    });
    const run: Run = { signal, either: AbortSignal.any([signal, budget.signal]), bytes: 0, health: new OriginHealth() };
    const from = Math.max(0, history.length - (options.newest?.count ?? history.length));
    const newest = new Map<string, Promise<HistoryEntry>>();
    const resolve = async (group: Group): Promise<void> => {
      const result = await (newest.get(group.url) ?? this.#resolveOne(group, run));
      for (const index of group.indexes) {
        const entry = result.kind === 'gap' ? gapOf(index, group.url, result.reason) : { ...result, index };
        entries[index] = entry;
        options.onEntry?.(entry);
      }
    };
    const resolveNewest = async (): Promise<void> => {
      const groups = groupByUrl(history, from, history.length, options);
      for (const group of groups) newest.set(group.url, this.#resolveOne(group, run));
      await Promise.all(groups.map(resolve));
    };
    const resolveOthers = async (): Promise<void> => {
      if (from === 0) return;
      if (options.newest) await orAborted(options.newest.others, run.either).catch(() => {});
      // Starting 10,000 requests together would block the window.
      const byOrigin = Map.groupBy(groupByUrl(history, 0, from, options), ({ url }) => originOf(url) ?? '');
      await Promise.all(
        [...byOrigin.values()].map((groups) => mapConcurrently(groups, MAX_STARTED_PER_ORIGIN, resolve)),
      );
    };
    try {
      await Promise.all([resolveNewest(), resolveOthers()]);
    } finally {
      isOver = true;
      clearTimeout(timer);
    }
    return entries.map((entry, index) => entry ?? gapOf(index, history[index] ?? '', 'cancelled'));
  }

  /** @param sha256 expected, if the URL has none */
  async resolveEntry(
    url: string,
    index: number,
    { sha256 }: { readonly sha256?: string },
    signal: AbortSignal,
  ): Promise<HistoryEntry> {
    const group = { url, indexes: [index], sha256 };
    const run: Run = { signal, either: signal, bytes: 0, health: new OriginHealth(), asks: true };
    return await this.#resolveOne(group, run);
  }

  async resolveState(url: string, signal: AbortSignal): Promise<ResolvedState | Gap> {
    try {
      const target = await this.#loader.target(url);
      const loaded = await this.#loadNewest(target, MAX_STATE_BYTES, {}, signal);
      if (loaded.source === 'network' && loaded.etag !== undefined) this.#loader.keep(target, loaded);
      return { kind: 'state', url, bytes: loaded.bytes, sha256: loaded.sha256, source: loaded.source };
    } catch (error) {
      return this.#gap(url, -1, error, signal.aborted);
    }
  }

  async resolvePart(part: MessagePart, options: PartOptions, signal: AbortSignal): Promise<ResolvedContent | Gap> {
    const { content_type: contentType, content_url: url } = part;
    if (url === undefined) {
      const bytes = Buffer.from(part.content ?? '', part.content_encoding === 'base64' ? 'base64' : 'utf8');
      return { kind: 'content', bytes, contentType };
    }
    try {
      const target = await this.#loader.target(url);
      const { maxBytes, isNew = false, ...more } = options;
      const loaded = isNew
        ? await this.#loadNewest(target, maxBytes, more, signal)
        : ((await this.#loader.loadHere(target, signal)) ?? (await this.#loader.load(target, maxBytes, more, signal)));
      if (loaded.bytes.length > maxBytes) throw new ResourceFailure('too-large');
      if (loaded.source === 'network') this.#loader.keep(target, loaded);
      return { kind: 'content', bytes: loaded.bytes, contentType };
    } catch (error) {
      return this.#gap(url, -1, error, signal.aborted);
    }
  }

  async #resolveOne(group: Group, run: Run): Promise<HistoryEntry> {
    const index = group.indexes[0] ?? 0;
    const limit = this.#options.maxSessionBytes ?? MAX_SESSION_BYTES;
    try {
      const target = await this.#loader.target(group.url, group.sha256);
      if (run.bytes >= limit) throw new ResourceFailure('session-too-large');
      const loaded = await this.#loadEntry(target, run);
      run.bytes += loaded.bytes.length;
      if (run.bytes > limit) throw new ResourceFailure('session-too-large');
      const message = readMessage(parseBounded(loaded.bytes, this.#maxMessageBytes));
      this.#loader.keep(target, loaded);
      const { sha256, source } = loaded;
      return { kind: 'message', index, url: group.url, message, sha256, bytes: loaded.bytes.length, source };
    } catch (error) {
      return this.#gap(group.url, index, error, run.signal.aborted);
    }
  }

  async #loadEntry(target: Target, run: Run): Promise<Loaded> {
    if (run.either.aborted) throw new ResourceFailure('cancelled');
    return (
      (await this.#loader.loadHere(target, run.either)) ??
      (await this.#loader.load(
        target,
        this.#maxMessageBytes,
        { health: run.health, asks: run.asks === true },
        run.either,
      ))
    );
  }

  async #loadNewest(target: Target, maxBytes: number, more: LoadOptions, signal: AbortSignal): Promise<Loaded> {
    const known = await this.#loader.loadHere(target, signal);
    const isFinal = known !== undefined && (known.source === 'own' || target.sha256 !== undefined);
    return isFinal ? known : await this.#loader.load(target, maxBytes, known ? { ...more, known } : more, signal);
  }

  /** @param isStopped by the caller; otherwise a cancellation was a timeout */
  #gap(url: string, index: number, error: unknown, isStopped: boolean): Gap {
    const found = reasonOfError(error);
    const reason = isStopped ? 'cancelled' : found === 'cancelled' ? 'timeout' : found;
    const why = error instanceof ResourceFailure ? '' : `: ${messageOf(error)}`;
    this.#log.debug(`resource ${redactUrl(url)}: ${reason}${why}`);
    return gapOf(index, url, reason);
  }

  get #maxMessageBytes(): number {
    return this.#options.maxMessageBytes ?? MAX_MESSAGE_BYTES;
  }
}

/** In milliseconds: a slow server provides some 40 messages per second. */
export function budgetFor(messages: number): number {
  return 60_000 + messages * 30;
}

interface Run {
  readonly signal: AbortSignal;
  readonly either: AbortSignal;
  bytes: number;
  readonly health: OriginHealth;
  readonly asks?: true;
}

interface Group {
  readonly url: string;
  readonly indexes: number[];
  readonly sha256?: string;
}

function groupByUrl(history: readonly string[], from: number, to: number, options: HistoryOptions): readonly Group[] {
  const groups = new Map<string, Group>();
  for (let index = to - 1; index >= from; index--) {
    const url = history[index] ?? '';
    const sha256 = options.sha256?.(index);
    const known = groups.get(url);
    if (known !== undefined) known.indexes.push(index);
    else groups.set(url, { url, indexes: [index], sha256 });
  }
  return [...groups.values()];
}
