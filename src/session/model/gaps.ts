// Gaps: messages of an imported session that are missing or not loaded yet. Content that arrives
// later replaces a gap with one or more entries.
import { head } from '../../base/text';
import type { EventOf, GapFilling, PastEvent } from '../events/event';
import { ownText } from '../events/ownText';
import { type ModelContext, mapIndexes } from './context';
import type { Entry, GapEntry } from './state';

const MAX_TEXT = 500;
const MAX_GAPS = 20_000;

export function addGap(context: ModelContext, event: EventOf<'gap'>, at: number): void {
  setGap(context, { ...event, text: head(event.text, MAX_TEXT) }, at);
}

export function addGaps(
  context: ModelContext,
  { prefix, first, count, inPlaceOf, text, said, state }: EventOf<'gaps'>,
  at: number,
): void {
  const end = first + Math.min(count, MAX_GAPS);
  const gap = { text: head(text, MAX_TEXT), said, state };
  if (inPlaceOf !== undefined) {
    const index = context.gaps.get(inPlaceOf) ?? -1;
    const known = context.state.entries[index];
    if (known?.kind !== 'gap') return;
    context.gaps.delete(inPlaceOf);
    const many = Array.from({ length: end - first }, (_, offset): GapEntry => {
      // Distinct from the ids of entries that will later fill one of these gaps.
      const id = `${known.id}/${offset}`;
      return { id, index, at, kind: 'gap', gapId: `${prefix}${first + offset}`, ...gap };
    });
    shiftEntries(context, new Map([[index, many]]), index);
    context.note((changes) => changes.clearedAll());
    return;
  }
  for (let number = first; number < end; number++) setGap(context, { gapId: `${prefix}${number}`, ...gap }, at);
}

type Gap = Omit<EventOf<'gap'>, 'type'>;

function setGap(context: ModelContext, { gapId, text, said, state, remote }: Gap, at: number): void {
  const place = context.gaps.get(gapId);
  const known = place === undefined ? undefined : context.state.entries[place];
  if (known?.kind === 'gap') {
    known.text = text;
    known.said = said;
    known.state = state;
    context.note((changes) => changes.entry(known.index));
    return;
  }
  const index = context.push(({ id, index, at, turnId, late }) => {
    // Imported messages belong to no turn, whichever turn runs while they load.
    const ofTurn = remote && { remote, turnId, late };
    return { id, index, at, kind: 'gap', gapId, text, said, state, ...ofTurn };
  }, at);
  context.gaps.set(gapId, index);
}

export function fillGaps(
  context: ModelContext,
  fillings: readonly GapFilling[],
  entriesOf: (events: readonly PastEvent[], at: number) => readonly Entry[],
): void {
  const { entries } = context.state;
  const placed = new Map<number, readonly Entry[]>();
  for (const { gapId, at, events } of fillings) {
    const index = context.gaps.get(gapId) ?? -1;
    const gap = entries[index];
    if (gap?.kind !== 'gap' || placed.has(index)) continue;
    const filling = entriesOf(events, at);
    if (filling.length > 0) {
      context.gaps.delete(gapId);
      placed.set(index, inPlaceOf(gap, filling));
    } else {
      // Keep an entry for an empty message, so that later entries do not move.
      addGap(context, { type: 'gap', gapId, text: '', said: ownText('empty-message'), state: 'final' }, at);
    }
  }
  if (placed.size === 0) return;
  const indexes = [...placed.keys()].sort((a, b) => a - b);
  const room = [...placed.values()].reduce((sum, { length }) => sum + length - 1, 0);
  if (room > 0) {
    shiftEntries(context, placed, indexes[0] ?? 0);
    context.note((changes) => changes.clearedAll());
    return;
  }
  for (const index of indexes) {
    place(context, placed.get(index)?.[0], index);
    context.note((changes) => changes.entry(index));
  }
}

function inPlaceOf({ id, index, turnId, late }: Entry, filling: readonly Entry[]): readonly Entry[] {
  const ofTurn = { ...(turnId !== undefined && { turnId }), ...(late && { late }) };
  return filling.map((entry, offset) => ({ ...entry, ...ofTurn, id: offset === 0 ? id : `${id}.${offset}`, index }));
}

function shiftEntries(context: ModelContext, placed: ReadonlyMap<number, readonly Entry[]>, from: number): void {
  const { entries } = context.state;
  const before = [...entries];
  const places = new Int32Array(before.length);
  let next = 0;
  for (const index of before.keys()) {
    places[index] = next;
    next += placed.get(index)?.length ?? 1;
  }
  mapIndexes(context, (index) => places[index] ?? next);
  entries.length = from;
  for (let index = from; index < before.length; index++) {
    const fresh = placed.get(index);
    if (!fresh) entries.push(before[index] as Entry);
    else for (const entry of fresh) place(context, entry, entries.length);
  }
}

function place(context: ModelContext, entry: Entry | undefined, index: number): void {
  if (!entry) return;
  entry.index = index;
  context.state.entries[index] = entry;
  if (entry.kind === 'tool') context.tools.set(entry.toolCallId, index);
  else if (entry.kind === 'gap') context.gaps.set(entry.gapId, index);
}
