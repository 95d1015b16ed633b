// The agent's suggestion for the next message, shown in the empty field.
import { computed, effect, signal } from '@preact/signals';
import { announce, session } from '../host/session';
import { strings } from '../text/strings';

const dismissed = signal('');

function nameOf(text: string): string {
  return `${session.key.value} ${session.turnCount.value} ${text}`;
}

export const suggestion = computed(() => {
  const { text, always } = session.suggestion.value ?? {};
  if (text === undefined || session.running.value || nameOf(text) === dismissed.value) return undefined;
  return always || !usesScreenReader() ? text : undefined;
});

export function dismissSuggestion(): void {
  const text = suggestion.peek();
  if (text !== undefined) dismissed.value = nameOf(text);
}

function usesScreenReader(): boolean {
  return document.body.classList.contains('vscode-using-screen-reader');
}

effect(() => {
  if (suggestion.value !== undefined && usesScreenReader()) announce(strings.suggested(suggestion.value), 'polite');
});
