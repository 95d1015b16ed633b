// Texts of notifications about sessions.
import { l10n } from 'vscode';
import type { LiveSession } from './liveSessions';
import type { NotificationTexts } from './notifications';

export const notificationTexts: NotificationTexts = {
  asking: askingText,
  done: doneText,
  show: () => l10n.t('Show'),
};

function askingText(sessions: readonly LiveSession[]): string {
  const [first] = sessions;
  return sessions.length === 1 && first
    ? l10n.t('{0} needs you: {1}', first.agentName, first.title)
    : l10n.t('{0} sessions need you.', sessions.length);
}

function doneText(sessions: readonly LiveSession[]): string {
  const [first] = sessions;
  if (sessions.length !== 1 || !first) return l10n.t('{0} sessions are done.', sessions.length);
  return first.status === 'failed'
    ? l10n.t('{0} failed: {1}', first.agentName, first.title)
    : l10n.t('{0} is done: {1}', first.agentName, first.title);
}
