// Finds a text in the whole of a session, a few milliseconds at a time, and keeps the result true
// while the session goes on. The panel gets how many matches each entry has.
import type { Disposable } from '../../base/disposable';
import type { FindQuery, SessionMessage, ToWebview } from '../../panel/contract';
import { Changes } from '../../session/model/changes';
import type { Conversation } from '../conversation/conversation';
import { type FindMatches, matcherOf, SlowPattern } from '../requests/findPattern';
import { findTextOf, terminalsOf } from './findText';

/** Between two turns of the event loop, in milliseconds. */
const SLICE_MS = 8;
const SLICE_CHARS = 64 * 1024;
/** In milliseconds. */
const CHANGES_MS = 150;

export type FindSource = Pick<Conversation, 'model' | 'whole' | 'roots'>;

type FindRequest = Extract<SessionMessage, { type: 'find' }>;
type FindProblem = NonNullable<Extract<ToWebview, { type: 'found' }>['problem']>;

export class SessionFind implements Disposable {
  readonly #source: FindSource;
  readonly #id: number;
  readonly #from: number;
  readonly #post: (message: ToWebview) => void;
  readonly #changes = new Changes(() => this.#wake());
  readonly #counts = new Map<number, number>();
  readonly #showing = new Map<string, Set<number>>();
  /** In this order. */
  readonly #pending = new Set<number>();
  #matches: FindMatches | undefined;
  #observing: Disposable | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isWorking = false;
  #isDisposed = false;

  constructor(source: FindSource, { id, query, from }: FindRequest, post: (message: ToWebview) => void) {
    this.#source = source;
    this.#id = id;
    this.#from = from;
    this.#post = post;
    this.#matches = this.#matcherOf(query);
    if (this.#matches) void this.#begin();
  }

  async findIn({ request, texts }: Extract<SessionMessage, { type: 'findIn' }>): Promise<void> {
    const ranges = await this.#found(texts);
    if (ranges && !this.#isDisposed) this.#post({ type: 'foundIn', id: this.#id, request, ranges });
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#matches?.dispose();
    this.#matches = undefined;
    this.#observing?.dispose();
    clearTimeout(this.#timer);
  }

  async #begin(): Promise<void> {
    await this.#source.whole;
    if (this.#isDisposed) return;
    this.#observing = this.#source.model.observe(this.#changes);
    this.#restart();
  }

  /** Searches everything: from where the reader is to the end, then what is before, last first. */
  #restart(): void {
    this.#changes.reset();
    this.#counts.clear();
    this.#pending.clear();
    const { length } = this.#source.model.state.entries;
    const from = Math.min(this.#from, Math.max(0, length - 1));
    for (let index = from; index < length; index++) this.#pending.add(index);
    for (let index = from - 1; index >= 0; index--) this.#pending.add(index);
    void this.#work(true);
  }

  #wake(): void {
    if (this.#isWorking || this.#isDisposed) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#takeChanges();
    }, CHANGES_MS);
  }

  #takeChanges(): void {
    if (this.#changes.cleared) {
      this.#restart();
      return;
    }
    for (const index of this.#changes.entries.keys()) this.#pending.add(index);
    for (const id of this.#changes.terminals.keys())
      for (const index of this.#showing.get(id) ?? []) this.#pending.add(index);
    this.#changes.reset();
    if (this.#pending.size > 0) void this.#work(false);
  }

  async #work(isNew: boolean): Promise<void> {
    this.#isWorking = true;
    let isFirst = isNew;
    do {
      const counts = await this.#slice(performance.now() + SLICE_MS);
      if (!counts || this.#isDisposed) return;
      const isDone = this.#pending.size === 0;
      if (counts.length > 0 || isDone || isFirst)
        this.#post({ type: 'found', id: this.#id, counts, isDone, isNew: isFirst ? (true as const) : undefined });
      isFirst = false;
      await new Promise((resolve) => setImmediate(resolve));
    } while (this.#pending.size > 0 && !this.#isDisposed);
    this.#isWorking = false;
    if (!this.#changes.isEmpty) this.#wake();
  }

  /** @returns the counts that changed; undefined if the search has ended */
  async #slice(deadline: number): Promise<(readonly [number, number])[] | undefined> {
    const changed: (readonly [number, number])[] = [];
    do {
      const indexes = [];
      const texts = [];
      let chars = 0;
      for (const index of this.#pending) {
        this.#pending.delete(index);
        const text = this.#textOf(index);
        indexes.push(index);
        texts.push(text);
        chars += text.length;
        if (chars >= SLICE_CHARS) break;
      }
      const found = await this.#found(texts);
      if (!found) return undefined;
      for (const [at, index] of indexes.entries()) {
        const count = (found[at]?.length ?? 0) / 2;
        if (count === (this.#counts.get(index) ?? 0)) continue;
        this.#counts.set(index, count);
        changed.push([index, count]);
      }
    } while (this.#pending.size > 0 && performance.now() < deadline);
    return changed;
  }

  #textOf(index: number): string {
    const { model, roots } = this.#source;
    const entry = model.state.entries[index];
    if (!entry) return '';
    for (const id of terminalsOf(entry)) {
      const showing = this.#showing.get(id) ?? new Set();
      this.#showing.set(id, showing.add(index));
    }
    return findTextOf(entry, { terminals: model.state.terminals, roots });
  }

  #matcherOf(query: FindQuery): FindMatches | undefined {
    try {
      return matcherOf(query);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      this.#fail('invalid');
      return undefined;
    }
  }

  /** @returns undefined if the search has ended */
  async #found(texts: readonly string[]): Promise<readonly (readonly number[])[] | undefined> {
    try {
      return await this.#matches?.find(texts);
    } catch (error) {
      if (!(error instanceof SlowPattern)) throw error;
      this.dispose();
      this.#fail('slow');
      return undefined;
    }
  }

  #fail(problem: FindProblem): void {
    this.#post({ type: 'found', id: this.#id, counts: [], isDone: true, isNew: true, problem });
  }
}
