// Remembers which servers do not respond while a history is resolved: a dead server with a hundred
// messages costs the time of a few requests.
import { type GapReason, ResourceFailure } from '../model/gap';

/** Failures in a row, without any answer, after which a server counts as dead. */
const ENOUGH = 4;
const SILENT: ReadonlySet<GapReason> = new Set(['timeout', 'refused', 'no-such-host']);
const UNANSWERED: ReadonlySet<GapReason> = new Set([...SILENT, 'connection-lost']);

export class OriginHealth {
  readonly #failures = new Map<string, { readonly count: number; readonly reason: GapReason }>();

  /** @throws ResourceFailure for a dead server, with the reason of its failures */
  check(origin: string): void {
    const failures = this.#failures.get(origin);
    if (failures && failures.count >= ENOUGH && SILENT.has(failures.reason)) throw new ResourceFailure(failures.reason);
  }

  /** Returns whether the last requests all failed without an answer: waiting helps no more. */
  keepsFailing(origin: string): boolean {
    return (this.#failures.get(origin)?.count ?? 0) >= ENOUGH;
  }

  /** @param reason undefined: the server answered */
  note(origin: string, reason: GapReason | undefined): void {
    if (reason === undefined || !UNANSWERED.has(reason)) this.#failures.delete(origin);
    else this.#failures.set(origin, { count: (this.#failures.get(origin)?.count ?? 0) + 1, reason });
  }
}
