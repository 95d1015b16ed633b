// Sorts the marks of the turn engine into lanes: one per prompt, and one per turn of the agent. A
// mark of a turn goes to the lanes of all of its prompts.
import { oneLine } from '../base/text';
import type { LaneMark, TurnLane, TurnMarkKind, TurnMarkNote } from '../panel/trafficContract';
import { type CleanEntry, slices } from './cleanMessages';
import type { TrafficEntry, WireMessage } from './trafficLog';

const MAX_LANES = 50;
const MAX_RECORDED = 1_000;
const MAX_MARKS = 32;
/** Maximum characters of a displayed id. */
const MAX_ID = 60;

export interface TimedMark {
  readonly kind: TurnMarkKind;
  readonly turnId?: string;
  readonly handle?: string;
  readonly requestId?: string;
  readonly note?: TurnMarkNote;
  /** ms since 1970. */
  readonly at: number;
  readonly seq?: number;
}

export interface MarkReader {
  read(entry: Pick<TrafficEntry, 'kind' | 'at' | 'seq'>, message: WireMessage): readonly TimedMark[];
  /** When a mark is made without a further message, ms since 1970. */
  readonly dueAt: number | undefined;
  tick(at: number): readonly TimedMark[];
}

interface Lane {
  readonly id: number;
  readonly key: string;
  readonly handle: string | undefined;
  turnId: string | undefined;
  requestId: string | undefined;
  isSettled: boolean;
  seq: number;
  readonly marks: LaneMark[];
  more: number;
}

export class TurnTrace {
  readonly #lanes: Lane[] = [];
  readonly #changed = new Set<Lane>();
  readonly #most: number;
  #next = 0;
  #seq = 0;
  #reported = 0;

  constructor(most = MAX_LANES) {
    this.#most = most;
  }

  add(key: string, mark: TimedMark): void {
    this.#seq = Math.max(this.#seq, mark.seq ?? 0);
    const lanes = this.#lanesOf(key, mark);
    for (const lane of lanes) {
      lane.turnId ??= mark.turnId;
      if (mark.note !== 'foreign') lane.requestId ??= mark.requestId;
      if (mark.kind === 'settled') lane.isSettled = true;
      lane.seq = this.#seq;
      note(lane, mark);
      this.#changed.add(lane);
    }
  }

  drop(first: number): void {
    while (this.#lanes[0] && this.#lanes[0].seq < first) this.#changed.delete(this.#lanes.shift()!);
  }

  /** Returns the lanes changed since the last call; undefined if none. */
  changes(): { readonly first: number; readonly lanes: readonly TurnLane[] } | undefined {
    const first = this.#lanes[0]?.id ?? this.#next;
    if (this.#changed.size === 0 && first === this.#reported) return undefined;
    const lanes = [...this.#changed].sort((one, other) => one.id - other.id).map(viewOf);
    this.#changed.clear();
    this.#reported = first;
    return { first, lanes };
  }

  get lanes(): readonly TurnLane[] {
    return this.#lanes.map(viewOf);
  }

  #lanesOf(key: string, { kind, note, handle, turnId, requestId }: TimedMark): readonly Lane[] {
    const ofSession = this.#lanes.filter((lane) => lane.key === key);
    if (handle !== undefined) {
      const promptLane = ofSession.findLast((lane) => lane.handle === handle);
      if (promptLane && kind !== 'sent') return [promptLane];
      // A resent message leaves the turn.
      if (promptLane) Object.assign(promptLane, { turnId: undefined, isSettled: true });
      return [this.#open(key, handle)];
    }
    // A foreign id can equal one of ours.
    const isForeign = note === 'foreign';
    const ofRequest = ofSession.findLast(
      (lane) => !isForeign && requestId !== undefined && lane.requestId === requestId,
    );
    if (ofRequest) return [ofRequest];
    const ofTurn = ofSession.filter((lane) => turnId !== undefined && lane.turnId === turnId);
    if (ofTurn.length > 0) return ofTurn;
    const running = ofSession.findLast(({ isSettled }) => !isSettled);
    // Marks that started or ended a turn before its id was known.
    const isNewTurn = turnId !== undefined && !isForeign;
    if (isNewTurn && running && running.turnId === undefined && (running.handle === undefined || isAnswered(running)))
      return [running];
    const begins = isNewTurn || (kind === 'echo' && !running);
    const last = running ?? ofSession.at(-1);
    return last && !begins ? [last] : [this.#open(key)];
  }

  #open(key: string, handle?: string): Lane {
    const lane = { id: this.#next++, key, handle, turnId: undefined, requestId: undefined, isSettled: false };
    const opened: Lane = { ...lane, seq: this.#seq, marks: [], more: 0 };
    this.#lanes.push(opened);
    if (this.#lanes.length > this.#most) this.#changed.delete(this.#lanes.shift()!);
    return opened;
  }
}

function isAnswered({ marks }: Lane): boolean {
  return marks.some(({ kind }) => kind === 'answer');
}

function note(lane: Lane, { kind, note, at, seq }: TimedMark): void {
  const { marks } = lane;
  const last = marks.at(-1);
  if (last && note !== undefined && last.kind === kind && last.note === note) {
    marks[marks.length - 1] = { ...last, count: (last.count ?? 1) + 1 };
    return;
  }
  if (marks.length >= MAX_MARKS) {
    lane.more++;
    return;
  }
  const ms = last ? Math.max(0, at - last.at) : 0;
  marks.push({ kind, at, ms, seq, note });
}

function viewOf({ id, key, handle, requestId, marks, more }: Lane): TurnLane {
  return {
    id,
    key,
    isOwn: handle === undefined || undefined,
    requestId: requestId !== undefined ? oneLine(requestId, MAX_ID) : undefined,
    marks: [...marks],
    more: more > 0 ? more : undefined,
  };
}

/** Returns the lanes of a session. Works in slices. @throws the reason of `signal` */
export async function lanesOf(
  entries: readonly CleanEntry[],
  reader: MarkReader,
  signal?: AbortSignal,
): Promise<readonly TurnLane[]> {
  const trace = new TurnTrace(MAX_RECORDED);
  const yieldIfDue = slices(signal);
  for (const { entry, message } of entries) {
    if (message) for (const mark of reader.read(entry, message)) trace.add(entry.key, mark);
    await yieldIfDue();
  }
  return trace.lanes;
}
