// Gaps: places in the past of a session from elsewhere whose message is not there (yet). What comes later takes their place, as one entry or as several.
import { head } from '../../base/text';
import type { SessionEvent } from '../events/event';
import { type ModelContext, shift } from './context';
import type { Entry } from './state';

const MAX_TEXT = 500;

/** Adds a gap, or says anew what is the matter with one that is known. */
export function addGap(context: ModelContext, event: Extract<SessionEvent, { type: 'gap' }>, at: number): void {
  const { gapId, state, remote } = event;
  const text = head(event.text, MAX_TEXT);
  const known = context.state.entries[context.gaps.get(gapId) ?? -1];
  if (known?.kind === 'gap') {
    known.text = text;
    known.state = state;
    context.note((changes) => changes.entry(known.index));
    return;
  }
  const index = context.push(
    ({ turnId, late, ...base }) => ({
      ...base,
      kind: 'gap',
      gapId,
      text,
      state,
      // The past was said outside of all turns, whichever runs while it is loaded.
      ...(remote && { remote, ...(turnId !== undefined && { turnId }), ...(late && { late }) }),
    }),
    at,
  );
  context.gaps.set(gapId, index);
}

/**
 * Puts what was missing into its place. Entries behind it move where it is more than one.
 * @param filling the entries that its events make
 */
export function fillGap(
  context: ModelContext,
  event: Extract<SessionEvent, { type: 'gap_filled' }>,
  filling: readonly Entry[],
): void {
  const { entries } = context.state;
  const index = context.gaps.get(event.gapId);
  const gap = entries[index ?? -1];
  if (index === undefined || gap?.kind !== 'gap') return;
  // A message that holds nothing to show is no gap any more, and its place is kept so that nothing moves for it.
  if (filling.length === 0) {
    addGap(context, { type: 'gap', gapId: event.gapId, text: 'An empty message.', state: 'final' }, event.at);
    return;
  }
  context.gaps.delete(event.gapId);
  if (filling.length > 1) shift(context, index + 1, filling.length - 1);
  const { turnId, late } = gap;
  const ofTurn = { ...(turnId !== undefined && { turnId }), ...(late && { late }) };
  const placed = filling.map((entry, offset): Entry => {
    const id = offset === 0 ? gap.id : `${gap.id}.${offset}`;
    return { ...entry, ...ofTurn, id, index: index + offset };
  });
  entries.splice(index, 1, ...placed);
  for (const entry of placed) {
    if (entry.kind === 'tool') context.tools.set(entry.toolCallId, entry.index);
    else if (entry.kind === 'gap') context.gaps.set(entry.gapId, entry.index);
  }
  context.note((changes) => (placed.length > 1 ? changes.clearedAll() : changes.entry(index)));
}
