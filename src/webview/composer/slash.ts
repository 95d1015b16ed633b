// Completion of the agent's slash commands and of saved prompts: matching and inserting. Pure.
import type { AvailableCommand, PromptView } from '../../panel/contract';

/**
 * Returns the typed part of a command name; undefined unless it is the first word of the message.
 */
export function slashQuery(text: string, caret: number): string | undefined {
  const match = /^\/(\S*)$/.exec(text.slice(0, caret));
  if (!match || /^\S/.test(text.slice(caret))) return undefined;
  return match[1];
}

export function matchCommands<T extends AvailableCommand>(commands: readonly T[], query: string): readonly T[] {
  const wanted = query.toLowerCase();
  const found = commands.map((command) => ({ command, at: rank(command.name.toLowerCase(), wanted) }));
  return found
    .filter(({ at }) => at < 3)
    .sort((one, other) => one.at - other.at)
    .map(({ command }) => command);
}

function rank(name: string, wanted: string): number {
  if (name === wanted) return 0;
  if (name.startsWith(wanted)) return 1;
  return name.includes(wanted) ? 2 : 3;
}

export function completeCommand(text: string, caret: number, command: string): string {
  const rest = text.slice(caret).trimStart();
  return `/${command} ${rest}`;
}

export function isCommand(commands: readonly AvailableCommand[], text: string): boolean {
  const name = /^\/(\S+)/.exec(text)?.[1];
  return commands.some((command) => command.name === name);
}

/** Common names of the command that replaces the conversation by a summary. */
const COMPACT: ReadonlySet<string> = new Set(['compact', 'compress', 'summarize']);

export function compactCommand(commands: readonly AvailableCommand[]): AvailableCommand | undefined {
  return commands.find(({ name }) => COMPACT.has(name));
}

/** Returns the argument hint of a command until an argument is typed. */
export function argumentHint(commands: readonly AvailableCommand[], text: string): string | undefined {
  const name = /^\/(\S+) *$/.exec(text)?.[1];
  return name === undefined ? undefined : commands.find((command) => command.name === name)?.hint || undefined;
}

/** A placeholder: `${input:file}` or `${input:file:which file}`. */
const BLANK = /\$\{input:([^}:\n]+)(?::[^}\n]*)?\}/;

/**
 * Returns the saved prompt at the start of a message, unless the agent has a command of that name
 * or the message is the prompt's text.
 */
export function promptIn(
  commands: readonly AvailableCommand[],
  prompts: readonly PromptView[],
  text: string,
): { readonly prompt: PromptView; readonly rest: string } | undefined {
  const [, name, rest = ''] = /^\/(\S+)\s*([\s\S]*)$/.exec(text) ?? [];
  const prompt = isCommand(commands, text) ? undefined : prompts.find((prompt) => prompt.name === name);
  return prompt && fillPrompt(prompt, rest.trim()).text !== text ? { prompt, rest } : undefined;
}

/**
 * Returns the prompt's text with `words` in its first placeholder, or appended, and the range of
 * the next placeholder.
 */
export function fillPrompt(
  { text }: PromptView,
  words: string,
): { readonly text: string; readonly blank?: [number, number] } {
  const first = BLANK.exec(text);
  const filled =
    words === ''
      ? text
      : first
        ? text.replaceAll(new RegExp(BLANK, 'g'), (blank, name) => (name === first[1] ? words : blank))
        : `${text}\n\n${words}`;
  const next = BLANK.exec(filled);
  return next ? { text: filled, blank: [next.index, next.index + next[0].length] } : { text: filled };
}
