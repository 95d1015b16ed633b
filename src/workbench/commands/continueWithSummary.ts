// Continues in a new session with a summary in place of the transcript: for a context that is full.
import { l10n } from 'vscode';
import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import { oneLine } from '../../base/text';
import type { Conversation } from '../../client/conversation/conversation';
import { summaryAsContext, summaryPrompt } from '../../client/conversation/summaryPrompt';
import { embeddedAttachment } from '../chat/attachments';
import { ChatHome } from '../chat/chatHome';
import type { Workbench } from '../core/workbench';
import { AsideQuestions } from '../sessions/asideQuestions';
import { Conversations } from '../sessions/conversations';
import { titleOf } from '../sessions/sessionLabels';
import { showProgress } from '../ui/messages';
import { begin } from './continueFromMessage';
import { requireIdle } from './continueWith';

/**
 * The summary waits in the composer of the new session.
 * @returns undefined if the user cancelled
 * @throws ParleyError `session-busy`, `no-messages`, and those of `AsideQuestions.ask`
 */
export async function continueWithSummary(workbench: Workbench, old: Conversation): Promise<Conversation | undefined> {
  requireIdle(old);
  const { agent, cwd } = old;
  const questions = workbench.get(AsideQuestions);
  questions.requireAgent(agent);
  await old.whole;
  const prompt = summaryPrompt(old.model.state);
  if (prompt === undefined) throw new ParleyError('no-messages', localizable('This session has no messages yet.'));
  const summary = await showProgress(l10n.t('{0} is writing a summary…', agent.name), (signal) =>
    questions.ask(agent, prompt, signal).catch((error) => {
      if (signal.aborted) return undefined;
      throw error;
    }),
  );
  if (summary === undefined) return undefined;
  const title = titleOf(old);
  const label = oneLine(l10n.t('Summary of {0}', title));
  const attachments = [embeddedAttachment('summary', 'summary', label, summaryAsContext(summary), 'text/markdown')];
  const fresh = workbench.get(Conversations).create({
    agent: agent.id,
    cwd,
    title: l10n.t('{0} (continued)', title),
    isNamed: old.model.state.isNamed,
    continues: old,
  });
  return begin(fresh, { text: '', attachments }, () => workbench.get(ChatHome).openTab(fresh).focus());
}
