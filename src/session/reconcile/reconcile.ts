// Compares an agent's replay with the transcript and returns what the transcript lacks. The
// transcript stays as it is, with its turns and their ends. Agents replay messages in other chunks,
// omit content and insert their own text, so everything before the last matching entry counts as
// known. What follows that entry is added in place: the rest of an interrupted answer, the end of a
// tool call, and work done in the session elsewhere.
import { inEnglish } from '../../base/localizable';
import type { SessionEvent, StopReason } from '../events/event';
import { eventsOf, terminalsOf, toolEvent } from '../model/entryEvents';
import { bareTextOf, textOf, withoutBare } from '../model/entryText';
import type { Entry, MessageEntry, SessionState, ToolEntry } from '../model/state';
import { isEnded } from '../model/tools';
import {
  comparableText,
  type KnownSegment,
  knownSegment,
  type Pairing,
  pairSegments,
  type Segment,
  segmentsOf,
} from './segments';
import { SIMILARITIES } from './toolMatcher';

export type Transcript = Pick<SessionState, 'entries' | 'turns' | 'terminals'>;

interface Match {
  readonly entry: Entry;
  readonly rest?: string;
}

interface Candidate {
  readonly entry: Entry;
  readonly place: Pairing | undefined;
  readonly isDoubtful: boolean;
}

const COMPLETE: ReadonlySet<StopReason | undefined> = new Set([
  'end_turn',
  'cancelled',
  'refusal',
  'max_tokens',
  'max_turn_requests',
]);

/**
 * Returns the events that add missing content, in order, to be applied while no turn is running.
 * Matching entries of `repeated` then share the transcript's contents, to save memory.
 */
export function reconcile(known: Transcript, repeated: Transcript, isPartial = false): SessionEvent[] {
  if (!known.entries.some(isConversation)) return resumedEvents(repeated.entries, repeated);
  const segments = segmentsOf(known.entries).map(knownSegment);
  const candidates = candidatesOf(segments, segmentsOf(repeated.entries));
  const matches = matchAll(segments, candidates);
  for (const [entry, match] of matches) if (match.rest === undefined) shareContent(entry, match.entry);
  // Plans and notices match anywhere, so they do not show how far the replay has come.
  const last = candidates.findLastIndex(({ entry }) => isConversation(entry) && matches.has(entry));
  if (last < 0) return isPartial ? [] : unrelatedEvents(known.entries, repeated);
  const lastPlace = segments.length - 1;
  const isOpen = !isComplete(known, segments[lastPlace]);
  const inLast = ({ place }: Candidate): boolean => (place?.last ?? 0) === lastPlace;
  const events: SessionEvent[] = [];
  let before: Entry | undefined;
  for (const candidate of candidates.slice(0, last + 1)) {
    const { entry } = candidate;
    const match = matches.get(entry);
    if (match) {
      before = match.entry;
      if (entry.kind === 'tool' && match.entry.kind === 'tool')
        events.push(...completedEvents(match.entry, entry, repeated));
      else if (match.rest !== undefined && inLast(candidate))
        events.push({ type: 'restored', entryId: match.entry.id, text: match.rest });
    } else if (before && entry.kind !== 'user' && isOpen && inLast(candidate))
      events.push(...restoredEvents(before, entry, repeated));
  }
  const behind = candidates.slice(last + 1).filter(({ entry }) => !matches.has(entry));
  while (isPartial && behind.at(-1)?.entry.kind === 'user') behind.pop();
  const turnAt = behind.findIndex(({ entry }) => entry.kind === 'user');
  const rest = (turnAt < 0 ? behind : behind.slice(0, turnAt)).filter(inLast).map(({ entry }) => entry);
  const end =
    segments[lastPlace]?.entries.findLast((entry) => isConversation(entry) || entry.kind === 'plan') ??
    segments[lastPlace]?.user;
  for (const entry of rest) {
    if (entry.kind === 'turn_end') events.push(...(hasOpenPast(known) ? endOf(entry, repeated) : []));
    else events.push(...(isOpen && end ? restoredEvents(end, entry, repeated) : repeatedEvents(entry, repeated)));
  }
  // A replay that ends earlier than this transcript has lost the end of the session and has nothing
  // new. The agent may never have received a prompt without an answer.
  const reached = candidates[last]?.place?.last ?? 0;
  const isBehind = segments.slice(reached + 1).every(({ entries }) => !entries.some(isConversation));
  if (turnAt >= 0 && isBehind)
    events.push(
      ...resumedEvents(
        behind.slice(turnAt).map(({ entry }) => entry),
        repeated,
      ),
    );
  return events;
}

function isConversation({ kind }: Entry): boolean {
  return kind === 'user' || kind === 'agent' || kind === 'thought' || kind === 'tool';
}

function isComplete({ turns }: Transcript, segment: Segment | undefined): boolean {
  const end = segment?.entries.findLast(({ kind }) => kind === 'turn_end');
  const turn = turns.findLast(({ id }) => id === end?.turnId);
  return turn !== undefined && turn.barrier !== 'exit' && COMPLETE.has(turn.stopReason);
}

// ---- Additions ----------------------------------------------------------------------------------

/**
 * Events of a replay that shares nothing with the transcript: none if it has user messages, as it
 * is of another session, and none for greetings that the agent repeats at each start.
 */
function unrelatedEvents(known: readonly Entry[], repeated: Transcript): SessionEvent[] {
  if (repeated.entries.some(({ kind }) => kind === 'user')) return [];
  const words = new Set(known.flatMap((entry) => (entry.kind === 'agent' ? [comparableText(entry)] : [])));
  return repeated.entries
    .filter((entry) => hasContent(entry) && !(entry.kind === 'agent' && words.has(comparableText(entry))))
    .flatMap((entry) => repeatedEvents(entry, repeated));
}

function resumedEvents(entries: readonly Entry[], repeated: Transcript): SessionEvent[] {
  if (entries.length === 0) return [];
  const events: SessionEvent[] = [{ type: 'replay_resumed' }];
  let last = entries[0]?.turnId;
  for (const entry of entries) {
    const isOwn = repeated.turns.some(({ id, origin }) => id === entry.turnId && origin === 'agent');
    if (isOwn && entry.turnId !== last) events.push({ type: 'replayed_turn' });
    last = entry.turnId;
    events.push(...(entry.kind === 'turn_end' ? endOf(entry, repeated) : repeatedEvents(entry, repeated)));
  }
  return events;
}

function hasOpenPast({ turns }: Transcript): boolean {
  const last = turns.at(-1);
  return last?.replayed === true && last.endedAt === undefined;
}

function endOf({ turnId }: Entry, { turns }: Transcript): SessionEvent[] {
  const { stopReason, barrier, tokens, tokenParts } = turns.findLast(({ id }) => id === turnId) ?? {};
  if (stopReason === undefined) return [];
  const usage = { tokens, tokenParts };
  return [{ type: 'replayed_end', stopReason, barrier, ...usage }];
}

function repeatedEvents(entry: Entry, repeated: Transcript): SessionEvent[] {
  return [...terminalsOf(entry, repeated), ...eventsOf(entry)];
}

function restoredEvents(behind: Entry, entry: Entry, repeated: Transcript): SessionEvent[] {
  const events = eventsOf(entry);
  if (events.length === 0) return [];
  return [...terminalsOf(entry, repeated), { type: 'restored', entryId: behind.id, events }];
}

function completedEvents(ours: ToolEntry, theirs: ToolEntry, repeated: Transcript): SessionEvent[] {
  const isOurGuess = ours.status === 'cancelled';
  if ((isEnded(ours.status) && !isOurGuess) || !isEnded(theirs.status) || ours.status === theirs.status) return [];
  // Use the id of the call here, as the agent may have renumbered it.
  return [...terminalsOf(theirs, repeated), { ...toolEvent(theirs), toolCallId: ours.toolCallId }];
}

// ---- The transcript so far ----------------------------------------------------------------------

function candidatesOf(known: readonly Segment[], repeated: readonly Segment[]): Candidate[] {
  const pairings = pairSegments(known, repeated);
  let place: Pairing | undefined;
  return repeated.flatMap(({ user, entries }, index): Candidate[] => {
    const own = pairings[index];
    place = own ?? place;
    const at = place;
    const isDoubtful = own === undefined && at !== undefined;
    return [...(user ? [user] : []), ...entries.filter(hasContent)].map((entry) => ({
      entry,
      place: at,
      isDoubtful,
    }));
  });
}

/** Some agents send whitespace as separate messages. */
function hasContent(entry: Entry): boolean {
  if (entry.kind !== 'agent' && entry.kind !== 'thought') return true;
  return bareTextOf(entry) !== '' || entry.content.some(({ type }) => type !== 'text');
}

function matchAll(segments: readonly KnownSegment[], candidates: readonly Candidate[]): Map<Entry, Match> {
  const matches = new Map<Entry, Match>();
  matchTools(segments, candidates, matches);
  const others = new OtherEntries(segments);
  for (const candidate of candidates) {
    const { entry, place } = candidate;
    if (entry.kind === 'user') {
      const user = place && !candidate.isDoubtful ? segments[place.last]?.user : undefined;
      if (user) matches.set(entry, { entry: user });
    } else if ((entry.kind === 'agent' || entry.kind === 'thought') && bareTextOf(entry) !== '') {
      const match = matchText(segments, candidate, entry, entry.kind);
      if (match) matches.set(entry, match);
    } else if (entry.kind !== 'tool') {
      const match = others.take(entry);
      if (match) matches.set(entry, match);
    }
  }
  return matches;
}

function matchText(
  segments: readonly KnownSegment[],
  { place, isDoubtful }: Candidate,
  entry: MessageEntry,
  role: 'agent' | 'thought',
): Match | undefined {
  const words = bareTextOf(entry);
  const own = segments.slice(place?.first ?? 0, (place?.last ?? 0) + 1);
  for (const segment of own) {
    const found = segment[role].find(words, isDoubtful);
    if (found) return { entry: found };
  }
  const begun = own.at(-1)?.[role].findBeginning(words);
  if (begun) {
    const rest = withoutBegin(withoutBare(textOf(entry), begun.length), spaceAtEnd(textOf(begun.entry)));
    return rest === '' ? { entry: begun.entry } : { entry: begun.entry, rest };
  }
  // Late messages are in the next segment here.
  const later = isDoubtful || !place ? undefined : segments[place.last + 1]?.[role].find(words, true);
  return later && { entry: later };
}

function spaceAtEnd(text: string): string {
  return text.slice(text.trimEnd().length);
}

function withoutBegin(text: string, begin: string): string {
  return text.startsWith(begin) ? text.slice(begin.length) : text;
}

function matchTools(
  segments: readonly KnownSegment[],
  candidates: readonly Candidate[],
  matches: Map<Entry, Match>,
): void {
  for (const similarity of SIMILARITIES) {
    // Entries after a user message are a better match than entries after an agent message.
    for (const isDoubtful of similarity === 'kind' ? [false] : [false, true]) {
      for (const { entry, place, ...candidate } of candidates) {
        if (entry.kind !== 'tool' || matches.has(entry) || candidate.isDoubtful !== isDoubtful) continue;
        for (const { tools } of segments.slice(place?.first ?? 0, (place?.last ?? 0) + 1)) {
          const ours = tools.take(entry, similarity);
          if (!ours) continue;
          matches.set(entry, { entry: ours });
          break;
        }
      }
    }
  }
}

class OtherEntries {
  readonly #known = new Map<string, Entry[]>();

  constructor(segments: readonly Segment[]) {
    for (const { entries } of segments) {
      for (const entry of entries) {
        const key = keyOf(entry);
        if (key === undefined) continue;
        const same = this.#known.get(key);
        if (same) same.push(entry);
        else this.#known.set(key, [entry]);
      }
    }
  }

  take(entry: Entry): Match | undefined {
    const key = keyOf(entry);
    const found = key === undefined ? undefined : this.#known.get(key)?.shift();
    return found && { entry: found };
  }
}

function keyOf(entry: Entry): string | undefined {
  // This transcript has the plan's final state; a replay may have an earlier one.
  if (entry.kind === 'plan') return `plan ${entry.planId} ${entry.entries.map(({ content }) => content).join()}`;
  if (entry.kind === 'notice')
    return `notice ${JSON.stringify(entry.said) ?? entry.title} ${inEnglish(entry.text)} ${entry.detail ?? ''}`;
  if ((entry.kind === 'agent' || entry.kind === 'thought') && bareTextOf(entry) === '')
    return `${entry.kind} ${comparableText(entry)}`;
  return entry.kind === 'error' ? `error ${entry.code} ${inEnglish(entry.text)}` : undefined;
}

const MAX_DEPTH = 32;

/** Shares equal contents between two entries. Contents are replaced and never changed in place. */
function shareContent(repeated: Entry, known: Entry): void {
  if (repeated.kind === 'tool' && known.kind === 'tool') {
    if (isEqual(repeated.content, known.content)) repeated.content = known.content;
    if (known.rawInput !== undefined && isEqual(repeated.rawInput, known.rawInput)) repeated.rawInput = known.rawInput;
    if (known.rawOutput !== undefined && isEqual(repeated.rawOutput, known.rawOutput))
      repeated.rawOutput = known.rawOutput;
    return;
  }
  if (!isMessage(repeated) || !isMessage(known)) return;
  // The list itself grows in each entry, so it is not shared.
  for (const [index, block] of known.content.entries())
    if (isEqual(repeated.content[index], block)) repeated.content[index] = block;
}

function isMessage(entry: Entry): entry is Extract<Entry, { kind: 'user' | 'agent' | 'thought' }> {
  return entry.kind === 'user' || entry.kind === 'agent' || entry.kind === 'thought';
}

function isEqual(a: unknown, b: unknown, depth = 0): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null || depth > MAX_DEPTH) return false;
  const [ours, theirs] = [definedIn(a), b as Record<string, unknown>];
  return (
    Array.isArray(a) === Array.isArray(b) &&
    ours.length === definedIn(b).length &&
    ours.every(([key, value]) => Object.hasOwn(b, key) && isEqual(value, theirs[key], depth + 1))
  );
}

/** Stored values have no undefined members. */
function definedIn(value: object): [string, unknown][] {
  return Object.entries(value).filter(([, one]) => one !== undefined);
}
