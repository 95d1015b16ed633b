// Labels of sessions in lists: their title, else the beginning of their first message.
import { l10n } from 'vscode';
import type { SessionInfo } from '../../acp/protocol/dialect';
import { formatTime } from '../../base/localFormat';
import { head, tail } from '../../base/text';
import type { Conversation } from '../../client/conversation/conversation';
import { isBelow } from '../../client/requests/roots';
import { firstWordsOf } from '../../session/model/entryText';
import { askLine } from '../ui/input';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const MAX_WORDS = 200;
const MAX_IN_TAB = 50;
const END_IN_TAB = 15;

export function titleOf(conversation: Conversation): string {
  return knownTitleOf(conversation) ?? l10n.t('New session');
}

export function knownTitleOf(conversation: Conversation): string | undefined {
  return conversation.model.state.title ?? firstWords(conversation);
}

/** Keeps the end of a long title, which may name the agent or say that the session is a fork. */
export function tabTitleOf(conversation: Conversation): string {
  const words = titleOf(conversation);
  if (words.length <= MAX_IN_TAB) return words;
  const end = conversation.model.state.title === undefined ? '' : tail(words, END_IN_TAB);
  return `${head(words, MAX_IN_TAB - end.length).trimEnd()}…${end}`;
}

/** Returns the title, else the draft of a session without messages. */
export function listedTitleOf(conversation: Conversation): string {
  const { title } = conversation.model.state;
  const draft = conversation.unsent.draft.text.trim();
  if (title !== undefined || draft === '') return titleOf(conversation);
  return firstWords(conversation) ?? l10n.t('New session: {0}', draft.slice(0, MAX_WORDS));
}

/** Returns the time of the last use, or the agent's text if it is not a date. */
export function whenOf({ updatedAt }: SessionInfo): string {
  if (updatedAt === undefined) return '';
  const at = Date.parse(updatedAt);
  return Number.isNaN(at) ? short(updatedAt) : formatTime(at);
}

export function agoLabel(at: number, now: number): string {
  const ago = Math.max(0, now - at);
  if (ago < MINUTE) return l10n.t('now');
  if (ago < HOUR) return l10n.t('{0} min', Math.floor(ago / MINUTE));
  if (ago < DAY) return l10n.t('{0} h', Math.floor(ago / HOUR));
  if (ago < 7 * DAY) return l10n.t('{0} d', Math.floor(ago / DAY));
  return new Date(at).toLocaleDateString();
}

export function short(words: string): string {
  return words.slice(0, MAX_WORDS);
}

export function askTitle(value: string): Promise<string | undefined> {
  return askLine({ prompt: l10n.t('Session title'), value });
}

export function isForeign(folder: string, roots: readonly string[]): boolean {
  return !roots.some((root) => isBelow(root, folder));
}

function firstWords({ model }: Conversation): string | undefined {
  return firstWordsOf(model.state, MAX_WORDS);
}
