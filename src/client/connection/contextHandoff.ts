// Hands the transcript to a new session where the agent cannot reopen the old one: as text, with
// the next message. It is labelled as a transcript, so that the agent does not take it for its own
// memory.

import type { PromptCapabilities } from '../../acp/protocol/dialect';
import type { ContentBlock } from '../../session/events/content';
import type { Entry } from '../../session/model/state';
import { transcriptText } from '../../session/model/transcriptText';

const INTRODUCTION =
  'Transcript of the conversation so far. It was held in an earlier session, which could not be continued; go on from it.';
/** Before a transcript that goes as text. */
const OPEN = '<transcript>\n';

export class ContextHandoff {
  /**
   * What comes behind it is known to the agent. Not a number: a gap before it may be filled with
   * more than one entry.
   */
  #last: Entry | undefined;
  #isWanted = false;

  /**
   * @param entries what stands here before the agent starts: what comes with its new session is
   * known to it
   */
  starting(entries: readonly Entry[]): void {
    this.#last = entries.at(-1);
  }

  /** The agent's session can be used. @returns whether it is to be told of what stands here */
  ready(isNew: boolean, entries: readonly Entry[]): boolean {
    this.#isWanted = isNew && this.#textOf(entries) !== undefined;
    return this.#isWanted;
  }

  /** What goes with the next message, once. */
  take(capabilities: PromptCapabilities, entries: readonly Entry[]): readonly ContentBlock[] {
    const transcript = this.#isWanted ? this.#textOf(entries) : undefined;
    this.#isWanted = false;
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

/**
 * The block that goes with the next message, behind it: an agent looks for its commands at the
 * beginning.
 * @param capabilities decide whether it goes as a document of its own
 */
function handoffBlock(transcript: string, capabilities: PromptCapabilities): ContentBlock {
  const text = `${INTRODUCTION}\n\n${transcript}`;
  return capabilities.embeddedContext
    ? { type: 'resource', uri: 'parley:transcript', mimeType: 'text/markdown', text }
    : { type: 'text', text: `\n\n${OPEN}${text}\n</transcript>` };
}
