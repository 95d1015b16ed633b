// Conversations of this window that continue the same session; they become branches as soon as they
// differ. Branches are detected and shown, never merged.
import type { Disposable } from '../../base/disposable';
import type { Event } from '../../base/event';
import { compareHistories, type HistoryRelation } from '../ports/agentServers';
import type { SessionRecord } from '../ports/resources';

export interface Branch {
  readonly key: string;
  readonly record: SessionRecord | undefined;
  readonly onDidChange: Event<SessionRecord>;
}

export interface Divergence<B> {
  readonly one: B;
  readonly other: B;
  readonly common: number;
}

export class Branches<B extends Branch> {
  readonly #branches = new Map<B, Disposable>();
  readonly #reportedPairs = new Set<string>();
  readonly #onDidDiverge: (divergence: Divergence<B>) => void;

  constructor(onDidDiverge: (divergence: Divergence<B>) => void) {
    this.#onDidDiverge = onDidDiverge;
  }

  add(branch: B): void {
    this.#branches.set(
      branch,
      branch.onDidChange(() => this.#compare(branch)),
    );
  }

  remove(branch: B): void {
    this.#branches.get(branch)?.dispose();
    this.#branches.delete(branch);
  }

  #compare(branch: B): void {
    for (const other of this.#branches.keys()) {
      const pair = [branch.key, other.key].sort().join(' ');
      if (other === branch || this.#reportedPairs.has(pair)) continue;
      const relation = relate(branch.record, other.record);
      if (relation?.relation !== 'fork') continue;
      this.#reportedPairs.add(pair);
      this.#onDidDiverge({ one: branch, other, common: relation.common });
    }
  }
}

/** Returns how two versions of a session relate; undefined if they are different sessions. */
export function relate(
  ours: SessionRecord | undefined,
  theirs: SessionRecord | undefined,
): HistoryRelation | undefined {
  if (ours === undefined || theirs === undefined || ours.id !== theirs.id) return undefined;
  return compareHistories(namesOf(ours), namesOf(theirs));
}

function namesOf({ entries }: SessionRecord): readonly string[] {
  return entries.map((place) => (place.kind === 'foreign' ? place.url : `own ${place.storeId} ${place.key}`));
}
