// Forwards a permission request to the caller of a run (Agent Communication Protocol) and reads the
// answer. Only an option that the answer names is chosen.

import { revealHidden } from '../../base/revealControls';
import { head, tail } from '../../base/text';
import type { PermissionOption, ToolContent } from '../../session/events/content';
import type { Permission, ToolEntry } from '../../session/model/state';
import { textOf } from '../ports/agentServers';
import { type Message, type MessagePart, textPart } from '../ports/messages';
import { askedInputOf } from '../view/askedInput';

const MAX_LINE = 500;
const MAX_INPUT = 4000;
const MAX_CHANGE = 2000;
/** Limits of one question: changed files with their new text, named files, and options. */
const MAX_CHANGES = 5;
const MAX_NAMED = 100;
const MAX_OPTIONS = 100;
const MAX_ANSWER = 1000;

/**
 * Returns the question as text and as `parley_permission` `{title, tool_call_id?, options: [{id,
 * name, kind}]}`. The protocol has no metadata kind for it, and clients refuse unknown kinds.
 */
export function permissionQuestion(permission: Permission, tool: ToolEntry | undefined): readonly MessagePart[] {
  const { title, description, toolCallId } = permission;
  const { commands, texts, rest } = askedInputOf(permission, tool);
  const options = permission.options.slice(0, MAX_OPTIONS);
  const lines = [
    `The agent asks for permission: ${oneLine(title || tool?.title || 'go on')}`,
    ...(description ? [quoted(description, MAX_INPUT)] : []),
    ...commands.map(({ line, cwd }) => quoted(`$ ${line}${cwd ? `   (in ${cwd})` : ''}`, MAX_INPUT)),
    ...texts.flatMap(({ path, text }) => [`Writes ${oneLine(path)}:`, quoted(text, MAX_CHANGE)]),
    ...(rest === undefined ? [] : [quoted(JSON.stringify(rest), MAX_INPUT)]),
    ...(tool ? toolLines(tool) : []),
    '',
    ...options.map(({ name, optionId }, index) => `${index + 1}. ${oneLine(name || optionId)}`),
    '',
    options.length === 0
      ? 'There is nothing to choose; any answer cancels.'
      : 'Answer with the number, the name or the id of one of these. Every other answer cancels.',
  ];
  const question = {
    title: oneLine(title),
    tool_call_id: toolCallId,
    options: options.map(({ optionId, name, kind }) => ({ id: optionId, name, kind })),
  };
  return [{ ...textPart(lines.join('\n')), parley_permission: question }];
}

/** Returns the option with this id, number or name; undefined if none or several match. */
export function chosenOption(answer: Message, options: readonly PermissionOption[]): string | undefined {
  const text = answer.parts
    .map((part) => textOf(part) ?? '')
    .join('')
    .trim();
  if (text === '' || text.length > MAX_ANSWER) return undefined;
  const number = /^(\d{1,3})[.)]?$/.exec(text)?.[1];
  const named = options.slice(0, MAX_OPTIONS).filter(({ optionId, name }, index) => {
    return optionId === text || Number(number) === index + 1 || name.trim().toLowerCase() === text.toLowerCase();
  });
  const ids = new Set(named.map(({ optionId }) => optionId));
  return ids.size === 1 ? named[0]?.optionId : undefined;
}

/** Lists what the agent wants to do: the user must see what they agree to. */
function toolLines({ content, locations }: ToolEntry): readonly string[] {
  const changes = content.filter((part) => part.type === 'diff');
  const shown = changes
    .slice(0, MAX_CHANGES)
    .flatMap((change) => [`${doneTo(change)}:`, quoted(change.newText, MAX_CHANGE)]);
  const others = changes.slice(MAX_CHANGES, MAX_NAMED);
  const unnamed = changes.length - MAX_NAMED;
  const otherFiles = [
    ...others.map(({ path }) => `Changes ${oneLine(path)}, too`),
    ...(unnamed > 0 ? [`… and ${unnamed} more files`] : []),
  ];
  if (changes.length > 0) return [...shown, ...otherFiles];
  return locations.slice(0, MAX_CHANGES).map(({ path }) => `Concerns ${oneLine(path)}`);
}

function doneTo({ path, oldPath, operation }: Extract<ToolContent, { type: 'diff' }>): string {
  if (operation === 'delete') return `Deletes ${oneLine(path)}; it becomes`;
  return oldPath === undefined ? `Changes ${oneLine(path)} to` : `Makes ${oneLine(path)} of ${oneLine(oldPath)}`;
}

function oneLine(text: string): string {
  const flat = text.replace(/\s+/g, ' ').trim();
  return flat.length > MAX_LINE ? `${head(flat, MAX_LINE)}…` : flat;
}

function quoted(text: string, limit: number): string {
  const shown = revealHidden(text);
  const end = limit / 4;
  const omitted = shown.length - limit;
  const cut =
    omitted > 0 ? `${head(shown, limit - end)}\n[${omitted} characters left out here]\n${tail(shown, end)}` : shown;
  return cut.replace(/^/gm, '> ');
}
