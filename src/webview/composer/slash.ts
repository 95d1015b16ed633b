// Completion of the agent's slash commands: which fit what is typed, and what the text becomes. Pure.
import type { AvailableCommand } from '../../panel/contract';

/** What is typed of a command's name, or undefined where no command is being typed: only at the very start, and only its first word. */
export function slashQuery(text: string, caret: number): string | undefined {
  const match = /^\/(\S*)$/.exec(text.slice(0, caret));
  if (!match || /^\S/.test(text.slice(caret))) return undefined;
  return match[1];
}

/** The commands that fit, the ones beginning with the query first, in the agent's order. */
export function matchCommands(commands: readonly AvailableCommand[], query: string): readonly AvailableCommand[] {
  const wanted = query.toLowerCase();
  const begins = commands.filter(({ name }) => name.toLowerCase().startsWith(wanted));
  const contains = commands.filter(({ name }) => {
    const lower = name.toLowerCase();
    return !lower.startsWith(wanted) && lower.includes(wanted);
  });
  return [...begins, ...contains];
}

/** The text after a command was chosen; what stands behind the caret stays. */
export function completeCommand(text: string, caret: number, command: AvailableCommand): string {
  const rest = text.slice(caret).trimStart();
  return `/${command.name} ${rest}`;
}
