// Gives a new session the transcript of one that the agent can't reopen: as text, with the next
// message. The text is labelled as a transcript so that the agent doesn't take it for its own
// memory.

import type { PromptCapabilities } from '../../acp/protocol/dialect';
import type { ContentBlock } from '../../session/events/content';
import type { Entry, SessionState } from '../../session/model/state';
import { transcriptText } from '../../session/model/transcriptText';

const INTRODUCTION =
  'Transcript of the conversation so far. It was held in an earlier session, which could not be continued; go on from it.';
const OPEN = '<transcript>\n';
const TRANSCRIPT_URI = 'parley:transcript';

export class ContextHandoff {
  /** The last entry that the agent has. Not an index: gaps before it may be filled later. */
  #lastSeenEntry: Entry | undefined;
  /** The session that still has to get the transcript. */
  #sessionWithoutTranscript: string | undefined;

  /** @param entries before the agent opens a session: it has what comes with a new one */
  starting(entries: readonly Entry[]): void {
    this.#lastSeenEntry = entries.at(-1);
  }

  /**
   * A new session is about to replace a lost one. The refused prompt is sent again and is not part
   * of the transcript.
   */
  replacing({ entries, turn }: Pick<SessionState, 'entries' | 'turn'>): void {
    const refused = entries.findLastIndex((entry) => entry.kind === 'user' && entry.turnId === turn?.id);
    this.#lastSeenEntry = turn && refused >= 0 ? entries[refused - 1] : entries.at(-1);
  }

  /** @returns whether a new session gets the transcript; a reopened one may still have to get it */
  ready(sessionId: string | undefined, isNew: boolean, entries: readonly Entry[]): boolean {
    if (isNew) this.#sessionWithoutTranscript = this.#textOf(entries) === undefined ? undefined : sessionId;
    else if (this.#sessionWithoutTranscript !== sessionId) this.#sessionWithoutTranscript = undefined;
    return isNew && this.#sessionWithoutTranscript !== undefined;
  }

  take(capabilities: PromptCapabilities, entries: readonly Entry[]): readonly ContentBlock[] {
    const transcript = this.#sessionWithoutTranscript === undefined ? undefined : this.#textOf(entries);
    this.#sessionWithoutTranscript = undefined;
    return transcript === undefined ? [] : [handoffBlock(transcript, capabilities)];
  }

  #textOf(entries: readonly Entry[]): string | undefined {
    return transcriptText(entries.slice(0, this.#lastSeenEntry === undefined ? 0 : this.#lastSeenEntry.index + 1));
  }
}

/** Returns an echoed message without the transcript that was sent along as text. */
export function withoutHandoff(text: string): string {
  const at = text.indexOf(`${OPEN}${INTRODUCTION}`);
  return at < 0 ? text : text.slice(0, at).trimEnd();
}

export function isHandoff(block: ContentBlock): boolean {
  if (block.type === 'resource') return block.uri === TRANSCRIPT_URI;
  return block.type === 'text' && block.text !== '' && withoutHandoff(block.text) === '';
}

/** Placed after the message: agents look for commands at the beginning. */
function handoffBlock(transcript: string, capabilities: PromptCapabilities): ContentBlock {
  const text = `${INTRODUCTION}\n\n${transcript}`;
  return capabilities.embeddedContext
    ? { type: 'resource', uri: TRANSCRIPT_URI, mimeType: 'text/markdown', text }
    : { type: 'text', text: `\n\n${OPEN}${text}\n</transcript>` };
}
