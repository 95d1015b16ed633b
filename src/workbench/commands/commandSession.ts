// Decides which session a command applies to: the one it names, otherwise the current one.
import { l10n } from 'vscode';
import { ParleyError } from '../../base/errors';
import { at } from '../../base/untrusted';
import type { Conversation } from '../../client/conversation/conversation';
import type { WaitingFile } from '../changes/reviewIndex';
import { ChatHome } from '../chat/chatHome';
import type { Workbench } from '../core/workbench';
import { Conversations } from '../sessions/conversations';
import { listedTitleOf, titleOf } from '../sessions/sessionLabels';
import { pick } from '../ui/input';
import { isProgram } from './commandErrors';

/** Ends the command without a message. */
export class NothingChosen extends Error {}

/**
 * Returns the named session, otherwise the current one, otherwise the only visible, hidden or open
 * one. Asks if there are several.
 * @param argument ours with `session`, or of a VS Code menu
 * @throws ParleyError `no-such-session`, `no-session`, `several-sessions` (for programs)
 * @throws NothingChosen
 */
export async function sessionOf(workbench: Workbench, argument?: unknown): Promise<Conversation> {
  const chat = workbench.get(ChatHome);
  const conversations = workbench.get(Conversations);
  const named = at(argument, 'session');
  if (typeof named === 'string') return conversations.get(named);
  const group = at(argument, 'id');
  const ofGroup = typeof group === 'string' ? conversations.find(group) : undefined;
  if (ofGroup) return ofGroup;
  // An editor title doesn't name its group, and clicking it doesn't activate the group.
  const shown = at(argument, 'groupId') === undefined ? chat.current : chat.inEditors;
  const candidates = shown.length > 0 ? shown : conversations.list();
  const [only] = candidates;
  if (!only)
    throw new ParleyError('no-session', l10n.t('No session is open.'), { hint: l10n.t('Open the chat first.') });
  if (candidates.length === 1) return only;
  if (isProgram([argument])) {
    const hint = l10n.t('Show the one that you mean, or name it.');
    throw new ParleyError('several-sessions', l10n.t('Several sessions are open.'), { hint });
  }
  return chooseSession(candidates);
}

type SessionCommand = (conversation: Conversation, argument: never) => unknown;

export function registerForSession(workbench: Workbench, table: Readonly<Record<string, SessionCommand>>): void {
  for (const [id, run] of Object.entries(table))
    workbench.register(id, async (argument?: never) => run(await sessionOf(workbench, argument), argument as never));
}

/** @param isNamed the user pointed at the file itself @throws NothingChosen */
export async function waitingFileOf(
  workbench: Workbench,
  found: readonly WaitingFile[],
  isNamed: boolean,
): Promise<WaitingFile> {
  const { current } = workbench.get(ChatHome);
  const shown = found.filter(({ conversation }) => current.includes(conversation));
  const candidates = shown.length > 0 ? shown : found;
  const [first] = candidates;
  const isUnambiguous = shown.length > 0 || isNamed || current.length === 0;
  if (first && candidates.length === 1 && isUnambiguous) return first;
  // Asks even about a single one, since the chat shows another session.
  const chosen = await chooseSession(candidates.map(({ conversation }) => conversation));
  return candidates.find(({ conversation }) => conversation === chosen) ?? nothingChosen();
}

export function onlyOf(shown: readonly Conversation[]): Conversation | undefined {
  return shown.length === 1 ? shown[0] : undefined;
}

export async function chooseSession(sessions: readonly Conversation[]): Promise<Conversation> {
  const items = sessions.map((session) => ({
    id: session.key,
    label: listedTitleOf(session),
    description: session.agent.name,
  }));
  const key = await pick(items, l10n.t('Select a session'));
  return sessions.find((session) => session.key === key) ?? nothingChosen();
}

export function nothingChanged(conversation: Conversation): ParleyError {
  return new ParleyError('no-changes', l10n.t('Nothing changed in “{0}”.', titleOf(conversation)));
}

function nothingChosen(): never {
  throw new NothingChosen();
}
