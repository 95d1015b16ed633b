// What an agent repeats of a session, held against what is known of it here. What is known stays as it is, with its turns and ends; only what it lacks is added: the
// rest of an answer that was cut off, the end of a tool call, and what somebody else did in the session meanwhile. Nothing twice, nothing lost, the order kept.
import type { SessionEvent } from './event';
import type { Entry, MessageEntry, ToolEntry } from './state';
import { isEnded } from './tools';

/** Shorter pieces are too common to say that the rest of a text belongs to it. In characters without white space. */
const SHORTEST_OVERLAP = 8;

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

/** All that one role said, without white space: agents repeat the same text in other pieces than they sent it. */
class KnownText {
  readonly #text: string;
  #from = 0;

  constructor(entries: readonly Entry[], role: MessageEntry['kind']) {
    this.#text = entries.map((entry) => (entry.kind === role ? bare(textOf(entry as MessageEntry)) : '')).join('');
  }

  /** What of a message is not known: nothing, its end, or all of it. */
  restOf(entry: MessageEntry): 'none' | 'all' | { readonly text: string } {
    const text = textOf(entry);
    const wanted = bare(text);
    if (wanted === '') return 'none';
    const at = this.#text.indexOf(wanted, this.#from);
    if (at >= 0) {
      this.#from = at + wanted.length;
      return 'none';
    }
    const overlap = overlapOf(this.#text, this.#from, wanted);
    if (overlap < Math.min(SHORTEST_OVERLAP, wanted.length)) return 'all';
    this.#from = this.#text.length;
    return { text: text.slice(lengthOfBare(text, overlap)) };
  }
}

/** The length of the longest beginning of `wanted` that `text` ends with, not before `from`. Linear: a prefix function over both. */
function overlapOf(text: string, from: number, wanted: string): number {
  const end = text.slice(Math.max(from, text.length - wanted.length));
  const joined = `${wanted}\u0000${end}`;
  const borders = new Int32Array(joined.length);
  for (let index = 1, border = 0; index < joined.length; index++) {
    while (border > 0 && joined[index] !== joined[border]) border = borders[border - 1] ?? 0;
    if (joined[index] === joined[border]) border++;
    borders[index] = border;
  }
  return borders.at(-1) ?? 0;
}

function textOf({ content }: MessageEntry): string {
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
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
