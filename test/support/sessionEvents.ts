// Events of a session in few words, and the model that takes them.
import type { ContentBlock } from '../../src/session/events/content';
import type { Barrier, MessageRole, SessionEvent, StopReason, ToolPatch } from '../../src/session/events/event';
import { SessionModel } from '../../src/session/model/model';

export const text = (words: string) => ({ type: 'text', text: words }) as const satisfies ContentBlock;

export function chunk(role: MessageRole, words: string, messageId?: string, parent?: string): SessionEvent {
  return { type: 'message_chunk', role, block: text(words), messageId, parent };
}

export function call(toolCallId: string, patch: ToolPatch = {}, announced = true): SessionEvent {
  return { type: 'tool_call', toolCallId, patch, announced };
}

export function began(turnId: string, origin: 'user' | 'agent' = 'user'): SessionEvent {
  return { type: 'turn_started', turnId, origin, at: 0 };
}

export function prompted(turnId: string, words: string, promptId = 'q1'): SessionEvent {
  return { type: 'prompt_sent', turnId, promptId, content: [text(words)] };
}

export function ended(
  turnId: string,
  stopReason: StopReason = 'end_turn',
  barrier: Barrier = 'response',
): SessionEvent {
  return { type: 'turn_ended', turnId, stopReason, barrier, at: 0 };
}

export function play(...events: readonly SessionEvent[]): SessionModel {
  const model = new SessionModel();
  for (const event of events) model.apply(event, 0);
  return model;
}
