// Hands a session to another agent: an agent of the Agent Communication Protocol gets the session
// itself, any other starts a new session with its transcript.

import { l10n } from 'vscode';
import type { AgentDefinition } from '../../agents/agentDefinition';
import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import type { Conversation } from '../../client/conversation/conversation';
import { continuedFrom, continuedWith } from '../../client/sharing/provenanceNotices';
import { ChatHome } from '../chat/chatHome';
import { AgentCatalog } from '../config/agentCatalog';
import type { Workbench } from '../core/workbench';
import { Descriptors } from '../sharing/descriptors';
import { pick } from '../ui/input';

/**
 * @returns undefined if the user chose no agent
 * @throws ParleyError `session-busy`, `no-such-agent`; what exporting and opening throw
 */
export async function continueWith(
  workbench: Workbench,
  from: Conversation | { readonly descriptor: unknown },
  agent?: string,
): Promise<Conversation | undefined> {
  const descriptors = workbench.get(Descriptors);
  const catalog = workbench.get(AgentCatalog);
  const show = (shown: Conversation): Promise<void> => workbench.get(ChatHome).present(shown).painted();
  if (!isElsewhere(from)) requireIdle(from);
  const id = agent ?? (await pickAgent(catalog.list(), isElsewhere(from) ? undefined : from.agent.id));
  if (id === undefined) return undefined;
  if (!catalog.find(id)) throw new ParleyError('no-such-agent', localizable('There is no agent “{0}”.', id));
  if (isElsewhere(from)) {
    const descriptor = await descriptors.read(from.descriptor);
    return descriptors.open(descriptor, { agent: id, onDidShow: show });
  }
  const old = from;
  const descriptor = await descriptors.exports.forHere(old.key);
  const conversation = await descriptors.open(descriptor, {
    agent: id,
    title: old.model.state.title,
    continues: old,
    stateBy: descriptors.stateBy(old.key),
    head: (opened) => continuedFrom(old.agent.name, old.key, opened),
    onDidShow: show,
  });
  old.note([{ at: Date.now(), event: continuedWith(conversation.agent.name, conversation.key) }]);
  return conversation;
}

function isElsewhere(from: Conversation | { readonly descriptor: unknown }): from is { readonly descriptor: unknown } {
  return 'descriptor' in from;
}

/** @throws ParleyError `session-busy` */
export function requireIdle({ isBusy, agent }: Conversation): void {
  if (!isBusy) return;
  throw new ParleyError('session-busy', localizable('{0} is still working on the last message.', agent.name), {
    hint: localizable("Wait until it's done, or stop it."),
  });
}

function passedOn({ type }: AgentDefinition): string {
  return type === 'communication'
    ? l10n.t('continues this session')
    : l10n.t('starts a new session with the transcript');
}

/** @param current id of the session's agent */
export function pickAgent(
  agents: readonly AgentDefinition[],
  current: string | undefined,
  describe: (agent: AgentDefinition) => string = passedOn,
): Promise<string | undefined> {
  const isCurrent = ({ id }: AgentDefinition): boolean => id === current;
  const others = agents.filter((agent) => !isCurrent(agent));
  const items = [...others, ...agents.filter(isCurrent)].map((agent) => ({
    id: agent.id,
    label: agent.name,
    description: describe(agent),
    picked: isCurrent(agent),
  }));
  return pick(items, l10n.t('Select an agent to continue with'));
}
