// The agents that run without a window, looked for at intervals.
import type { Disposable } from '../../base/disposable';
import { messageOf } from '../../base/errors';
import { Emitter, type Event } from '../../base/event';
import type { Log } from '../../base/log';
import type { FoundKeeper, Keepers } from '../../client/transport/keepers';

/** How often agents without a window are looked at, in milliseconds. */
const LOOK_MS = 5_000;

export interface RunningAgentsOptions {
  readonly keepers: Pick<Keepers, 'list' | 'end' | 'endOf' | 'collect'>;
  readonly isHere: (session: string) => boolean;
  readonly schedule: (run: () => void, ms: number) => Disposable;
  readonly log: Log;
}

export type BackgroundState = 'working' | 'needsYou' | 'ready' | 'ended';

export class RunningAgents implements Disposable {
  readonly #options: RunningAgentsOptions;
  readonly #changed = new Emitter<void>();
  readonly #looked = new Emitter<void>();
  #background: readonly FoundKeeper[] = [];
  #timer: Disposable | undefined;
  #isDisposed = false;

  constructor(options: RunningAgentsOptions) {
    this.#options = options;
    void this.#look();
  }

  readonly onDidChange: Event<void> = this.#changed.event;

  /** Fires after each look, whatever it has found. */
  readonly onDidLook: Event<void> = this.#looked.event;

  get background(): readonly FoundKeeper[] {
    return this.#background;
  }

  async end(id: string): Promise<void> {
    await this.#options.keepers.end(id);
    await this.#read();
  }

  async endOf(sessions: readonly string[]): Promise<void> {
    await this.#options.keepers.endOf(sessions);
    await this.#read();
  }

  /** Ends agents without a window whose sessions are no longer stored. Never rejects. */
  async collect(isStored: (session: string) => boolean): Promise<void> {
    try {
      await this.#options.keepers.collect(isStored);
    } catch (error) {
      this.#options.log.warn(`running agents: ${messageOf(error)}`);
    }
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#timer?.dispose();
    this.#changed.dispose();
    this.#looked.dispose();
  }

  async #look(): Promise<void> {
    try {
      await this.#read();
      this.#looked.fire();
    } catch (error) {
      this.#options.log.warn(`running agents: ${messageOf(error)}`);
    }
    if (!this.#isDisposed) this.#timer = this.#options.schedule(() => void this.#look(), LOOK_MS);
  }

  async #read(): Promise<void> {
    const { keepers, isHere } = this.#options;
    const found = await keepers.list(({ session }) => !isHere(session));
    if (this.#isDisposed) return;
    const before = this.#background;
    this.#background = found.filter((one) => one.state?.isAttached === false && !isHere(one.about.session));
    const looks = (rows: readonly FoundKeeper[]): string =>
      rows.map((one) => `${one.id} ${backgroundStateOf(one)}`).join();
    if (looks(before) !== looks(this.#background)) this.#changed.fire();
  }
}

export function backgroundStateOf({ state }: FoundKeeper): BackgroundState {
  if (!state || state.ended) return 'ended';
  if (state.waiting > 0) return 'needsYou';
  return state.isWorking ? 'working' : 'ready';
}
