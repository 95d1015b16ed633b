// Redacts secrets in streamed text: a piece whose end may start a secret waits for the next one.
import type { KnownSecrets } from '../../base/knownSecrets';
import { knownSecrets } from '../../base/redact';
import type { SessionEvent, TimedEvent } from '../../session/events/event';

interface Piece {
  readonly holder: string;
  readonly part?: string | undefined;
  readonly isLastOnly?: boolean;
  readonly isOver?: boolean;
  readonly saysMore?: boolean;
  readonly text: string;
  readonly withText: (text: string) => SessionEvent;
}

interface HeldEnd {
  readonly at: number;
  readonly piece: Piece;
  readonly beginsEntry: boolean;
}

const MAX_HELD = 256;

const BREAKS: ReadonlySet<SessionEvent['type']> = new Set([
  'turn_started',
  'turn_ended',
  'cleared',
  'restored',
  'gap_filled',
  'gaps_filled',
  'ids_renewed',
  'replay_resumed',
  'replay_ended',
  'replayed_turn',
  'replayed_end',
]);

export class StreamRedaction {
  readonly #secrets: KnownSecrets;
  readonly #heldEnds = new Map<string, HeldEnd>();

  constructor(secrets: KnownSecrets = knownSecrets) {
    this.#secrets = secrets;
  }

  /**
   * Moves ends of texts that may start a known secret to the next piece, or to a separate event.
   * The resulting texts are unchanged except for secrets.
   */
  take(events: readonly TimedEvent[]): readonly TimedEvent[] {
    if (this.#secrets.isEmpty && this.#heldEnds.size === 0) return events;
    return events.flatMap((timed) => this.#takeOne(timed));
  }

  get held(): readonly TimedEvent[] {
    return [...this.#heldEnds.values()].map(timedOf);
  }

  #takeOne(timed: TimedEvent): TimedEvent[] {
    const { at, event, begins = false } = timed;
    const piece = pieceOf(event);
    const before = piece && this.#pendingBefore(piece, begins);
    const taken: TimedEvent[] = [];
    for (const [holder, held] of this.#heldEnds) {
      if (held !== before && isContinuedBy(held, timed)) continue;
      this.#heldEnds.delete(holder);
      if (held !== before) taken.push(timedOf(held));
    }
    if (!piece) return [...taken, this.#withMark(timed)];

    const text = this.#secrets.redact((before?.piece.text ?? '') + piece.text);
    const end = piece.isOver ? text.length : text.length - this.#secrets.openEnd(text);
    const isKept = end > 0 || text === '' || piece.saysMore || timed.mark !== undefined;
    if (isKept) taken.push(this.#withMark({ ...timed, event: piece.withText(text.slice(0, end)) }));
    if (end < text.length) {
      const beginsEntry = end === 0 && (begins || before?.beginsEntry === true);
      this.#heldEnds.set(piece.holder, { at, piece: { ...piece, text: text.slice(end) }, beginsEntry });
      taken.push(...this.#dropOldest());
    }
    return taken;
  }

  #pendingBefore({ holder, part }: Piece, begins: boolean): HeldEnd | undefined {
    const held = this.#heldEnds.get(holder);
    return begins || held?.piece.part !== part ? undefined : held;
  }

  /** No reader may start at an event while the end of an earlier text is pending. */
  #withMark(timed: TimedEvent): TimedEvent {
    if (timed.mark === undefined || this.#heldEnds.size === 0) return timed;
    const { mark: _, ...unmarked } = timed;
    return unmarked;
  }

  #dropOldest(): TimedEvent[] {
    const [oldest] = this.#heldEnds;
    if (this.#heldEnds.size <= MAX_HELD || !oldest) return [];
    this.#heldEnds.delete(oldest[0]);
    return [timedOf(oldest[1])];
  }
}

function isContinuedBy({ piece, beginsEntry }: HeldEnd, { event, begins }: TimedEvent): boolean {
  if (BREAKS.has(event.type) || holderOf(event) === piece.holder) return false;
  // Which entry a message continues depends on the entries of its turn.
  const isMessage = event.type === 'message_chunk' || event.type === 'message';
  if (beginsEntry && isMessage && piece.holder.startsWith(`${event.role} `)) return false;
  return !begins || !(piece.isLastOnly || beginsEntry);
}

function timedOf({ at, piece }: HeldEnd): TimedEvent {
  return { at, event: piece.withText(piece.text) };
}

/** The user's own words are stored unchanged. */
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
      return {
        holder,
        saysMore: hasMore({ ...event, ...(event.type === 'session_message' && { session: undefined }) }),
        text: append,
        withText,
      };
    }
    default:
      return undefined;
  }
}

function hasMore(event: SessionEvent): boolean {
  return Object.values(event).filter((value) => value !== undefined).length > 3;
}

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
      return `session message ${event.session ?? ''} ${event.messageId}`;
    case 'compaction':
      return `compaction ${event.compactionId}`;
    default:
      return undefined;
  }
}
