// Hands the transcript to a new session where the agent cannot reopen the old one: as text, with
// the next message. It is labelled as a transcript, so that the agent does not take it for its own
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
  /**
   * The agent knows what follows. Not an index: gaps before it may be filled with more entries.
   */
  #last: Entry | undefined;
  /** The session that must get the transcript. */
  #untold: string | undefined;

  /** @param entries before the agent opens a session: what comes with a new one is known to it */
  starting(entries: readonly Entry[]): void {
    this.#last = entries.at(-1);
  }

  /**
   * A new session is about to replace a lost one. The refused prompt is sent again, and is not part
   * of the transcript.
   */
  replacing({ entries, turn }: Pick<SessionState, 'entries' | 'turn'>): void {
    const refused = entries.findLastIndex((entry) => entry.kind === 'user' && entry.turnId === turn?.id);
    this.#last = turn && refused >= 0 ? entries[refused - 1] : entries.at(-1);
  }

  /**
   * The session can be used; one that was reopened may still have to get the transcript.
   * @returns whether a new one gets it
   */
  ready(sessionId: string | undefined, isNew: boolean, entries: readonly Entry[]): boolean {
    if (isNew) this.#untold = this.#textOf(entries) === undefined ? undefined : sessionId;
    else if (this.#untold !== sessionId) this.#untold = undefined;
    return isNew && this.#untold !== undefined;
  }

  /** Returns the transcript for the next message, once. */
  take(capabilities: PromptCapabilities, entries: readonly Entry[]): readonly ContentBlock[] {
    const transcript = this.#untold === undefined ? undefined : this.#textOf(entries);
    this.#untold = undefined;
    return transcript === undefined ? [] : [handoffBlock(transcript, capabilities)];
  }

  #textOf(entries: readonly Entry[]): string | undefined {
    return transcriptText(entries.slice(0, this.#last === undefined ? 0 : this.#last.index + 1));
  }
}

/** Returns a repeated message without the transcript that went with it as text. */
export function withoutHandoff(text: string): string {
  const at = text.indexOf(`${OPEN}${INTRODUCTION}`);
  return at < 0 ? text : text.slice(0, at).trimEnd();
}

export function isHandoff(block: ContentBlock): boolean {
  if (block.type === 'resource') return block.uri === TRANSCRIPT_URI;
  return block.type === 'text' && block.text !== '' && withoutHandoff(block.text) === '';
}

/** The transcript goes behind the message: agents look for commands at the beginning. */
function handoffBlock(transcript: string, capabilities: PromptCapabilities): ContentBlock {
  const text = `${INTRODUCTION}\n\n${transcript}`;
  return capabilities.embeddedContext
    ? { type: 'resource', uri: TRANSCRIPT_URI, mimeType: 'text/markdown', text }
    : { type: 'text', text: `\n\n${OPEN}${text}\n</transcript>` };
}
