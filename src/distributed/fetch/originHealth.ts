// Remembers which servers do not respond while a history is resolved: a dead server with a hundred
// messages costs the time of a few requests.
import { type GapReason, ResourceFailure } from '../model/gap';

/** Failures in a row, without any answer, after which a server counts as dead. */
const ENOUGH = 4;
const SILENT: ReadonlySet<GapReason> = new Set(['timeout', 'refused', 'no-such-host']);

export class OriginHealth {
  readonly #silent = new Map<string, { readonly count: number; readonly reason: GapReason }>();

  /**
   * Asks before a request.
   * @throws ResourceFailure with the reason of the failures before, for a dead server
   */
  check(origin: string): void {
    const silent = this.#silent.get(origin);
    if (silent !== undefined && silent.count >= ENOUGH) throw new ResourceFailure(silent.reason);
  }

  /**
   * Notes how a request ended.
   * @param reason undefined where the server answered, whatever it said
   */
  note(origin: string, reason: GapReason | undefined): void {
    if (reason === undefined || !SILENT.has(reason)) this.#silent.delete(origin);
    else this.#silent.set(origin, { count: (this.#silent.get(origin)?.count ?? 0) + 1, reason });
  }
}
