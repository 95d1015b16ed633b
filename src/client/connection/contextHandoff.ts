// Hands the transcript to a new session where the agent cannot reopen the old one: as text, with
// the next message. It is labelled as a transcript, so that the agent does not take it for its own
// memory.

import type { PromptCapabilities } from '../../acp/protocol/dialect';
import type { ContentBlock } from '../../session/events/content';
import type { Entry, SessionState } from '../../session/model/state';
import { transcriptText } from '../../session/model/transcriptText';

const INTRODUCTION =
  'Transcript of the conversation so far. It was held in an earlier session, which could not be continued; go on from it.';
/** Before a transcript that goes as text. */
const OPEN = '<transcript>\n';
/** A transcript that goes as a document. */
const TRANSCRIPT_URI = 'parley:transcript';

export class ContextHandoff {
  /**
   * What comes behind it is known to the agent. Not a number: a gap before it may be filled with
   * more than one entry.
   */
  #last: Entry | undefined;
  /** The session that is to be told of what stands here. */
  #untold: string | undefined;

  /**
   * @param entries what stands here before the agent opens a session: what comes with a new one is
   * known to it
   */
  starting(entries: readonly Entry[]): void {
    this.#last = entries.at(-1);
  }

  /**
   * A new session is about to take the place of one that the agent has lost. The prompt that the agent
   * refused for that is sent again, and is no part of what was said before.
   */
  replacing({ entries, turn }: Pick<SessionState, 'entries' | 'turn'>): void {
    const refused = entries.findLastIndex((entry) => entry.kind === 'user' && entry.turnId === turn?.id);
    this.#last = turn && refused >= 0 ? entries[refused - 1] : entries.at(-1);
  }

  /**
   * The agent's session can be used. One that was to be told of what stands here, was not yet, and is
   * open again is still to be told.
   * @returns whether a new one is to be told
   */
  ready(sessionId: string | undefined, isNew: boolean, entries: readonly Entry[]): boolean {
    if (isNew) this.#untold = this.#textOf(entries) === undefined ? undefined : sessionId;
    else if (this.#untold !== sessionId) this.#untold = undefined;
    return isNew && this.#untold !== undefined;
  }

  /** What goes with the next message, once. */
  take(capabilities: PromptCapabilities, entries: readonly Entry[]): readonly ContentBlock[] {
    const transcript = this.#untold === undefined ? undefined : this.#textOf(entries);
    this.#untold = undefined;
    return transcript === undefined ? [] : [handoffBlock(transcript, capabilities)];
  }

  #textOf(entries: readonly Entry[]): string | undefined {
    return transcriptText(entries.slice(0, this.#last === undefined ? 0 : this.#last.index + 1));
  }
}

/**
 * What the user said of a message that an agent repeats: without the transcript that went with it
 * as text.
 */
export function withoutHandoff(text: string): string {
  const at = text.indexOf(`${OPEN}${INTRODUCTION}`);
  return at < 0 ? text : text.slice(0, at).trimEnd();
}

/** Returns whether a block of a prompt is the transcript for a new session, which the user did not write. */
export function isHandoff(block: ContentBlock): boolean {
  if (block.type === 'resource') return block.uri === TRANSCRIPT_URI;
  return block.type === 'text' && block.text !== '' && withoutHandoff(block.text) === '';
}

/**
 * The block that goes with the next message, behind it: an agent looks for its commands at the
 * beginning.
 * @param capabilities decide whether it goes as a document of its own
 */
function handoffBlock(transcript: string, capabilities: PromptCapabilities): ContentBlock {
  const text = `${INTRODUCTION}\n\n${transcript}`;
  return capabilities.embeddedContext
    ? { type: 'resource', uri: TRANSCRIPT_URI, mimeType: 'text/markdown', text }
    : { type: 'text', text: `\n\n${OPEN}${text}\n</transcript>` };
}
