// Converts transcript entries to messages: text, thoughts and tool calls as trajectories,
// attachments as artifacts. Pure and bounded, so that every message can be read.
import { inEnglish } from '../../base/localizable';
import { textOfBlocks } from '../../base/text';
import type { ContentBlock, ToolContent } from '../../session/events/content';
import type { RemoteContent, StopReason } from '../../session/events/event';
import type { Entry, MessageEntry, ToolEntry } from '../../session/model/state';
import { type Message, type MessagePart, markdownPart, remotePart, textPart, timestamp } from './model';

export interface ToMessagesOptions {
  /** Used in the role (`agent/<name>`), with unsupported characters replaced. */
  readonly agentName?: string;
  readonly stopReason?: StopReason;
  readonly isOpen?: boolean;
}

/** Bytes of text per message, as JSON; with MAX_EXTRAS well below the limit of readers. */
const MAX_TEXT = 2 * 1024 * 1024;
const MAX_EXTRAS = 2 * 1024 * 1024;
/** Characters of one input or output, as JSON. */
const MAX_TOOL_SIDE = 32 * 1024;
const MAX_MESSAGE_PARTS = 1500;

/** One message per prompt, and one for everything the agent did until the next. */
export function toMessages(entries: readonly Entry[], options: ToMessagesOptions = {}): readonly Message[] {
  const messages: Message[] = [];
  let run: Entry[] = [];
  const close = (isLast: boolean): void => {
    const message = agentMessage(run, isLast ? options : { ...options, stopReason: 'end_turn', isOpen: false });
    if (message !== undefined) messages.push(message);
    run = [];
  };
  for (const entry of entries) {
    if (entry.kind !== 'user') {
      run.push(entry);
      continue;
    }
    close(false);
    const parts = new PartList();
    for (const block of entry.content) parts.addBlock(block, textPart);
    messages.push({
      role: 'user',
      parts: parts.finish(),
      created_at: timestamp(entry.at),
      completed_at: timestamp(entry.until),
    });
  }
  close(true);
  return messages;
}

export function roleName(agentName: string): string {
  return agentName.replace(/[^A-Za-z0-9_-]+/g, '-').slice(0, 63);
}

function agentMessage(entries: readonly Entry[], options: ToMessagesOptions): Message | undefined {
  const parts = new PartList();
  for (const entry of entries) addEntry(parts, entry);
  const reason = options.stopReason ?? 'end_turn';
  if (parts.isEmpty && (reason === 'end_turn' || entries.length === 0)) return undefined;
  const isWhole = reason === 'end_turn' && options.isOpen !== true;
  const finished = isWhole
    ? parts.finish()
    : [...parts.finish(), stopPart(options.isOpen === true ? 'interrupted' : reason)];
  const name = roleName(options.agentName ?? '');
  return {
    role: name === '' ? 'agent' : `agent/${name}`,
    parts: finished,
    created_at: timestamp(entries[0]?.at ?? 0),
    // The protocol's only mark of an incomplete message.
    completed_at: isWhole ? timestamp(Math.max(...entries.map(endOf))) : undefined,
  };
}

function stopPart(reason: string): MessagePart {
  const sentence = reason === 'cancelled' ? 'The turn was cancelled.' : `The turn ended early (${reason}).`;
  return { ...textPart(''), metadata: { kind: 'trajectory', message: sentence }, parley_stop_reason: reason };
}

/** Undefined for a turn that ended normally. */
export function stopReasonOf(message: Message): string | undefined {
  const reason = message.parts.at(-1)?.parley_stop_reason;
  return typeof reason === 'string' ? reason.slice(0, 100) : undefined;
}

function addEntry(parts: PartList, entry: Entry): void {
  // Output of subagents is not the answer.
  if (entry.kind !== 'tool' && 'parent' in entry && entry.parent !== undefined) return;
  if (entry.kind === 'agent') for (const block of entry.content) parts.addBlock(block, markdownPart);
  else if (entry.kind === 'thought') parts.addThought(entry);
  else if (entry.kind === 'tool') parts.addTool(entry);
  else if (entry.kind === 'gap' && entry.remote) parts.addRemote(entry.remote);
  else if (entry.kind === 'error') parts.addText(`Error: ${inEnglish(entry.text)}`);
  // Plans, notices and rules are only shown by the client.
}

function endOf(entry: Entry): number {
  if (entry.kind === 'agent' || entry.kind === 'thought') return entry.until;
  return entry.kind === 'tool' ? (entry.endedAt ?? entry.at) : entry.at;
}

class PartList {
  readonly #parts: MessagePart[] = [];
  #text = MAX_TEXT;
  #extras = MAX_EXTRAS;
  #omitted = 0;

  get isEmpty(): boolean {
    return this.#parts.length === 0 && this.#omitted === 0;
  }

  finish(): readonly MessagePart[] {
    if (this.#omitted === 0) return this.#parts;
    const what = this.#omitted === 1 ? '1 part' : `${this.#omitted} parts`;
    return [...this.#parts, textPart(`[${what} of this message left out: too large]`)];
  }

  addBlock(block: ContentBlock, textOf: (text: string) => MessagePart): void {
    if (block.type === 'text') this.addText(block.text, textOf);
    else if (block.type === 'image' || block.type === 'audio') {
      const name = `${block.type}-${this.#parts.length + 1}.${extensionOf(block.mimeType)}`;
      this.#addExtra({ name, content_type: block.mimeType, content: block.data, content_encoding: 'base64' });
    } else if (block.type === 'resource_link') this.#addLink(block);
    else if (block.type === 'resource') this.#addResource(block);
    else this.addText(`[content of the kind ${block.kind.slice(0, 100)}]`);
  }

  addText(text: string, textOf: (text: string) => MessagePart = textPart): void {
    if (text === '') return;
    const kept = this.#parts.length < MAX_MESSAGE_PARTS ? longestPrefix(text, this.#text) : '';
    if (kept !== '') {
      this.#text -= jsonBytes(kept);
      this.#parts.push(textOf(kept));
    }
    if (kept.length < text.length) this.#omitted++;
  }

  addRemote(content: RemoteContent): void {
    this.#addExtra(remotePart(content));
  }

  addThought(entry: MessageEntry): void {
    const text = textOfBlocks(entry.content);
    if (text !== '') this.#addExtra({ ...textPart(''), metadata: { kind: 'trajectory', message: text } });
  }

  addTool(entry: ToolEntry): void {
    const output = entry.rawOutput ?? textOf(entry.content);
    const metadata = {
      kind: 'trajectory',
      message: entry.title !== '' ? entry.title.slice(0, 1000) : undefined,
      tool_name: (entry.name ?? (entry.title || entry.toolKind)).slice(0, 200),
      tool_input: entry.rawInput !== undefined ? objectOf(entry.rawInput) : undefined,
      tool_output: output !== undefined ? objectOf(output) : undefined,
    };
    this.#addExtra({ ...textPart(''), metadata });
  }

  /** Local paths mean nothing elsewhere, and `content_url` must be http(s). */
  #addLink(block: Extract<ContentBlock, { type: 'resource_link' }>): void {
    const name = block.title ?? block.name;
    if (/^https?:\/\//i.test(block.uri) && URL.canParse(block.uri)) {
      const metadata = { kind: 'citation', url: block.uri, title: name };
      this.#addExtra({ ...textPart(name), metadata });
    } else this.addText(`[file: ${name}]`);
  }

  #addResource(block: Extract<ContentBlock, { type: 'resource' }>): void {
    const name = block.uri.slice(block.uri.lastIndexOf('/') + 1).slice(0, 200) || 'resource';
    const base = {
      name,
      content_type: block.mimeType ?? (block.text === undefined ? 'application/octet-stream' : 'text/plain'),
    };
    if (block.text !== undefined) this.#addExtra({ ...base, content: block.text, content_encoding: 'plain' });
    else this.#addExtra({ ...base, content: block.blob ?? '', content_encoding: 'base64' });
  }

  #addExtra(part: MessagePart): void {
    const size = jsonBytes(part);
    if (size > this.#extras || this.#parts.length >= MAX_MESSAGE_PARTS) {
      this.#omitted++;
      return;
    }
    this.#extras -= size;
    this.#parts.push(part);
  }
}

/** Other implementations read only objects. A large value is reduced to the start of its JSON. */
function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  const json = JSON.stringify(value) ?? 'null';
  if (json.length > MAX_TOOL_SIDE) return { cut: wellFormed(json.slice(0, MAX_TOOL_SIDE)) };
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : { value };
}

function textOf(content: readonly ToolContent[]): string | undefined {
  const texts = content.map((part) => {
    if (part.type === 'content') return part.block.type === 'text' ? part.block.text : `[${part.block.type}]`;
    if (part.type === 'diff') return `[change of ${part.path.slice(part.path.lastIndexOf('/') + 1)}]`;
    return `[${part.type}]`;
  });
  return texts.length === 0 ? undefined : texts.join('\n');
}

function extensionOf(mimeType: string): string {
  return /\/([a-z0-9]{1,8})/i.exec(mimeType)?.[1]?.toLowerCase() ?? 'bin';
}

function jsonBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** The longest prefix with at most this many bytes as JSON (up to six per character). */
function longestPrefix(text: string, maxBytes: number): string {
  if (text.length * 6 + 2 <= maxBytes || jsonBytes(text) <= maxBytes) return text;
  let [fits, fails] = [0, Math.min(text.length, maxBytes)];
  while (fails - fits > 1) {
    const middle = (fits + fails) >> 1;
    if (jsonBytes(text.slice(0, middle)) <= maxBytes) fits = middle;
    else fails = middle;
  }
  return wellFormed(text.slice(0, fits));
}

function wellFormed(text: string): string {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff ? text.slice(0, -1) : text;
}
