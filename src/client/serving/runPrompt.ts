// Converts the input of a run (Agent Communication Protocol) into a prompt (Agent Client Protocol).
import { ParleyError } from '../../base/errors';
import { head, tail } from '../../base/text';
import type { ContentBlock } from '../../session/events/content';
import type { QueuedAttachment } from '../../session/queue/queue';
import { citationBlock, type PastMessage, partBlock, textOf } from '../ports/agentServers';
import { type Message, type MessagePart, trajectoryOf } from '../ports/messages';

const MAX_ATTACHMENTS = 100;

export interface RunPrompt {
  readonly text: string;
  readonly attachments: readonly QueuedAttachment[];
}

/**
 * Makes text the message and attaches everything else. Fetches nothing.
 * @throws ParleyError `invalid-input`
 */
export function runPrompt(input: readonly Message[]): RunPrompt {
  const texts: string[] = [];
  const attachments: QueuedAttachment[] = [];
  for (const { role, parts } of input) {
    const text = parts.map((part) => textOf(part) ?? '').join('');
    if (text !== '') texts.push(role === 'user' ? text : `[${role}]\n${text}`);
    for (const part of parts) {
      const attached = attachmentOf(part, attachments.length + 1);
      if (attached) attachments.push(attached);
    }
  }
  if (attachments.length > MAX_ATTACHMENTS) {
    throw new ParleyError('invalid-input', `The input has more than ${MAX_ATTACHMENTS} files.`);
  }
  const text = texts.join('\n\n');
  if (text.trim() === '' && attachments.length === 0) {
    throw new ParleyError('invalid-input', 'The input holds nothing that can be sent to the agent.');
  }
  return { text, attachments };
}

function attachmentOf(part: MessagePart, number: number): QueuedAttachment | undefined {
  if (textOf(part) !== undefined) return undefined;
  const block = citationBlock(part) ?? partBlock(part);
  if (!block || (block.type === 'text' && block.text === '')) return undefined;
  const label = part.name ?? part.content_type;
  return {
    id: `input${number}`,
    kind: block.type === 'image' ? 'image' : 'other',
    label,
    forms: [block, ...asText(block, label)],
  };
}

function asText(block: ContentBlock, label: string): readonly ContentBlock[] {
  if (block.type !== 'resource' || block.text === undefined) return [];
  return [{ type: 'text', text: `${label}:\n${block.text}` }];
}

/** Maximum characters of the history, of which the newest are kept, and of one message. */
const MAX_HISTORY = 120_000;
const MAX_MESSAGE = 16_000;

/**
 * Returns earlier messages as a document or as text. They are labelled as a transcript, so that the
 * agent doesn't take them for its own memory.
 * @param first number of the first message, from 1
 */
export function historyContext(past: readonly PastMessage[], first: number): QueuedAttachment | undefined {
  const recent: string[] = [];
  let room = MAX_HISTORY;
  for (let index = past.length - 1; index >= 0 && room > 0; index--) {
    const text = entryText(past[index], first + index);
    recent.push(tail(text, room));
    room -= text.length;
  }
  if (recent.length === 0) return undefined;
  const omitted = past.length - recent.length;
  const cut = omitted > 0 ? [`[${omitted} earlier ${omitted === 1 ? 'message' : 'messages'} left out]`] : [];
  const text = [
    'Transcript of what was said in this session without you. It is context; what is asked of you now is the message that it comes with.',
    ...cut,
    ...recent.reverse(),
  ].join('\n\n');
  const uri = 'parley:transcript';
  return {
    id: 'past',
    kind: 'other',
    label: 'transcript',
    forms: [
      { type: 'resource', uri, mimeType: 'text/markdown', text },
      { type: 'text', text: `<transcript>\n${text}\n</transcript>` },
    ],
  };
}

function entryText(entry: PastMessage | undefined, number: number): string {
  if (entry?.kind !== 'message') return `[message ${number} unavailable: ${entry?.reason ?? 'unknown'}]`;
  const { role, parts } = entry.message;
  const text = parts.map(partText).join('');
  const cut = text.length > MAX_MESSAGE ? `${head(text, MAX_MESSAGE)}\n[the rest is left out]` : text;
  return `[${role}]\n${cut}`;
}

function partText(part: MessagePart): string {
  const text = textOf(part);
  if (text !== undefined) return text;
  const { toolName } = trajectoryOf(part) ?? {};
  if (toolName !== undefined) return `\n[used ${toolName}]\n`;
  if (part.metadata !== undefined && part.name === undefined && part.content_encoding === 'plain')
    return part.content ?? '';
  const what = part.name ?? part.content_type;
  return part.content_url === undefined ? `\n[${what}]\n` : `\n[${what}: ${part.content_url}]\n`;
}
