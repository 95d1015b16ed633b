// The past of a session on other servers: our descriptor is authoritative, a server's version is
// adopted only if it continues ours, and no message is lost in between (distributed sessions,
// "Hand-over algorithm").
import type { HistoryLinks } from '../fetch/historyLinks';
import { MAX_HISTORY, type Message, type SessionDescriptor } from '../model/model';
import { DEFAULT_URL_SECONDS } from '../model/resources';
import { expiryOf } from '../model/resourceUrl';
import { checkAfterRun, decideHandOver, type Fork, nameOf, type ServerAnswer } from './handOver';
import { type HeldMessage, HeldMessages, leftOutMessage, type Recorded } from './heldMessages';

export type Finding =
  | { readonly kind: 'agrees' | 'unverified' }
  | { readonly kind: 'took-over'; readonly added: readonly string[] }
  | { readonly kind: 'forgotten'; readonly missing: number; readonly added: readonly string[] }
  | Fork;

export interface MessageRecorder {
  record(message: Message, signal: AbortSignal): Promise<string>;
  has(url: string): Promise<boolean>;
}

export interface KeptPast {
  readonly descriptor: SessionDescriptor;
  readonly held?: readonly HeldMessage[];
  /** Names of removed links: their messages are held, or the user removed them. */
  readonly gone?: readonly string[];
  readonly copies?: readonly string[];
}

export interface SessionPastOptions {
  readonly links?: HistoryLinks | undefined;
  readonly now: () => number;
}

const MAX_COMPARED = 200;

export class SessionPast {
  readonly #links: HistoryLinks | undefined;
  readonly #now: () => number;
  readonly held: HeldMessages;
  descriptor: SessionDescriptor;
  #removedNames: ReadonlySet<string>;
  hidesState = false;
  #copies: readonly string[];
  readonly #reissued = new Map<string, string>();

  constructor({ descriptor, held, gone, copies = [] }: KeptPast, { links, now }: SessionPastOptions) {
    this.descriptor = descriptor;
    this.held = new HeldMessages(held);
    this.#removedNames = new Set(gone);
    this.#copies = copies;
    this.#links = links;
    this.#now = now;
  }

  get sent(): SessionDescriptor {
    const { state, ...rest } = this.descriptor;
    return state === undefined || this.hidesState ? rest : { ...rest, state };
  }

  get kept(): KeptPast {
    return { descriptor: this.descriptor, held: this.held.all, gone: [...this.#removedNames], copies: this.#copies };
  }

  compare(answer: ServerAnswer): Finding {
    const theirs = this.#withoutRemoved(answer);
    const check = checkAfterRun(this.descriptor, theirs);
    if (check.kind === 'fork') return check;
    if (check.kind === 'unverified') return { kind: 'unverified' };
    const added = check.descriptor.history.slice(this.descriptor.history.length);
    this.descriptor = check.descriptor;
    if (check.kind === 'forgotten') return { kind: 'forgotten', missing: check.missing, added };
    if (added.length > 0) return { kind: 'took-over', added };
    // The server still has links that we removed, so it must get ours.
    return { kind: theirs === answer ? 'agrees' : 'unverified' };
  }

  /** Adopts what only the server we leave has. */
  async leave(answer: ServerAnswer, signal: AbortSignal): Promise<Fork | undefined> {
    const decision = decideHandOver(this.descriptor, this.#withoutRemoved(answer));
    if (decision.kind === 'fork') return decision;
    const added = decision.descriptor.history.slice(this.descriptor.history.length);
    this.descriptor = decision.descriptor;
    await this.takeRecord(added, undefined, signal);
    return undefined;
  }

  /** Returns whether the server's record has the prompt; undefined if unreadable. */
  async takeRecord(
    added: readonly string[],
    run: { readonly input: readonly Message[]; readonly outputs: number } | undefined,
    signal: AbortSignal,
  ): Promise<boolean | undefined> {
    if (added.length === 0) return run === undefined;
    if (this.held.all.length === 0) return true;
    const prompt = run?.input.at(-1);
    if (run && prompt && added.length === run.input.length + run.outputs) {
      const recordedPrompt = await this.#read(added[run.input.length - 1] ?? '', signal);
      if (recordedPrompt && HeldMessages.isRecordOf(recordedPrompt, prompt)) {
        this.held.dropRun();
        return true;
      }
    }
    const recorded = added.slice(-MAX_COMPARED).map(async (url): Promise<Recorded> => {
      return { url, message: await this.#read(url, signal) };
    });
    const hasRun = this.held.drop(await Promise.all(recorded));
    // The record may be our own.
    if (hasRun === undefined && run) this.held.dropRun();
    return hasRun;
  }

  /**
   * Re-signs our links, and sends messages along from the first link on that the server can't read.
   * Returns whether the history must be sent again.
   */
  async prepare(reader: string, signal: AbortSignal): Promise<boolean> {
    const links = this.#links;
    if (!links) return false;
    const { history, state } = this.descriptor;
    const freshLinks = await Promise.all(
      history.map(async (url) => {
        const link = await links.fresh(url, reader);
        // An expired foreign link stays only if its message can't be read at all.
        return link !== undefined && (await this.#readIfExpired(link, signal)) ? undefined : link;
      }),
    );
    const first = freshLinks.indexOf(undefined);
    const kept = freshLinks.slice(0, first === -1 ? freshLinks.length : first).filter((url) => url !== undefined);
    const unreadable = history.slice(kept.length);
    const messages = await Promise.all(
      unreadable.map(async (url, index) => {
        const result = await links.read(url, signal);
        return typeof result === 'string' ? this.#missing(kept.length + index, result) : result;
      }),
    );
    signal.throwIfAborted();
    const readable = state === undefined ? undefined : await links.fresh(state, reader);
    // Link names are unchanged if only their signatures are new.
    const moved = kept.flatMap((url, index) => {
      const before = history[index] ?? '';
      return url === before || nameOf(url) === nameOf(before) ? [] : [before];
    });
    // A server would continue with expiring links unless it gets new ones.
    const renewed = kept.some((url, index) => url !== history[index] && this.#expiresSoon(history[index] ?? ''));
    this.hidesState = state !== undefined && readable === undefined;
    this.#markRemoved([...moved, ...unreadable]);
    this.descriptor = { ...this.descriptor, history: kept, ...(readable !== undefined && { state: readable }) };
    if (unreadable.length > 0) this.held.prepend(messages);
    return unreadable.length > 0 || moved.length > 0 || renewed || (readable !== undefined && readable !== state);
  }

  #noteCopy(url: string): void {
    this.#copies = [...this.#copies, url].slice(-MAX_HISTORY);
  }

  async #published(url: string, recorder: MessageRecorder, signal: AbortSignal): Promise<string | undefined> {
    const known = this.#reissued.get(nameOf(url));
    if (known !== undefined && (await recorder.has(known)))
      return (await this.#links?.fresh(known, undefined)) ?? known;
    const message = await this.#readIfExpired(url, signal);
    if (!message) return undefined;
    const copy = await recorder.record(message, signal);
    this.#noteCopy(copy);
    this.#reissued.set(nameOf(url), copy);
    return copy;
  }

  async #readIfExpired(url: string, signal: AbortSignal): Promise<Message | undefined> {
    const expiresAt = expiryOf(url);
    return expiresAt !== undefined && expiresAt <= this.#now() ? this.#read(url, signal) : undefined;
  }

  #expiresSoon(url: string): boolean {
    const expiresAt = expiryOf(url);
    return expiresAt !== undefined && expiresAt - this.#now() < (DEFAULT_URL_SECONDS * 1000) / 2;
  }

  leaveOut(urls: readonly string[]): void {
    const names = new Set(urls.map(nameOf));
    const history = this.descriptor.history.filter((url) => !names.has(nameOf(url)));
    this.#markRemoved(urls);
    this.descriptor = { ...this.descriptor, history };
  }

  replaceBy(messages: readonly Message[]): void {
    this.#markRemoved(this.descriptor.history);
    this.descriptor = { ...this.descriptor, history: [] };
    this.held.prepend(messages, []);
  }

  async handOut(recorder: MessageRecorder, signal: AbortSignal): Promise<SessionDescriptor> {
    const history: string[] = [];
    for (const url of this.descriptor.history) {
      const link = (await this.#links?.fresh(url, undefined)) ?? url;
      history.push((await this.#published(link, recorder, signal)) ?? link);
    }
    for (const { message, url } of this.held.all) {
      const isKept = url !== undefined && (await recorder.has(url));
      const copy = isKept ? url : await recorder.record(message, signal);
      if (!isKept) {
        this.held.noteCopy(message, copy);
        this.#noteCopy(copy);
      }
      history.push((await this.#links?.fresh(copy, undefined)) ?? copy);
    }
    return { ...this.descriptor, history };
  }

  fit(otherBytes: number): number {
    const count = this.held.fit(otherBytes + 1024);
    if (count > 0) this.held.prepend([leftOutMessage(count, this.#now())]);
    return count;
  }

  async #read(url: string, signal: AbortSignal): Promise<Message | undefined> {
    const result = await this.#links?.read(url, signal);
    return typeof result === 'string' ? undefined : result;
  }

  #missing(index: number, why: string): Message {
    const content = `[message ${index + 1} unavailable: ${why}]`;
    return { role: 'agent', parts: [{ content_type: 'text/plain', content, content_encoding: 'plain' }] };
  }

  #markRemoved(urls: readonly string[]): void {
    this.#removedNames = new Set([...this.#removedNames, ...urls.map(nameOf)].slice(-MAX_HISTORY));
  }

  #withoutRemoved(answer: ServerAnswer): ServerAnswer {
    if (answer.kind !== 'session' || this.#removedNames.size === 0) return answer;
    const history = answer.descriptor.history.filter((url) => !this.#removedNames.has(nameOf(url)));
    if (history.length === answer.descriptor.history.length) return answer;
    return { kind: 'session', descriptor: { ...answer.descriptor, history } };
  }
}
