// The sessions that this process owns. A heartbeat renews leases; ownership ends when another
// window takes over.
import type { Disposable } from '../../base/disposable';
import { Emitter, type Event } from '../../base/event';
import { type Sql, textOf } from '../file/sql';

export interface OwnershipOptions {
  readonly schedule: (run: () => void, ms: number) => Disposable;
  /** In ms; undefined if no renewals are needed. */
  readonly renewalMs: () => number | undefined;
  /** False if another window has it; undefined if unknown. */
  readonly renew: (key: string, windowId: string) => boolean | undefined;
}

export class Ownership implements Disposable {
  readonly #options: OwnershipOptions;
  readonly #claims = new Map<string, string>();
  /** Sessions that another window took over and that were not claimed again. */
  readonly #takenOver = new Set<string>();
  readonly #didLose = new Emitter<string>();
  #timer: Disposable | undefined;

  constructor(options: OwnershipOptions) {
    this.#options = options;
  }

  readonly onDidLose: Event<string> = this.#didLose.event;

  get all(): readonly (readonly [key: string, windowId: string])[] {
    return [...this.#claims];
  }

  of(key: string): string | undefined {
    return this.#claims.get(key);
  }

  begin(key: string, windowId: string): void {
    this.#claims.set(key, windowId);
    this.#takenOver.delete(key);
    if (!this.#timer) this.#renewLater();
  }

  /** Call when another file is in use: renews soon, then at the interval that the file needs. */
  restart(): void {
    if (this.#claims.size === 0) return;
    this.#timer?.dispose();
    this.#timer = this.#options.schedule(() => this.#renewAgain(), 0);
  }

  end(key: string): void {
    this.#claims.delete(key);
    this.#takenOver.delete(key);
  }

  lose(key: string): void {
    if (!this.#claims.delete(key)) return;
    this.#takenOver.add(key);
    this.#didLose.fire(key);
  }

  /** A session that was taken over stays closed even after the other window released it. */
  mayWrite(sql: Sql, key: string): boolean {
    if (this.#takenOver.has(key)) return false;
    const ours = this.#claims.get(key);
    if (ours === undefined) return true;
    const holder = textOf(sql.get('SELECT window FROM leases WHERE key = ?', key)?.window);
    return holder === undefined || holder === ours;
  }

  renewAll(): readonly string[] {
    const lost = this.all.filter(([key, windowId]) => this.#options.renew(key, windowId) === false).map(([key]) => key);
    for (const key of lost) this.lose(key);
    return lost;
  }

  dispose(): void {
    this.#timer?.dispose();
    this.#claims.clear();
    this.#takenOver.clear();
    this.#didLose.dispose();
  }

  #renewAgain(): void {
    this.#timer = undefined;
    this.renewAll();
    if (this.#claims.size > 0) this.#renewLater();
  }

  #renewLater(): void {
    const ms = this.#options.renewalMs();
    if (ms !== undefined) this.#timer = this.#options.schedule(() => this.#renewAgain(), ms);
  }
}
