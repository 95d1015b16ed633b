// Agents that run without a window. Polled when keepers start or exit, and at intervals while there
// are any besides this window's.
import { Configured, type Disposable } from '../../base/disposable';
import { messageOf } from '../../base/errors';
import { Emitter, type Event } from '../../base/event';
import type { Log } from '../../base/log';
import type { Conversation } from '../../client/conversation/conversation';
import { sendNext } from '../../client/conversation/sendInBackground';
import type { FoundKeeper, Keepers } from '../../client/transport/keepers';

const POLL_MS = 5_000;

interface RunningAgentsOptions {
  readonly keepers: Pick<Keepers, 'list' | 'watch' | 'end' | 'endSessions' | 'collect'>;
  readonly isHere: (session: string) => boolean;
  readonly schedule: (run: () => void, ms: number) => Disposable;
  readonly log: Log;
}

type BackgroundState = 'working' | 'needsYou' | 'ready' | 'ended';

export class RunningAgents extends Configured<RunningAgentsOptions> implements Disposable {
  readonly #changed = new Emitter<void>();
  readonly #didPoll = new Emitter<void>();
  readonly #watching: Disposable;
  #background: readonly FoundKeeper[] = [];
  #hasOthers = false;
  #timer: Disposable | undefined;
  #isDisposed = false;

  constructor(options: RunningAgentsOptions) {
    super(options);
    this.#watching = options.keepers.watch(() => this.pollLater());
    void this.#poll();
  }

  readonly onDidChange: Event<void> = this.#changed.event;

  readonly onDidPoll: Event<void> = this.#didPoll.event;

  get background(): readonly FoundKeeper[] {
    return this.#background;
  }

  async end(id: string): Promise<void> {
    await this.options.keepers.end(id);
    await this.#read();
  }

  async endOf(sessions: readonly string[]): Promise<void> {
    await this.options.keepers.endSessions(sessions);
    await this.#read();
  }

  /** Ends agents without a window whose sessions were deleted. Never rejects. */
  async collect(isStored: (session: string) => boolean): Promise<void> {
    try {
      await this.options.keepers.collect(isStored);
    } catch (error) {
      this.options.log.warn(`running agents: ${messageOf(error)}`);
    }
  }

  /** Polls again in a few seconds. Called when this window may have detached from an agent. */
  pollLater(): void {
    if (!this.#isDisposed) this.#timer ??= this.options.schedule(() => void this.#poll(), POLL_MS);
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#watching.dispose();
    this.#timer?.dispose();
    this.#changed.dispose();
    this.#didPoll.dispose();
  }

  async #poll(): Promise<void> {
    this.#timer = undefined;
    try {
      await this.#read();
      this.#didPoll.fire();
    } catch (error) {
      this.options.log.warn(`running agents: ${messageOf(error)}`);
    }
    if (this.#hasOthers) this.pollLater();
  }

  async #read(): Promise<void> {
    const { keepers, isHere } = this.options;
    const found = await keepers.list(({ session }) => !isHere(session));
    if (this.#isDisposed) return;
    this.#hasOthers = found.some(({ kind }) => kind !== 'elsewhere');
    const before = this.#background;
    this.#background = found.filter((one) => one.state?.isAttached === false && !isHere(one.about.session));
    const describe = (rows: readonly FoundKeeper[]): string =>
      rows.map((one) => `${one.id} ${backgroundStateOf(one)}`).join();
    if (describe(before) !== describe(this.#background)) this.#changed.fire();
  }
}

export function backgroundStateOf({ state }: FoundKeeper): BackgroundState {
  if (!state || state.ended) return 'ended';
  if (state.waiting > 0) return 'needsYou';
  return state.isWorking ? 'working' : 'ready';
}

const MAX_TRIED = 1000;

interface BackgroundQueueOptions {
  readonly running: Pick<RunningAgents, 'background' | 'onDidPoll'>;
  readonly isOn: () => boolean;
  /** Returns the id of a session's next queued message; undefined if none or held. */
  readonly nextOf: (session: string) => string | undefined;
  /** Opens a session only for sending; undefined if not possible here. */
  readonly open: (session: string) => Conversation | undefined;
  readonly release: (session: string) => void;
  readonly log: Log;
}

export class BackgroundQueue extends Configured<BackgroundQueueOptions> implements Disposable {
  readonly #subscription: Disposable;
  readonly #abort = new AbortController();
  readonly #triedMessages = new Set<string>();
  #sending: Promise<void> | undefined;

  constructor(options: BackgroundQueueOptions) {
    super(options);
    this.#subscription = options.running.onDidPoll(() => void this.send());
  }

  /** Sends what can be sent, one session at a time. Never rejects. */
  send(): Promise<void> {
    this.#sending ??= this.#sendNext().finally(() => {
      this.#sending = undefined;
    });
    return this.#sending;
  }

  dispose(): void {
    this.#subscription.dispose();
    this.#abort.abort();
  }

  async #sendNext(): Promise<void> {
    const { running, isOn, log } = this.options;
    for (const found of running.background) {
      if (this.#abort.signal.aborted || !isOn()) return;
      const { session } = found.about;
      if (found.kind !== 'alive' || backgroundStateOf(found) !== 'ready') continue;
      try {
        await this.#send(session);
      } catch (error) {
        log.warn(`session ${session}: its queue does not go on: ${messageOf(error)}`);
      }
    }
  }

  async #send(session: string): Promise<void> {
    const { nextOf, open, release, log } = this.options;
    const next = nextOf(session);
    const tried = `${session} ${next}`;
    if (next === undefined || this.#triedMessages.has(tried)) return;
    const conversation = open(session);
    if (!conversation) return;
    this.#triedMessages.add(tried);
    const [oldest] = this.#triedMessages;
    if (this.#triedMessages.size > MAX_TRIED && oldest !== undefined) this.#triedMessages.delete(oldest);
    try {
      if (await sendNext(conversation, this.#abort.signal)) log.info(`session ${session}: its next message was sent`);
    } finally {
      release(session);
    }
  }
}
