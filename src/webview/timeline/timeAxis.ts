// Maps times to positions on the timeline's axis. Idle time is shortened, as there are often hours
// between turns of minutes. Pure.
import { firstIndex } from '../text/firstIndex';

export interface Span {
  readonly from: number;
  readonly until: number;
}

/** Maximum share of shortened times. */
const CUT_SHARE = 0.2;

interface Piece extends Span {
  readonly at: number;
}

export class TimeAxis {
  readonly #pieces: readonly Piece[];
  /** ms */
  readonly length: number;
  readonly cuts: readonly Span[];

  /** @param spans when something ran; they may overlap */
  constructor(spans: readonly Span[]) {
    const merged = mergedSpans(spans);
    const busy = merged.reduce((sum, { from, until }) => sum + until - from, 0);
    const longest = Math.max(1, (busy * CUT_SHARE) / Math.max(1, merged.length - 1));
    const pieces: Piece[] = [];
    const cuts: Span[] = [];
    let at = 0;
    let before: Span | undefined;
    for (const span of merged) {
      if (before) {
        const gap = span.from - before.until;
        const drawn = Math.min(gap, longest);
        if (drawn < gap) cuts.push({ from: at, until: at + drawn });
        at += drawn;
      }
      pieces.push({ ...span, at });
      at += span.until - span.from;
      before = span;
    }
    this.#pieces = pieces;
    this.cuts = cuts;
    this.length = Math.max(1, at);
  }

  at(time: number): number {
    const index = this.#pieceIndex('from', time);
    const piece = this.#pieces[index];
    if (!piece) return 0;
    const end = piece.at + piece.until - piece.from;
    if (time <= piece.until) return piece.at + time - piece.from;
    const next = this.#pieces[index + 1];
    if (!next) return end;
    return end + ((time - piece.until) / (next.from - piece.until)) * (next.at - end);
  }

  timeAt(position: number): number {
    const index = this.#pieceIndex('at', position);
    const piece = this.#pieces[index];
    if (!piece) return this.#pieces[0]?.from ?? 0;
    const into = position - piece.at;
    const span = piece.until - piece.from;
    if (into <= span) return piece.from + into;
    const next = this.#pieces[index + 1];
    if (!next) return piece.until;
    return piece.until + ((into - span) / (next.at - piece.at - span)) * (next.from - piece.until);
  }

  /** Returns the index of the last piece that begins at or before `value`, or -1. */
  #pieceIndex(key: 'from' | 'at', value: number): number {
    return firstIndex(0, this.#pieces.length, (index) => this.#pieces[index]![key] > value) - 1;
  }
}

function mergedSpans(spans: readonly Span[]): readonly Span[] {
  const sorted = spans.filter(({ from, until }) => until >= from).sort((a, b) => a.from - b.from);
  const merged: { from: number; until: number }[] = [];
  for (const { from, until } of sorted) {
    const last = merged.at(-1);
    if (last && from <= last.until) last.until = Math.max(last.until, until);
    else merged.push({ from, until });
  }
  return merged;
}
