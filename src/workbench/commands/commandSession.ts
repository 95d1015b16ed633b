// Which session a command is about: the one that it names, else the one that the user is in. Nothing
// else decides this, and no command falls back to another session.
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

/** The user chose none of the sessions: the command ends without a message. */
export class NothingChosen extends Error {}

/**
 * Returns the session of a command: the one of its argument, else the one that the user is in, else
 * the only one on the screen, in a hidden chat or in this window. Of several, the user chooses.
 * @param argument of the command: ours with `session`, or what a menu of VS Code passes
 * @throws ParleyError `no-such-session`, `no-session`; `several-sessions` for a program, which can't
 * choose
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
  // The title of an editor doesn't say which group of editors it belongs to, and using it doesn't
  // activate the group.
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

/**
 * Returns which of the sessions that changed a file is meant.
 * @param found not empty
 * @param isNamed the user pointed at the file itself, and not at the editor in front
 * @throws NothingChosen
 */
export async function waitingFileOf(
  workbench: Workbench,
  found: readonly WaitingFile[],
  isNamed: boolean,
): Promise<WaitingFile> {
  const { current } = workbench.get(ChatHome);
  const shown = found.filter(({ conversation }) => current.includes(conversation));
  const candidates = shown.length > 0 ? shown : found;
  const [first] = candidates;
  const isMeant = shown.length > 0 || isNamed || current.length === 0;
  if (first && candidates.length === 1 && isMeant) return first;
  // Also asks about a single one: the chat shows another session.
  const chosen = await chooseSession(candidates.map(({ conversation }) => conversation));
  return candidates.find(({ conversation }) => conversation === chosen) ?? nothingChosen();
}

/** Returns the session where only one is shown: a guess is worth nothing. */
export function onlyOf(shown: readonly Conversation[]): Conversation | undefined {
  return shown.length === 1 ? shown[0] : undefined;
}

/** Asks for one of some sessions. @throws NothingChosen */
export async function chooseSession(sessions: readonly Conversation[]): Promise<Conversation> {
  const items = sessions.map((session) => ({
    id: session.key,
    label: listedTitleOf(session),
    description: session.agent.name,
  }));
  const key = await pick(items, l10n.t('Select a session'));
  return sessions.find((session) => session.key === key) ?? nothingChosen();
}

/** Says why a command about changes does nothing in the session that is shown. */
export function nothingChanged(conversation: Conversation): ParleyError {
  return new ParleyError('no-changes', l10n.t('Nothing changed in “{0}”.', titleOf(conversation)));
}

function nothingChosen(): never {
  throw new NothingChosen();
}
