// Converts the output of a turn into the parts of a run (Agent Communication Protocol): text as it
// arrives, a completed thought or tool call, images and files as artifacts.

import { head, textOfBlocks } from '../../base/text';
import type { ContentBlock } from '../../session/events/content';
import type { Entry, MessageEntry, ToolEntry } from '../../session/model/state';
import { isEnded } from '../../session/model/tools';
import type { RunEmitter } from '../ports/agentServers';
import { type MessagePart, markdownPart, textPart, toMessages } from '../ports/messages';

/** Maximum characters of one part. Even escaped as JSON, they fit into a message. */
const MAX_TEXT = 256 * 1024;
const MAX_THOUGHT = 128 * 1024;

/** What was sent of an entry: this many whole blocks, and this text of the next one. */
interface SentContent {
  blocks: number;
  text: string;
}

export class RunOutput {
  readonly #out: RunEmitter;
  readonly #first: number;
  readonly #sent = new Map<number, SentContent>();
  readonly #openTools = new Set<number>();
  #thought: number | undefined;
  #media = 0;
  #inMessage = false;
  #messages = 0;

  /** @param first index of the first entry of the turn; earlier ones are not sent */
  constructor(out: RunEmitter, first: number) {
    this.#out = out;
    this.#first = first;
  }

  get messages(): number {
    return this.#messages;
  }

  update(entries: readonly Entry[], changes: ReadonlyMap<number, true | string>): void {
    for (const index of [...changes.keys()].sort((a, b) => a - b)) {
      const entry = entries[index];
      const change = changes.get(index);
      if (index < this.#first || !entry || change === undefined) continue;
      if (this.#thought !== undefined && index > this.#thought) this.#sendThought(entries);
      // Messages of subagents are not part of the answer.
      if (entry.kind !== 'tool' && 'parent' in entry && entry.parent !== undefined) continue;
      if (entry.kind === 'thought') this.#thought = index;
      else if (entry.kind === 'agent') this.#sendMessage(entry, change);
      else if (entry.kind === 'tool') this.#updateTool(entry);
    }
  }

  note(sentence: string): void {
    this.#part({ ...textPart(''), metadata: { kind: 'trajectory', message: sentence } });
  }

  pause(entries: readonly Entry[]): void {
    this.#sendThought(entries);
    this.#inMessage = false;
  }

  finish(entries: readonly Entry[]): void {
    this.#sendThought(entries);
    for (const index of this.#openTools) {
      const entry = entries[index];
      if (entry?.kind === 'tool') this.#sendTool(entry);
    }
    this.#openTools.clear();
  }

  #sendMessage(entry: MessageEntry, change: true | string): void {
    const sent = this.#sent.get(entry.index) ?? { blocks: 0, text: '' };
    this.#sent.set(entry.index, sent);
    if (change !== true) {
      sent.text += change;
      this.#text(change);
      return;
    }
    const { content } = entry;
    for (let at = sent.blocks; at < content.length; at++) {
      const block = content[at];
      if (block?.type === 'text') {
        const unsent = block.text.startsWith(sent.text) ? block.text.slice(sent.text.length) : `\n\n${block.text}`;
        this.#text(unsent);
        sent.text = block.text;
        if (at === content.length - 1) break;
      } else if (block) this.#block(entry, block);
      sent.blocks = at + 1;
      sent.text = '';
    }
  }

  #text(text: string): void {
    for (let rest = text; rest !== ''; ) {
      const piece = head(rest, MAX_TEXT);
      this.#part(markdownPart(piece));
      rest = rest.slice(piece.length);
    }
  }

  #block(entry: MessageEntry, block: ContentBlock): void {
    const parts = toMessages([{ ...entry, content: [block] }]).flatMap((message) => message.parts);
    const isMedia = block.type === 'image' || block.type === 'audio';
    if (isMedia) this.#media += 1;
    for (const part of parts) {
      const name = isMedia ? part.name?.replace(/-\d+(?=\.)/, `-${this.#media}`) : part.name;
      this.#part(name === undefined ? part : { ...part, name });
    }
  }

  #sendThought(entries: readonly Entry[]): void {
    const index = this.#thought;
    const entry = index === undefined ? undefined : entries[index];
    this.#thought = undefined;
    if (entry?.kind !== 'thought') return;
    const text = textOfBlocks(entry.content);
    const sent = this.#sent.get(entry.index)?.text ?? '';
    const unsent = text.startsWith(sent) ? text.slice(sent.length) : text;
    this.#sent.set(entry.index, { blocks: 0, text });
    if (unsent !== '') this.note(unsent.length > MAX_THOUGHT ? `${head(unsent, MAX_THOUGHT)}…` : unsent);
  }

  #updateTool(entry: ToolEntry): void {
    if (this.#sent.has(entry.index)) return;
    if (!isEnded(entry.status)) {
      this.#openTools.add(entry.index);
      return;
    }
    this.#openTools.delete(entry.index);
    this.#sendTool(entry);
  }

  /** Sends one step: readers pair separate ones by the tool's name, which isn't unique. */
  #sendTool(entry: ToolEntry): void {
    this.#sent.set(entry.index, { blocks: 0, text: '' });
    for (const part of toMessages([entry]).flatMap((message) => message.parts)) {
      const { tool_input, tool_output, ...metadata } = part.metadata ?? {};
      if (metadata.kind !== 'trajectory') {
        this.#part(part);
        continue;
      }
      const output = typeof tool_output === 'object' ? tool_output : {};
      const isDone = entry.status === 'completed';
      this.#part({
        ...part,
        metadata: {
          ...metadata,
          tool_input: tool_input ?? {},
          tool_output: { ...output, status: !isDone ? entry.status : undefined },
        },
      });
    }
  }

  #part(part: MessagePart): void {
    this.#out.part(part);
    if (this.#inMessage) return;
    this.#inMessage = true;
    this.#messages += 1;
  }
}
