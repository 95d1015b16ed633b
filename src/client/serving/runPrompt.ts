// Converts the input of a run (Agent Communication Protocol) into a prompt of the Agent Client
// Protocol.
import { ParleyError } from '../../base/errors';
import type { ContentBlock } from '../../session/events/content';
import type { QueuedAttachment } from '../../session/queue/queue';
import { citationBlock, partBlock, textOf } from '../ports/agentServers';
import type { Message, MessagePart } from '../ports/messages';

const MAX_ATTACHMENTS = 100;

export interface RunPrompt {
  readonly text: string;
  readonly attachments: readonly QueuedAttachment[];
}

/**
 * Makes text the message, and attaches the rest. Fetches nothing.
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
