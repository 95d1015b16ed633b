// What some agents change in the past when they repeat it; nothing in their capabilities says so.
import { at } from '../../base/untrusted';
import type { SessionEvent } from '../../session/events/event';

/** These repeat each message of the user as one chunk without an id. */
const REPEAT_WHOLE: ReadonlySet<unknown> = new Set(['gemini-cli', 'pi-acp', 'Copilot']);

/** Placeholders of gemini-cli for parts of a message that are not text. */
const IN_USERS_NAME = /^\[Function (?:Call|Response): [\w.:-]{1,200}\]$/;
const CALLS = /(?:\[Function Call: [\w.:-]{1,200}\])+$/;
const THOUGHT = '[Thought: true]';

export type AsSaid = (event: SessionEvent) => readonly SessionEvent[];

export function repeatedEvents(initializeResult: unknown): AsSaid {
  const name = at(initializeResult, 'agentInfo', 'name');
  const asSaid: AsSaid = name === 'gemini-cli' ? withoutPlaceholders : (event) => [event];
  return REPEAT_WHOLE.has(name) ? (event) => asSaid(event).flatMap(asWhole) : asSaid;
}

function asWhole(event: SessionEvent): readonly SessionEvent[] {
  const isUsers = event.type === 'message_chunk' && event.role === 'user';
  return isUsers ? [event, { type: 'message_ended' }] : [event];
}

/**
 * gemini-cli writes placeholders into the texts that it repeats: the result of a tool is a message
 * in the user's name, "[Function Response: write_file]", and a call stands at the end of what the
 * agent said before it. They were not said, but messages end there.
 */
function withoutPlaceholders(event: SessionEvent): readonly SessionEvent[] {
  if (event.type !== 'message_chunk' || event.block.type !== 'text') return [event];
  const { role, block } = event;
  if (role === 'user') return [IN_USERS_NAME.test(block.text) ? { type: 'message_ended' } : event];
  if (role === 'thought') return [event];
  const said = block.text.startsWith(THOUGHT) ? block.text.slice(THOUGHT.length) : block.text;
  const text = said.replace(CALLS, '');
  const whole: SessionEvent[] = text === said ? [] : [{ type: 'message_ended' }];
  return text === '' ? whole : [{ ...event, block: { ...block, text } }, ...whole];
}
