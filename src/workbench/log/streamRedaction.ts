// Redacts secrets in streamed text, where a secret may be cut between two pieces with anything in
// between. A piece that may begin one waits for the next.
import type { KnownSecrets } from '../../base/knownSecrets';
import { knownSecrets } from '../../base/redact';
import type { SessionEvent, TimedEvent } from '../../session/events/event';

/** A piece of a text that continues. */
interface Piece {
  /** What holds the text, as {@link holderOf} says. */
  readonly holder: string;
  /** Which of its texts; another one replaces it. */
  readonly part?: string | undefined;
  /** It continues only until another entry begins. */
  readonly isLastOnly?: boolean;
  /** Nothing follows it, or its event says more than the text: the event is kept in any case. */
  readonly isOver?: boolean;
  readonly saysMore?: boolean;
  readonly text: string;
  readonly withText: (text: string) => SessionEvent;
}

/** The end of a text, and whether the entry of the text begins with it. */
interface HeldEnd {
  readonly at: number;
  readonly piece: Piece;
  readonly beginsEntry: boolean;
}

/** Texts of which an end is held at once. */
const MAX_HELD = 256;

/** Where these stand, nothing carries over. */
const BREAKS: ReadonlySet<SessionEvent['type']> = new Set([
  'turn_started',
  'turn_ended',
  'cleared',
  'restored',
  'gap_filled',
  'gaps_filled',
  'ids_renewed',
  'replay_resumed',
  'replayed_turn',
  'replayed_end',
]);

export class StreamRedaction {
  readonly #secrets: KnownSecrets;
  /** By the holder of the text, in the order in which they came. */
  readonly #held = new Map<string, HeldEnd>();

  constructor(secrets: KnownSecrets = knownSecrets) {
    this.#secrets = secrets;
  }

  /**
   * Returns the events with the ends of texts that may be the beginning of a known secret moved to
   * the piece that follows, or to an event of their own before whatever ends or replaces the text.
   * What is read from the events returned is what is read from those given, without secrets.
   */
  take(events: readonly TimedEvent[]): readonly TimedEvent[] {
    if (this.#secrets.isEmpty && this.#held.size === 0) return events;
    return events.flatMap((timed) => this.#takeOne(timed));
  }

  /** The ends of texts that were not returned yet. */
  get held(): readonly TimedEvent[] {
    return [...this.#held.values()].map(timedOf);
  }

  #takeOne(timed: TimedEvent): TimedEvent[] {
    const { at, event, begins = false } = timed;
    const piece = pieceOf(event);
    const before = piece && this.#heldBefore(piece, begins);
    const taken: TimedEvent[] = [];
    for (const [holder, held] of this.#held) {
      if (held !== before && goesOnAfter(held, timed)) continue;
      this.#held.delete(holder);
      if (held !== before) taken.push(timedOf(held));
    }
    if (!piece) return [...taken, this.#withMark(timed)];

    const text = this.#secrets.redact((before?.piece.text ?? '') + piece.text);
    const end = piece.isOver ? text.length : text.length - this.#secrets.openEnd(text);
    // What is held whole has not begun its entry; an empty piece is an event too.
    const isKept = end > 0 || text === '' || piece.saysMore || timed.mark !== undefined;
    if (isKept) taken.push(this.#withMark({ ...timed, event: piece.withText(text.slice(0, end)) }));
    if (end < text.length) {
      const beginsEntry = end === 0 && (begins || before?.beginsEntry === true);
      this.#held.set(piece.holder, { at, piece: { ...piece, text: text.slice(end) }, beginsEntry });
      taken.push(...this.#dropOldest());
    }
    return taken;
  }

  #heldBefore({ holder, part }: Piece, begins: boolean): HeldEnd | undefined {
    const held = this.#held.get(holder);
    return begins || held?.piece.part !== part ? undefined : held;
  }

  /** Nothing can be read from an event on while the end of a text before it is still to come. */
  #withMark(timed: TimedEvent): TimedEvent {
    if (timed.mark === undefined || this.#held.size === 0) return timed;
    const { mark: _, ...unmarked } = timed;
    return unmarked;
  }

  #dropOldest(): TimedEvent[] {
    const [oldest] = this.#held;
    if (this.#held.size <= MAX_HELD || !oldest) return [];
    this.#held.delete(oldest[0]);
    return [timedOf(oldest[1])];
  }
}

/** Returns whether a text may continue after an event that is no piece of it. */
function goesOnAfter({ piece, beginsEntry }: HeldEnd, { event, begins }: TimedEvent): boolean {
  if (BREAKS.has(event.type) || holderOf(event) === piece.holder) return false;
  // Which entry a message continues depends on those of its turn.
  if (beginsEntry && event.type === 'message_chunk' && piece.holder.startsWith(`${event.role} `)) return false;
  // The order of the entries stays.
  return !begins || !(piece.isLastOnly || beginsEntry);
}

function timedOf({ at, piece }: HeldEnd): TimedEvent {
  return { at, event: piece.withText(piece.text) };
}

/** The user's own words are no such piece: they are kept as they are. */
function pieceOf(event: SessionEvent): Piece | undefined {
  const holder = holderOf(event);
  if (holder === undefined) return undefined;
  switch (event.type) {
    case 'message_chunk': {
      const { block, messageId } = event;
      if (block.type !== 'text') return undefined;
      const withText = (text: string): SessionEvent => ({ ...event, block: { ...block, text } });
      return { holder, isLastOnly: messageId === undefined, text: block.text, withText };
    }
    case 'subagent_said': {
      const withText = (text: string): SessionEvent => ({ ...event, text });
      return { holder, part: event.messageId, text: event.text, withText };
    }
    case 'terminal': {
      const { append, output, exit } = event;
      if (append === undefined || output !== undefined) return undefined;
      const withText = (text: string): SessionEvent => ({ ...event, append: text });
      const isOver = exit !== undefined && exit !== null;
      return { holder, saysMore: hasMore(event), isOver, text: append, withText };
    }
    case 'tool_content': {
      const { part } = event;
      if (part.type !== 'content' || part.block.type !== 'text') return undefined;
      const { block } = part;
      const withText = (text: string): SessionEvent => ({ ...event, part: { ...part, block: { ...block, text } } });
      return { holder, text: block.text, withText };
    }
    case 'session_message':
    case 'compaction': {
      const { append } = event;
      const whole = event.type === 'compaction' ? event.summary : event.text;
      if (append === undefined || whole !== undefined) return undefined;
      const withText = (text: string): SessionEvent => ({ ...event, append: text });
      return { holder, saysMore: hasMore(event), text: append, withText };
    }
    default:
      return undefined;
  }
}

/** Returns whether an event says more than its type, its id and the text that it appends. */
function hasMore(event: SessionEvent): boolean {
  return Object.values(event).filter((value) => value !== undefined).length > 3;
}

/** Names what holds the text that an event continues, ends or replaces. */
function holderOf(event: SessionEvent): string | undefined {
  switch (event.type) {
    case 'message':
    case 'message_chunk':
      return event.role === 'user' ? undefined : `${event.role} ${event.messageId}`;
    case 'subagent_said':
    case 'subagent_did':
      return `subagent ${event.sessionId}`;
    case 'terminal':
      return `terminal ${event.terminalId}`;
    case 'tool_content':
      return `tool ${event.toolCallId}`;
    case 'tool_call':
      return event.patch.content === undefined ? undefined : `tool ${event.toolCallId}`;
    case 'session_message':
      return `session message ${event.messageId}`;
    case 'compaction':
      return `compaction ${event.compactionId}`;
    default:
      return undefined;
  }
}
