// What an agent repeats of a session, held against what is known of it here. What is known stays as it is, with its turns and ends; only what it lacks is added: the
// rest of an answer that was cut off, the end of a tool call, and what somebody else did in the session meanwhile. Nothing twice, nothing lost, the order kept.
import type { SessionEvent } from './event';
import type { Entry, MessageEntry, ToolEntry } from './state';
import { isEnded } from './tools';

/** Shorter beginnings are too common to tell a message by, out of its order. In characters without white space. */
const SHORTEST_LIKENESS = 8;

/**
 * @param known the transcript here @param repeated the transcript that the agent's replay makes, in a model of its own
 * @returns the events that bring what is missing, in order; to be applied while no turn runs
 */
export function reconcile(known: readonly Entry[], repeated: readonly Entry[]): SessionEvent[] {
  const tools = new Map(known.flatMap((entry) => (entry.kind === 'tool' ? [[entry.toolCallId, entry] as const] : [])));
  const texts = {
    user: new KnownText(known, 'user'),
    agent: new KnownText(known, 'agent'),
    thought: new KnownText(known, 'thought'),
  };
  const events: SessionEvent[] = [];
  // What comes before the first thing that both know is the agent's own preface, and older than all that stands here.
  let met = known.length === 0;
  for (const entry of repeated) {
    if (entry.kind === 'tool') {
      const ours = tools.get(entry.toolCallId);
      if (ours) {
        met = true;
        events.push(...completed(ours, entry));
      } else if (met) events.push(added(entry));
    } else if (entry.kind === 'user' || entry.kind === 'agent' || entry.kind === 'thought') {
      const rest = texts[entry.kind].restOf(entry);
      if (rest !== 'all') met = true;
      if (rest === 'all' && met) events.push(...said(entry));
      else if (typeof rest === 'object') events.push(...said(entry, rest.text));
    }
  }
  return events;
}

/** The end of a call that was open here. */
function completed(ours: ToolEntry, theirs: ToolEntry): SessionEvent[] {
  const isOurGuess = ours.status === 'cancelled';
  if ((isEnded(ours.status) && !isOurGuess) || !isEnded(theirs.status) || ours.status === theirs.status) return [];
  return [added(theirs)];
}

function added({
  toolCallId,
  title,
  name,
  toolKind,
  status,
  content,
  locations,
  rawInput,
  rawOutput,
}: ToolEntry): SessionEvent {
  const patch = {
    title,
    kind: toolKind,
    status,
    content,
    locations,
    ...(name !== undefined && { name }),
    ...(rawInput !== undefined && { rawInput }),
    ...(rawOutput !== undefined && { rawOutput }),
  };
  return { type: 'tool_call', toolCallId, patch, announced: false };
}

/** @param text only this of the message's text is missing here; absent: all of it */
function said({ kind, messageId, content }: MessageEntry, text?: string): SessionEvent[] {
  const common = { type: 'message_chunk', role: kind, ...(messageId !== undefined && { messageId }) } as const;
  if (text !== undefined) return [{ ...common, block: { type: 'text', text } }];
  return content.map((block) => ({ ...common, block }));
}

/** A message that stands here: what of it was not repeated yet, without white space. */
interface Piece {
  rest: string;
}

/** What one role said, message by message. White space is left out, and agents repeat the same text in other pieces than they sent it. */
class KnownText {
  readonly #pieces: readonly Piece[];
  /** By their beginnings, for what does not come in the order in which it stands here. */
  readonly #byBeginning = new Map<string, Piece[]>();
  readonly #places = new Map<Piece, number>();
  #next = 0;

  constructor(entries: readonly Entry[], role: MessageEntry['kind']) {
    this.#pieces = entries.flatMap((entry) => {
      const rest = entry.kind === role ? bareTextOf(entry as MessageEntry) : '';
      return rest === '' ? [] : [{ rest }];
    });
    for (const [place, piece] of this.#pieces.entries()) {
      this.#places.set(piece, place);
      const key = beginningOf(piece.rest);
      const others = this.#byBeginning.get(key);
      if (others) others.push(piece);
      else this.#byBeginning.set(key, [piece]);
    }
  }

  /** What of a message is not known: nothing, its end, or all of it. */
  restOf(entry: MessageEntry): 'none' | 'all' | { readonly text: string } {
    const text = textOf(entry);
    const wanted = bare(text);
    let seen = 0;
    while (seen < wanted.length) {
      const length = this.#take(seen === 0 ? wanted : wanted.slice(seen));
      if (length === 0) break;
      seen += length;
    }
    if (seen === wanted.length) return 'none';
    return seen === 0 ? 'all' : { text: text.slice(lengthOfBare(text, seen)) };
  }

  /** Marks what both have in common at the beginning of a text. @returns its length */
  #take(wanted: string): number {
    while (this.#pieces[this.#next]?.rest === '') this.#next++;
    const following = this.#pieces[this.#next];
    const piece = following && isBeginning(following.rest, wanted) ? following : this.#elsewhere(wanted);
    if (!piece) return 0;
    const length = Math.min(piece.rest.length, wanted.length);
    piece.rest = piece.rest.slice(length);
    this.#next = Math.max(this.#next, this.#places.get(piece) ?? 0);
    return length;
  }

  /** The message that begins in the same way: the first behind the last one that was found, else the first of all. */
  #elsewhere(wanted: string): Piece | undefined {
    const key = beginningOf(wanted);
    const like = (this.#byBeginning.get(key) ?? []).filter(
      ({ rest }) => beginningOf(rest) === key && isBeginning(rest, wanted),
    );
    return like.find((piece) => (this.#places.get(piece) ?? 0) >= this.#next) ?? like[0];
  }
}

function beginningOf(text: string): string {
  return text.slice(0, SHORTEST_LIKENESS);
}

/** Whether one of two texts is the beginning of the other. */
export function isBeginning(one: string, other: string): boolean {
  return one.length <= other.length ? other.startsWith(one) : one.startsWith(other);
}

function textOf({ content }: Pick<MessageEntry, 'content'>): string {
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

/** The text of a message without white space: agents repeat the same words in other pieces, with other ends of lines. */
export function bareTextOf(message: Pick<MessageEntry, 'content'>): string {
  return bare(textOf(message));
}

function bare(text: string): string {
  return text.replaceAll(/\s+/g, '');
}

/** How many characters of `text` hold its first `count` ones that are no white space. */
function lengthOfBare(text: string, count: number): number {
  let seen = 0;
  let index = 0;
  for (; index < text.length && seen < count; index++) if (!/\s/.test(text[index] ?? '')) seen++;
  return index;
}
