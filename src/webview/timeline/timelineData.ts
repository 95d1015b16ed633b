// Merges the host's updates into the turns and calls that the timeline shows. Pure.
import type { TimelineCall, TimelineTurn, TimelineView } from '../../panel/contract';

export type TimelineRow =
  | { readonly kind: 'turn'; readonly turn: TimelineTurn }
  | { readonly kind: 'call'; readonly call: TimelineCall };

export class TimelineData {
  turns: TimelineTurn[] = [];
  calls: TimelineCall[] = [];
  /** The host's clock in its last update, ms since 1970. */
  now = 0;

  /** The first entry that may have changed since. */
  get from(): number {
    const open = this.calls.find(({ endedAt }) => endedAt === undefined) ?? this.calls.at(-1);
    if (!open) return 0;
    return open.endedAt === undefined ? open.index : open.index + 1;
  }

  apply({ from, turns, calls, now }: TimelineView): void {
    this.now = now;
    if (from === 0) this.clear();
    const indexes = new Map(this.turns.map((turn) => [turn.number, turn.index]));
    const first = turns[0];
    if (first) {
      const merged = turns.map((turn) => {
        const index = indexes.get(turn.number) ?? turn.index;
        return index === undefined ? turn : { ...turn, index };
      });
      this.turns = [...this.turns.filter(({ number }) => number < first.number), ...merged];
    }
    let keptCount = this.calls.length;
    while (keptCount > 0 && this.calls[keptCount - 1]!.index >= from) keptCount--;
    this.calls.length = keptCount;
    for (const call of calls) this.calls.push(call);
  }

  clear(): void {
    this.turns = [];
    this.calls = [];
  }

  rows(): readonly TimelineRow[] {
    const rows: TimelineRow[] = [];
    let next = 0;
    const turnsUntil = (number: number): void => {
      for (let turn = this.turns[next]; turn && turn.number <= number; turn = this.turns[++next])
        rows.push({ kind: 'turn', turn });
    };
    for (const call of this.calls) {
      if (call.turn !== undefined) turnsUntil(call.turn);
      rows.push({ kind: 'call', call });
    }
    turnsUntil(Number.POSITIVE_INFINITY);
    return rows;
  }
}
