// Links and shortcuts with a prompt, which fill the composer of an empty session without sending.
import { l10n } from 'vscode';
import { ParleyError } from '../../base/errors';
import { formatNumber } from '../../base/localFormat';
import { revealHidden } from '../../base/revealControls';
import { ChatHome } from '../chat/chatHome';
import { AgentCatalog } from '../config/agentCatalog';
import type { Workbench } from '../core/workbench';
import { Conversations } from '../sessions/conversations';
import { showWarning } from '../ui/messages';
import { onlyOf } from './commandSession';
import { isUnused } from './newSessions';

export const MAX_PROMPT = 10_000;

export interface PromptArgument {
  readonly prompt?: string;
  readonly agent?: string | undefined;
}

/**
 * Names hidden characters and quotes a leading command, so that the agent does not run it.
 * @throws ParleyError `prompt-too-long`
 */
export function shownPrompt(prompt: string): string {
  if (prompt.length > MAX_PROMPT) {
    const limit = formatNumber(MAX_PROMPT);
    throw new ParleyError('prompt-too-long', l10n.t('The prompt is longer than {0} characters.', limit));
  }
  return revealHidden(prompt)
    .trim()
    .replace(/^\/\S*/, '`$&`');
}

/** Never writes into a session that was used or has a draft. @returns the key of the session */
export function openPrompt(workbench: Workbench, { prompt = '', agent: id }: PromptArgument = {}): string {
  const text = shownPrompt(prompt);
  const chat = workbench.get(ChatHome);
  const agent = id === undefined ? undefined : workbench.get(AgentCatalog).find(id);
  if (id !== undefined && !agent) void showWarning(l10n.t('There is no agent “{0}”.', id));
  const shown = onlyOf(chat.current);
  const isFree =
    shown !== undefined &&
    isUnused(shown) &&
    shown.unsent.draft.text === '' &&
    shown.unsent.attachments.length === 0 &&
    (agent === undefined || shown.agent.id === agent.id);
  const conversation = isFree ? shown : workbench.get(Conversations).create({ agent: agent?.id });
  const { unsent } = conversation;
  unsent.write({ text, revision: unsent.draft.revision + 1 }, undefined);
  chat.present(conversation).startAgent();
  return conversation.key;
}
