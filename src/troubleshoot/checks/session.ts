// Asks the agent whether it has the session of the chat (session/status).
import * as l10n from '@vscode/l10n';
import type { StatusAnswer } from '../../acp/proposals/sessionStatus';
import { type Check, check, type Outcome } from './check';

/** The agent has a limit of its own to answer, in milliseconds. */
const LIMIT_MS = 30_000;

/** @param ask absent where no session of the agent is open; must not change anything */
export function sessionCheck(ask: (() => Promise<StatusAnswer>) | undefined): Check {
  return check('session', l10n.t('Session'), LIMIT_MS, async () => {
    if (!ask) return { outcome: 'unchecked', found: l10n.t('The chat has no open session of this agent.') };
    const answer = await ask();
    return { outcome: OUTCOMES[answer], found: statusAnswerLabel(answer) };
  });
}

const OUTCOMES: Readonly<Record<StatusAnswer, Outcome>> = {
  live: 'ok',
  saved: 'ok',
  not_found: 'warning',
  unsupported: 'unchecked',
  failed: 'warning',
  unresponsive: 'problem',
};

export function statusAnswerLabel(answer: StatusAnswer): string {
  switch (answer) {
    case 'live':
      return l10n.t('The session is live: the agent has it open.');
    case 'saved':
      return l10n.t("The agent has saved this session. It's reopened with your next message.");
    case 'not_found':
      return l10n.t('The agent no longer has this session.');
    case 'unsupported':
      return l10n.t("The agent can't tell whether the session is live.");
    case 'failed':
      return l10n.t("Couldn't check whether the session is live.");
    case 'unresponsive':
      return l10n.t("The agent isn't responding.");
  }
}
