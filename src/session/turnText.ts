// What the agent said in a turn, as text that can be taken elsewhere.
import type { SessionState } from './state';

/** @returns the texts of the agent's messages of that turn as they came (Markdown), with a blank line between two; '' where it said nothing */
export function textOfTurn({ entries }: Pick<SessionState, 'entries'>, turnId: string): string {
  return entries
    .flatMap((entry) => (entry.kind === 'agent' && entry.turnId === turnId ? entry.content : []))
    .flatMap((block) => (block.type === 'text' ? [block.text] : []))
    .join('\n\n');
}
