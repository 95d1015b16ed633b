// Completion of the agent's slash commands: matching and inserting. Pure.
import type { AvailableCommand } from '../../panel/contract';

/**
 * Returns the typed part of a command's name; undefined unless it is the first word of the message.
 */
export function slashQuery(text: string, caret: number): string | undefined {
  const match = /^\/(\S*)$/.exec(text.slice(0, caret));
  if (!match || /^\S/.test(text.slice(caret))) return undefined;
  return match[1];
}

/** Prefix matches first. */
export function matchCommands(commands: readonly AvailableCommand[], query: string): readonly AvailableCommand[] {
  const wanted = query.toLowerCase();
  const begins = commands.filter(({ name }) => name.toLowerCase().startsWith(wanted));
  const contains = commands.filter(({ name }) => {
    const lower = name.toLowerCase();
    return !lower.startsWith(wanted) && lower.includes(wanted);
  });
  return [...begins, ...contains];
}

export function completeCommand(text: string, caret: number, command: string): string {
  const rest = text.slice(caret).trimStart();
  return `/${command} ${rest}`;
}

export function isCommand(commands: readonly AvailableCommand[], text: string): boolean {
  const name = /^\/(\S+)/.exec(text)?.[1];
  return commands.some((one) => one.name === name);
}

/** Returns the hint for a command's argument until one is typed. */
export function argumentHint(commands: readonly AvailableCommand[], text: string): string | undefined {
  const name = /^\/(\S+) *$/.exec(text)?.[1];
  return name === undefined ? undefined : commands.find((one) => one.name === name)?.hint || undefined;
}
