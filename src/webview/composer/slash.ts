// Completion of the agent's slash commands: matching and inserting. Pure.
import type { AvailableCommand } from '../../panel/contract';

/**
 * Returns the typed part of a command name; undefined unless one is being typed as the first word
 * of the message.
 */
export function slashQuery(text: string, caret: number): string | undefined {
  const match = /^\/(\S*)$/.exec(text.slice(0, caret));
  if (!match || /^\S/.test(text.slice(caret))) return undefined;
  return match[1];
}

/** Returns the matching commands in the agent's order, prefix matches first. */
export function matchCommands(commands: readonly AvailableCommand[], query: string): readonly AvailableCommand[] {
  const wanted = query.toLowerCase();
  const begins = commands.filter(({ name }) => name.toLowerCase().startsWith(wanted));
  const contains = commands.filter(({ name }) => {
    const lower = name.toLowerCase();
    return !lower.startsWith(wanted) && lower.includes(wanted);
  });
  return [...begins, ...contains];
}

/** Returns the text with a chosen command; text after the caret stays. */
export function completeCommand(text: string, caret: number, command: string): string {
  const rest = text.slice(caret).trimStart();
  return `/${command} ${rest}`;
}

/** Returns what a command expects, while it is typed and nothing follows it yet. */
export function argumentHint(commands: readonly AvailableCommand[], text: string): string | undefined {
  const name = /^\/(\S+) *$/.exec(text)?.[1];
  return name === undefined ? undefined : commands.find((one) => one.name === name)?.hint || undefined;
}
