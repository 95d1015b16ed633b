// Describes a permission request completely in one line, for a notification that can answer it.
// Requests about changes have no such line: the user decides by the diff, which doesn't fit.
//
// The line contains what the call would do, and the agent's name. Titles and descriptions are free
// text of the agent: they could claim that the call does something else.
import * as l10n from '@vscode/l10n';
import type { Permission, ToolEntry } from '../../session/model/state';
import type { Conversation } from '../conversation/conversation';
import { subjectOf } from '../rules/requestSubject';
import { askedInputOf } from './askedInput';

/** VS Code shows this many characters uncut. */
const MAX_LINE = 200;
/**
 * Latin characters and single spaces: visible, in order, and left unchanged by VS Code's
 * notifications, which interpret line breaks, icons and links.
 */
const PLAIN = /^[!-~\u00a1-\u00ac\u00ae-\u017f]+(?: [!-~\u00a1-\u00ac\u00ae-\u017f]+)*$/;

export function isPlainLine(text: string): boolean {
  return text.length <= MAX_LINE && PLAIN.test(text);
}

/** Undefined if the user must see the request in its session. */
export function briefOf(
  { agent, cwd }: Conversation,
  permission: Permission,
  entry: ToolEntry | undefined,
): string | undefined {
  const { command, description, options, title } = permission;
  if (description || entry?.content.some(({ type }) => type !== 'content')) return undefined;
  const { commands, texts, rest } = askedInputOf(permission, entry);
  const [run, ...others] = commands;
  if (run) {
    const isAll = others.length + texts.length === 0 && rest === undefined;
    // A call that isn't a command does something other than its command says.
    const isRun = !entry || (entry.toolKind === 'execute' && entry.rawInput !== undefined);
    return isAll && isRun && (run.cwd ?? cwd) === cwd
      ? lineOf(run.line, l10n.t('{0} wants to run: {1}', agent.name, run.line))
      : undefined;
  }
  if (!entry || command) return undefined;
  const { toolKind: kind, rawInput, locations } = entry;
  const subject = subjectOf({ title, options, patch: { kind, rawInput, locations } }, { cwd, roots: [] });
  if (subject?.kind !== 'read') return undefined;
  const paths = subject.paths.join(', ');
  return lineOf(paths, l10n.t('{0} wants to read: {1}', agent.name, paths));
}

function lineOf(subject: string, line: string): string | undefined {
  return isPlainLine(subject) && line.length <= MAX_LINE ? line : undefined;
}
