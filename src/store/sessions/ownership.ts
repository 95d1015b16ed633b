// The sessions that this process owns: kept up by a heartbeat, and given up as soon as the store says that another window has them.
import type { Disposable } from '../../base/disposable';
import { Emitter, type Event } from '../../base/event';
import { type Sql, textOf } from '../file/sql';

const HEARTBEAT_MS = 15_000;

export interface OwnershipOptions {
  readonly schedule: (run: () => void, ms: number) => Disposable;
  /** Renews one lease. False where another window has it; undefined where the store cannot tell. */
  readonly beat: (key: string, windowId: string) => boolean | undefined;
}

export class Ownership implements Disposable {
  readonly #options: OwnershipOptions;
  /** Key of the session → id of our window. */
  readonly #claims = new Map<string, string>();
  /** What another window took from us and was not claimed again since. */
  readonly #taken = new Set<string>();
  readonly #lost = new Emitter<string>();
  #timer: Disposable | undefined;

  constructor(options: OwnershipOptions) {
    this.#options = options;
  }

  /** Another window took over a session of ours. */
  readonly onDidLose: Event<string> = this.#lost.event;

  /** What is owned: keys with the ids of our windows. */
  get all(): readonly (readonly [key: string, windowId: string])[] {
    return [...this.#claims];
  }

  /** The window of ours that owns a session. */
  of(key: string): string | undefined {
    return this.#claims.get(key);
  }

  begin(key: string, windowId: string): void {
    this.#claims.set(key, windowId);
    this.#taken.delete(key);
    this.#timer ??= this.#options.schedule(() => this.#beatAgain(), HEARTBEAT_MS);
  }

  end(key: string): void {
    this.#claims.delete(key);
    this.#taken.delete(key);
  }

  lose(key: string): void {
    if (!this.#claims.delete(key)) return;
    this.#taken.add(key);
    this.#lost.fire(key);
  }

  /** Whether a session is not another window's, as far as we ever owned it. What was taken from us stays closed, also when the other window has let it go. */
  mayWrite(sql: Sql, key: string): boolean {
    if (this.#taken.has(key)) return false;
    const ours = this.#claims.get(key);
    if (ours === undefined) return true;
    const holder = textOf(sql.get('SELECT window FROM leases WHERE key = ?', key)?.window);
    return holder === undefined || holder === ours;
  }

  /** Renews all leases. @returns keys of the sessions that were lost */
  beat(): readonly string[] {
    const lost = this.all.filter(([key, windowId]) => this.#options.beat(key, windowId) === false).map(([key]) => key);
    for (const key of lost) this.lose(key);
    return lost;
  }

  dispose(): void {
    this.#timer?.dispose();
    this.#claims.clear();
    this.#taken.clear();
    this.#lost.dispose();
  }

  #beatAgain(): void {
    this.#timer = undefined;
    this.beat();
    if (this.#claims.size > 0) this.#timer = this.#options.schedule(() => this.#beatAgain(), HEARTBEAT_MS);
  }
}
