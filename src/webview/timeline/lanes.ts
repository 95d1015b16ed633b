// Assigns the calls of a session to lanes, so that simultaneous calls are below each other, and
// selects what to draw of a lane: at most one mark per pixel. Pure.

import type { TimelineCall } from '../../panel/contract';
import { firstIndex } from '../text/firstIndex';
import type { TimeAxis } from './timeAxis';

/** Maximum number of lanes; calls may overlap in the last one. */
const MAX_LANES = 6;
const MAX_SUBAGENT_LANES = 3;

/** A call, or several within a pixel. In px. */
export interface Mark {
  readonly x: number;
  readonly width: number;
  readonly kind: string;
  readonly isFailed: boolean;
}

/** The visible range: positions in ms, and pixels per ms. */
export interface VisibleRange {
  readonly from: number;
  readonly until: number;
  readonly scale: number;
}

export class Lane {
  readonly #calls: readonly TimelineCall[];
  readonly #starts: Float64Array;
  readonly #ends: Float64Array;
  readonly #latestEnds: Float64Array;
  readonly #failed: Uint32Array;

  /** @param calls ordered by start */
  constructor(calls: readonly TimelineCall[], axis: TimeAxis, now: number) {
    this.#calls = calls;
    this.#starts = Float64Array.from(calls, ({ at }) => axis.at(at));
    this.#ends = Float64Array.from(calls, ({ at, endedAt }) => axis.at(Math.max(at, endedAt ?? now)));
    this.#latestEnds = new Float64Array(calls.length);
    this.#failed = new Uint32Array(calls.length + 1);
    let reached = 0;
    for (const [index, { status }] of calls.entries()) {
      reached = Math.max(reached, this.#ends[index]!);
      this.#latestEnds[index] = reached;
      this.#failed[index + 1] = this.#failed[index]! + (status === 'failed' ? 1 : 0);
    }
  }

  marks({ from, until, scale }: VisibleRange): readonly Mark[] {
    const marks: Mark[] = [];
    let index = firstOver(this.#latestEnds, from, 0);
    while (index < this.#calls.length && this.#starts[index]! <= until) {
      const x = (this.#starts[index]! - from) * scale;
      const width = (this.#ends[index]! - this.#starts[index]!) * scale;
      if (width >= 1) {
        marks.push(this.#mark(x, width, index, index + 1, index));
        index++;
        continue;
      }
      // Calls that begin within this pixel are one mark; the last of them can be longer.
      const pixel = Math.floor(x);
      const next = Math.max(index + 1, firstOver(this.#starts, from + (pixel + 1) / scale, index));
      const end = (this.#ends[next - 1]! - from) * scale;
      const isLong = end - pixel > 2;
      marks.push(this.#mark(pixel, Math.max(1, end - pixel), index, next, isLong ? next - 1 : index));
      index = next;
    }
    return marks;
  }

  /** Returns the call at a position, otherwise the nearest one within `reach` ms. */
  find(position: number, reach: number): TimelineCall | undefined {
    let best: TimelineCall | undefined;
    let distance = reach;
    for (let index = firstOver(this.#latestEnds, position - reach, 0); index < this.#calls.length; index++) {
      const start = this.#starts[index]!;
      if (start > position + reach) break;
      const away = Math.max(0, start - position, position - this.#ends[index]!);
      if (away > distance || (best && away === distance && away > 0)) continue;
      distance = away;
      best = this.#calls[index];
    }
    return best;
  }

  spanOf(call: TimelineCall): { readonly from: number; readonly until: number } | undefined {
    const index = this.#calls.indexOf(call);
    return index === -1 ? undefined : { from: this.#starts[index]!, until: this.#ends[index]! };
  }

  #mark(x: number, width: number, first: number, next: number, shown: number): Mark {
    const isFailed = this.#failed[next]! > this.#failed[first]!;
    return { x, width, kind: this.#calls[shown]!.kind, isFailed };
  }
}

/** @param now ms since 1970 */
export function lanesOf(calls: readonly TimelineCall[], axis: TimeAxis, now: number): readonly Lane[] {
  const sorted = [...calls].sort((a, b) => a.at - b.at);
  const isSubagent = ({ kind }: TimelineCall): boolean => kind === 'subagent';
  const groups = [
    ...spread(
      sorted.filter((call) => !isSubagent(call)),
      MAX_LANES,
      now,
    ),
    ...spread(sorted.filter(isSubagent), MAX_SUBAGENT_LANES, now),
  ];
  return groups.map((group) => new Lane(group, axis, now));
}

function spread(calls: readonly TimelineCall[], most: number, now: number): readonly TimelineCall[][] {
  const lanes: TimelineCall[][] = [];
  const ends: number[] = [];
  for (const call of calls) {
    let lane = ends.findIndex((end) => end <= call.at);
    if (lane === -1) lane = Math.min(ends.length, most - 1);
    lanes[lane] ??= [];
    lanes[lane]!.push(call);
    ends[lane] = Math.max(ends[lane] ?? 0, call.endedAt ?? now);
  }
  return lanes;
}

/** Returns the first index from `from` whose value is at least `value`. Values must ascend. */
function firstOver(values: Float64Array, value: number, from: number): number {
  return firstIndex(from, values.length, (index) => values[index]! >= value);
}
