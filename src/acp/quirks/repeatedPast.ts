// Corrects replays of agents that change the past, which their capabilities don't tell.
import { at } from '../../base/untrusted';
import type { SessionEvent } from '../../session/events/event';

/** These replay each user message as one chunk without an id. */
const REPLAYS_WHOLE_MESSAGES: ReadonlySet<unknown> = new Set(['gemini-cli', 'pi-acp', 'Copilot']);

/** gemini-cli's placeholders for parts of a message that are not text. */
const PLACEHOLDER_MESSAGE = /^\[Function (?:Call|Response): [\w.:-]{1,200}\]$/;
const TRAILING_CALLS = /(?:\[Function Call: [\w.:-]{1,200}\])+$/;
const THOUGHT = '[Thought: true]';

export type AsSaid = (event: SessionEvent) => readonly SessionEvent[];

export function repeatedEvents(initializeResult: unknown): AsSaid {
  const name = at(initializeResult, 'agentInfo', 'name');
  const filter: AsSaid = name === 'gemini-cli' ? withoutPlaceholders : (event) => [event];
  return REPLAYS_WHOLE_MESSAGES.has(name) ? (event) => filter(event).flatMap(asWhole) : filter;
}

function asWhole(event: SessionEvent): readonly SessionEvent[] {
  const isUsers = event.type === 'message_chunk' && event.role === 'user';
  return isUsers ? [event, { type: 'message_ended' }] : [event];
}

/**
 * In replays of gemini-cli, a tool result is a user message "[Function Response: write_file]", and
 * calls are appended to the agent's text. Both are dropped, but end the message.
 */
function withoutPlaceholders(event: SessionEvent): readonly SessionEvent[] {
  if (event.type !== 'message_chunk' || event.block.type !== 'text') return [event];
  const { role, block } = event;
  if (role === 'user') return [PLACEHOLDER_MESSAGE.test(block.text) ? { type: 'message_ended' } : event];
  if (role === 'thought') return [event];
  const withoutThought = block.text.startsWith(THOUGHT) ? block.text.slice(THOUGHT.length) : block.text;
  const text = withoutThought.replace(TRAILING_CALLS, '');
  const whole: SessionEvent[] = text === withoutThought ? [] : [{ type: 'message_ended' }];
  return text === '' ? whole : [{ ...event, block: { ...block, text } }, ...whole];
}
