// Text that streams is kept piece by piece, and a secret may be cut between two of them. What may be the beginning of one waits for the piece that follows.
import type { KnownSecrets } from '../base/knownSecrets';
import { knownSecrets } from '../base/redact';
import type { SessionEvent, TimedEvent } from '../session/event';

/** A piece of a text that goes on: of which text, and the piece. */
interface Piece {
  readonly stream: string;
  readonly text: string;
  readonly withText: (text: string) => SessionEvent;
}

export class StreamRedaction {
  readonly #secrets: KnownSecrets;
  #held: { readonly at: number; readonly piece: Piece } | undefined;

  constructor(secrets: KnownSecrets = knownSecrets) {
    this.#secrets = secrets;
  }

  /**
   * Returns the events with the ends of texts that may be the beginning of a known secret moved to the piece that
   * follows, or to an event of their own before whatever else comes. The order stays.
   */
  take(events: readonly TimedEvent[]): readonly TimedEvent[] {
    if (this.#secrets.isEmpty && !this.#held) return events;
    return events.flatMap((timed) => this.#takeOne(timed));
  }

  #takeOne(timed: TimedEvent): TimedEvent[] {
    const before = this.#held;
    this.#held = undefined;
    const piece = pieceOf(timed.event);
    if (!piece) return before ? [timedOf(before), timed] : [timed];
    const goesOn = before?.piece.stream === piece.stream;
    const text = this.#secrets.redact((goesOn ? before.piece.text : '') + piece.text);
    const end = text.length - this.#secrets.openEnd(text);
    if (end < text.length) this.#held = { at: timed.at, piece: { ...piece, text: text.slice(end) } };
    const taken = before && !goesOn ? [timedOf(before)] : [];
    // Only what is held whole goes: an empty piece is an event too.
    if (end > 0 || text === '' || timed.mark) taken.push({ ...timed, event: piece.withText(text.slice(0, end)) });
    return taken;
  }
}

function timedOf({ at, piece }: { readonly at: number; readonly piece: Piece }): TimedEvent {
  return { at, event: piece.withText(piece.text) };
}

/** The user's own words are no such piece: they are kept as they are. */
function pieceOf(event: SessionEvent): Piece | undefined {
  switch (event.type) {
    case 'message_chunk': {
      const { block, role, messageId } = event;
      if (role === 'user' || block.type !== 'text') return undefined;
      const withText = (text: string): SessionEvent => ({ ...event, block: { ...block, text } });
      return { stream: `${role} ${messageId}`, text: block.text, withText };
    }
    case 'subagent_said': {
      const withText = (text: string): SessionEvent => ({ ...event, text });
      return { stream: `subagent ${event.sessionId} ${event.messageId}`, text: event.text, withText };
    }
    case 'terminal': {
      const { terminalId, append, ...more } = event;
      if (append === undefined || Object.keys(more).length > 1) return undefined;
      return { stream: `terminal ${terminalId}`, text: append, withText: (text) => ({ ...event, append: text }) };
    }
    default:
      return undefined;
  }
}
