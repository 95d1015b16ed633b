// Suggested next prompts. Draft: `prompt_suggestions_update`, for clients with the capability
// `session.promptSuggestions`. Qwen Code sends a notification instead.
import { revealHidden } from '../../base/revealControls';
import { at } from '../../base/untrusted';
import type { EventOf } from '../../session/events/event';

const MAX_SUGGESTIONS = 20;
const MAX_BLOCKS = 20;
const MAX_CHARS = 300;

/** The first suggestion of one short line without hidden characters and untypeable content. */
export function suggestedPrompt(suggestions: readonly unknown[]): EventOf<'prompt_suggestion'> {
  for (const suggestion of suggestions.slice(0, MAX_SUGGESTIONS)) {
    const text = lineOf(textOf(at(suggestion, 'prompt')));
    if (text !== undefined) return { type: 'prompt_suggestion', text };
  }
  return { type: 'prompt_suggestion' };
}

/** Reads Qwen Code's notification; undefined for others and for other sessions. */
export function notifiedSuggestion(
  method: string,
  params: unknown,
  sessionId: string | undefined,
): EventOf<'prompt_suggestion'> | undefined {
  if (method !== 'qwen/notify/session/prompt-suggestion' || at(params, 'sessionId') !== sessionId) return undefined;
  return { type: 'prompt_suggestion', text: lineOf(at(params, 'suggestion')) };
}

function textOf(prompt: unknown): string | undefined {
  if (!Array.isArray(prompt) || prompt.length > MAX_BLOCKS) return undefined;
  const texts = prompt.map((block) => {
    const type = at(block, 'type');
    return type === 'text' ? at(block, 'text') : type === 'resource_link' ? at(block, 'uri') : undefined;
  });
  return texts.every((text) => typeof text === 'string') ? texts.join(' ') : undefined;
}

function lineOf(text: unknown): string | undefined {
  if (typeof text !== 'string' || text.length > MAX_CHARS) return undefined;
  const line = text.replace(/\s+/g, ' ').trim();
  return revealHidden(line) === line ? line || undefined : undefined;
}
