// Has another agent review what a turn changed: a new session with the request in the composer.
import { l10n } from 'vscode';
import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import { head, oneLine } from '../../base/text';
import { turnPatch } from '../../client/changes/commitMessage';
import type { Conversation } from '../../client/conversation/conversation';
import { promptOfTurn } from '../../client/conversation/sendAgain';
import { embeddedAttachment } from '../chat/attachments';
import { ChatHome } from '../chat/chatHome';
import { AgentCatalog } from '../config/agentCatalog';
import type { Workbench } from '../core/workbench';
import { Conversations } from '../sessions/conversations';
import { titleOf } from '../sessions/sessionLabels';
import { begin } from './continueFromMessage';
import { pickAgent } from './continueWith';

const MAX_TASK = 4_000;

/**
 * @returns undefined if the user went away
 * @throws ParleyError `no-changes`, `state-gone`, `no-such-agent`
 */
export async function reviewWith(
  workbench: Workbench,
  old: Conversation,
  turnId: string,
  agent?: string,
): Promise<Conversation | undefined> {
  const { changes, model, cwd } = old;
  await changes.settled();
  const files = await changes.changesOf(turnId);
  if (files.length === 0) throw new ParleyError('no-changes', localizable('There are no changes to show.'));
  const patch = await turnPatch(files, await changes.states());
  const id = agent ?? (await pickAgent(workbench.get(AgentCatalog).list(), old.agent.id, () => ''));
  if (id === undefined) return undefined;
  const title = l10n.t('Changes of Turn {0}: {1}', model.turn(turnId)?.number ?? '', titleOf(old));
  // What the first agent may write without asking is no choice for another one.
  const continues = id === old.agent.id ? old : undefined;
  const fresh = workbench.get(Conversations).create({ agent: id, cwd, title, continues });
  const request = l10n.t('Review the attached changes. Do not edit files. {0} was asked:', old.agent.name);
  const text = `${request}\n\n${head(promptOfTurn(model.state, turnId).text, MAX_TASK)}`;
  const attachments = [embeddedAttachment('changes', 'turn', oneLine(title), patch, 'text/x-diff')];
  return begin(fresh, { text, attachments }, () => workbench.get(ChatHome).openTab(fresh).focus());
}
