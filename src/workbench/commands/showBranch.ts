// Opens a diverged branch of a session, held by an agent server, as a separate session.

import { l10n } from 'vscode';
import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import type { Conversation } from '../../client/conversation/conversation';
import { originsOf } from '../../client/sharing/historyEvents';
import { branchOf } from '../../client/sharing/provenanceNotices';
import { compareHistories, isBranch } from '../../distributed/client/handOver';
import type { SessionDescriptor } from '../../distributed/model/model';
import { ChatHome } from '../chat/chatHome';
import type { Workbench } from '../core/workbench';
import { Conversations } from '../sessions/conversations';
import { Descriptors } from '../sharing/descriptors';
import { pick } from '../ui/input';

/** @param name see `branchName.ts`; asks if missing @throws ParleyError `no-branch` */
export async function showBranch(
  workbench: Workbench,
  conversation: Conversation,
  name: string | undefined,
): Promise<Conversation | undefined> {
  const show = (shown: Conversation): Promise<void> => workbench.get(ChatHome).present(shown).painted();
  const { descriptor: ours, branches: all = [] } = (await conversation.communication.known()) ?? {};
  if (!ours || all.length === 0) {
    throw new ParleyError('no-branch', localizable('No other fork of this session is known.'));
  }
  const named = name === undefined ? [] : all.filter((one) => isBranch(one, name));
  const branch = await choose(named.length > 0 ? named : all, ours);
  if (!branch) return undefined;
  for (const other of workbench.get(Conversations).list()) {
    if (other === conversation || !(await continuesBranch(other, branch))) continue;
    void show(other);
    return other;
  }
  const { common } = compareHistories(ours.history, branch.history);
  return workbench.get(Descriptors).open(branch, {
    agent: conversation.agent.id,
    title: conversation.model.state.title,
    head: (opened) => branchOf(conversation.agent.name, conversation.key, common, opened),
    onDidShow: show,
  });
}

async function choose(
  branches: readonly SessionDescriptor[],
  ours: SessionDescriptor,
): Promise<SessionDescriptor | undefined> {
  if (branches.length === 1) return branches[0];
  const items = branches.map((branch, index) => ({
    id: String(index),
    label: l10n.t(
      "{0} messages that aren't here",
      branch.history.length - compareHistories(ours.history, branch.history).common,
    ),
    description: originsOf(branch.history)
      .map(({ host }) => host)
      .slice(0, 5)
      .join(', '),
  }));
  const id = await pick(items, l10n.t('Select a fork to show'));
  return id === undefined ? undefined : branches[Number(id)];
}

async function continuesBranch({ communication }: Conversation, branch: SessionDescriptor): Promise<boolean> {
  const { descriptor } = (await communication.known()) ?? {};
  if (descriptor?.id !== branch.id) return false;
  const { relation } = compareHistories(descriptor.history, branch.history);
  return relation === 'same' || relation === 'extends';
}
