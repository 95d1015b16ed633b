// Continues a session in a new one: with another agent, from a message or summary, or to review.

import { l10n } from 'vscode';
import type { AgentDefinition } from '../../agents/agentDefinition';
import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import { head, oneLine } from '../../base/text';
import { turnPatch } from '../../client/changes/commitMessage';
import type { SessionOpenStrategy } from '../../client/connection/sessionOpenStrategy';
import type { Conversation } from '../../client/conversation/conversation';
import { type FailedPrompt, promptOfTurn } from '../../client/conversation/sendAgain';
import { summaryAsContext, summaryPrompt } from '../../client/conversation/summaryPrompt';
import { continuedFrom, continuedWith } from '../../client/sharing/provenanceNotices';
import type { FromTurn } from '../../panel/contract';
import { ownText } from '../../session/events/ownText';
import { forkPointBefore } from '../../session/model/forkPoint';
import { pastOf } from '../../session/model/pastOf';
import type { Entry } from '../../session/model/state';
import { RestoreActions } from '../changes/restoreActions';
import { embeddedAttachment } from '../chat/attachments';
import { ChatHome } from '../chat/chatHome';
import { AgentCatalog } from '../config/agentCatalog';
import type { Workbench } from '../core/workbench';
import { AsideQuestions } from '../sessions/asideQuestions';
import { Conversations } from '../sessions/conversations';
import { titleOf } from '../sessions/sessionLabels';
import { Descriptors } from '../sharing/descriptors';
import { pick } from '../ui/input';
import { showProgress } from '../ui/messages';

/** @throws ParleyError `session-busy`, `no-such-agent`; errors of exporting and opening */
export async function continueWith(
  workbench: Workbench,
  from: Conversation | { readonly descriptor: unknown },
  agent?: string,
): Promise<Conversation | undefined> {
  const descriptors = workbench.get(Descriptors);
  const catalog = workbench.get(AgentCatalog);
  const show = (shown: Conversation): Promise<void> => workbench.get(ChatHome).present(shown).painted();
  if (!isElsewhere(from)) requireIdle(from);
  const id =
    agent ??
    (await pickAgent(
      catalog.list(),
      isElsewhere(from) ? undefined : from.agent.id,
      describeHandover,
      !isElsewhere(from),
    ));
  if (id === undefined) return undefined;
  if (id === SUMMARY && !isElsewhere(from)) return continueWithSummary(workbench, from);
  if (!catalog.find(id)) throw new ParleyError('no-such-agent', localizable('There is no agent “{0}”.', id));
  if (isElsewhere(from)) {
    const descriptor = await descriptors.read(from.descriptor);
    return descriptors.open(descriptor, { agent: id, onDidShow: show });
  }
  const old = from;
  await old.whole;
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

const SUMMARY = '+summary';

function isElsewhere(from: Conversation | { readonly descriptor: unknown }): from is { readonly descriptor: unknown } {
  return 'descriptor' in from;
}

export function requireIdle({ isBusy, agent }: Conversation): void {
  if (!isBusy) return;
  throw new ParleyError('session-busy', localizable('{0} is still working on the last message.', agent.name), {
    hint: localizable("Wait until it's done, or stop it."),
  });
}

function describeHandover({ type }: AgentDefinition): string {
  return type === 'communication'
    ? l10n.t('continues this session')
    : l10n.t('starts a new session with the transcript');
}

export function pickAgent(
  agents: readonly AgentDefinition[],
  current: string | undefined,
  describe: (agent: AgentDefinition) => string = describeHandover,
  canSummarize = false,
): Promise<string | undefined> {
  const isCurrent = ({ id }: AgentDefinition): boolean => id === current;
  const others = agents.filter((agent) => !isCurrent(agent));
  const items = [...others, ...agents.filter(isCurrent)].map((agent) => ({
    id: agent.id,
    label: agent.name,
    description: describe(agent),
    picked: isCurrent(agent),
  }));
  const summary = {
    id: SUMMARY,
    label: l10n.t('A summary'),
    description: l10n.t('the same agent starts a new session with it'),
  };
  return pick([...(canSummarize ? [summary] : []), ...items], l10n.t('Select an agent to continue with'));
}

const MAX_COMMANDS = 10;
const MAX_TITLE = 200;

export interface ContinueOptions {
  readonly turnId: string;
  readonly how: FromTurn;
  readonly agent?: string | undefined;
  /** false: for programs, restores only what the agent changed, without asking. */
  readonly ask?: boolean | undefined;
}

/**
 * Forks the agent's session before the message, or passes the transcript to a new one.
 * @throws ParleyError `no-such-message`, `no-such-agent`; errors of restoring
 */
export async function continueFromMessage(
  workbench: Workbench,
  old: Conversation,
  { turnId, how, agent, ask = true }: ContinueOptions,
): Promise<Conversation | undefined> {
  await old.whole;
  const { state } = old.model;
  const first = state.entries.findIndex((entry) => entry.turnId === turnId);
  if (first < 0) throw new ParleyError('no-such-message', localizable('The message is no longer available.'));
  const prompt = promptOfTurn(state, turnId);
  const ran = commandsOf(state.entries.slice(first));
  // Agents that accept whole sessions don't accept transcripts.
  const agents = workbench
    .get(AgentCatalog)
    .list()
    .filter(({ type }) => type !== 'communication');
  const id = how === 'retry' ? (agent ?? (await pickAgent(agents, old.agent.id))) : old.agent.id;
  if (id === undefined) return undefined;
  const isEdit = how === 'edit';
  if (isEdit && !(await workbench.get(RestoreActions).restoreIfChanged(old, turnId, ask))) return undefined;
  const opening: SessionOpenStrategy = (id === old.agent.id ? forkBefore(old, first) : undefined) ?? { kind: 'new' };
  const title = how === 'fork' ? l10n.t('{0} (fork)', titleOf(old)) : titleOf(old);
  const newSession = workbench
    .get(Conversations)
    .create({ agent: id, cwd: old.cwd, title, isNamed: state.isNamed, continues: old, opening });
  const noticeText = ownText('edited-from', ...(isEdit ? ran : []));
  const notice = { type: 'notice', own: true, severity: 'info', title: '', said: noticeText } as const;
  const at = Date.now();
  newSession.note([...pastOf(state, first), { at, event: { ...notice, action: { id: `show:${old.key}` } } }]);
  const chat = workbench.get(ChatHome);
  return begin(newSession, prompt, () => (isEdit ? chat.present(newSession) : chat.openTab(newSession).focus()));
}

function forkBefore({ model, connector, link, ops }: Conversation, index: number): SessionOpenStrategy | undefined {
  const messageId = forkPointBefore(model.state.entries, index);
  const sessionId = connector.agentSessionId;
  if (messageId === undefined || sessionId === undefined || (link && !ops.can('fork'))) return undefined;
  return { kind: 'fork', sessionId, messageId };
}

export async function begin(
  newSession: Conversation,
  { text, attachments }: FailedPrompt,
  show: () => unknown,
): Promise<Conversation> {
  const { unsent } = newSession;
  for (const attachment of attachments) unsent.attach(attachment);
  unsent.write({ text, revision: unsent.draft.revision + 1 }, undefined);
  show();
  await newSession.start();
  return newSession;
}

function commandsOf(entries: readonly Entry[]): readonly string[] {
  const titles = entries.flatMap((entry) =>
    entry.kind === 'tool' && entry.toolKind === 'execute' ? [entry.title.slice(0, MAX_TITLE)] : [],
  );
  return titles.slice(0, MAX_COMMANDS);
}

/** @throws ParleyError `session-busy`, `no-messages`, and those of `AsideQuestions.ask` */
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
  const newSession = workbench.get(Conversations).create({
    agent: agent.id,
    cwd,
    title: l10n.t('{0} (continued)', title),
    isNamed: old.model.state.isNamed,
    continues: old,
  });
  return begin(newSession, { text: '', attachments }, () => workbench.get(ChatHome).openTab(newSession).focus());
}

const MAX_TASK = 4_000;

/** @throws ParleyError `no-changes`, `state-gone`, `no-such-agent` */
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
  // Options and permissions apply only to the same agent.
  const continues = id === old.agent.id ? old : undefined;
  const newSession = workbench.get(Conversations).create({ agent: id, cwd, title, continues });
  const request = l10n.t('Review the attached changes. Do not edit files. {0} was asked:', old.agent.name);
  const text = `${request}\n\n${head(promptOfTurn(model.state, turnId).text, MAX_TASK)}`;
  const attachments = [embeddedAttachment('changes', 'turn', oneLine(title), patch, 'text/x-diff')];
  return begin(newSession, { text, attachments }, () => workbench.get(ChatHome).openTab(newSession).focus());
}
