// Labels for the reasons why a queue or one of its messages waits (session/queue/waitReason.ts).
import * as l10n from '@vscode/l10n';
import { type ItemCode, type PauseCode, readReason } from '../../session/queue/waitReason';
import { turnNoteText } from './ownTexts';

const WORDS: Readonly<Record<PauseCode | ItemCode, (detail: string) => string>> = {
  'by-user': () => l10n.t('Paused by you.'),
  stopped: () => l10n.t('Paused because you stopped the turn.'),
  'start-stopped': () => l10n.t('Paused because you stopped the agent from starting.'),
  'window-ended': () => l10n.t('Paused after reload. Review queued messages, then send them.'),
  'agent-ended': (detail) =>
    detail ? l10n.t('Paused: {0}', sentence(detail)) : l10n.t('Paused because the agent ended.'),
  'agent-closed-input': () => l10n.t('Paused because the agent no longer reads messages. Restart the agent.'),
  'agent-asks': () => l10n.t('Paused because the agent asked a question first.'),
  'agent-silent': () => l10n.t("Paused because the agent isn't responding."),
  'choices-not-set': (detail) =>
    l10n.t('Paused: {0} Choose again, or send with what the agent has now.', sentence(detail)),
  'given-back': () => l10n.t('Paused because the agent returned a message.'),
  'taken-back': () => l10n.t('Paused so that you can edit the returned message.'),
  'session-lost': () => l10n.t('Paused because the agent no longer has this session.'),
  'session-not-opened': (detail) => l10n.t("Paused because the session couldn't be reopened: {0}", sentence(detail)),
  'turn-failed': () => l10n.t('Paused because the last turn failed.'),
  'in-doubt': () => l10n.t('May already have been sent'),
  refused: (detail) => detail || l10n.t('The agent refused the message.'),
  'not-steered': (detail) => l10n.t('Not added to the turn: {0}', detail),
  'taking-back': () => l10n.t('Asking the agent to return the message'),
  'not-given-back': () => l10n.t('The agent kept the message. Stop the turn to get the message back.'),
};

/** Unknown codes are shown as they are. */
export function waitReasonLabel(reason: string): string {
  const { code = '', detail = '' } = readReason(reason) ?? {};
  return Object.hasOwn(WORDS, code) ? WORDS[code as keyof typeof WORDS](turnNoteText(detail)) : reason;
}

function sentence(text: string): string {
  return /[.!?\u2026]$/.test(text) ? text : `${text}.`;
}
