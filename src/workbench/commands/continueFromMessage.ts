// Continues from before a message in a new session, with what was said before it, and the message in
// the composer. Agents fork a session only as it is now, with all that came after the message, so
// the new session gets the transcript instead.

import { l10n } from 'vscode';
import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import { pastOf } from '../../client/connection/sessionOpenStrategy';
import type { Conversation } from '../../client/conversation/conversation';
import { type FailedPrompt, promptOfTurn } from '../../client/conversation/sendAgain';
import type { FromTurn } from '../../panel/contract';
import { ownText } from '../../session/events/ownText';
import type { Entry } from '../../session/model/state';
import { RestoreActions } from '../changes/restoreActions';
import { ChatHome } from '../chat/chatHome';
import { AgentCatalog } from '../config/agentCatalog';
import type { Workbench } from '../core/workbench';
import { Conversations } from '../sessions/conversations';
import { titleOf } from '../sessions/sessionLabels';
import { pickAgent } from './continueWith';

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
 * @returns undefined if the user went away
 * @throws ParleyError `no-such-message`, `no-such-agent`; what restoring throws
 */
export async function continueFromMessage(
  workbench: Workbench,
  old: Conversation,
  { turnId, how, agent, ask = true }: ContinueOptions,
): Promise<Conversation | undefined> {
  const { state } = old.model;
  const first = state.entries.findIndex((entry) => entry.turnId === turnId);
  if (first < 0) throw new ParleyError('no-such-message', localizable('The message is no longer available.'));
  const prompt = promptOfTurn(state, turnId);
  const past = pastOf({ entries: state.entries.slice(0, first), terminals: state.terminals });
  const ran = commandsOf(state.entries.slice(first));
  // Agents that get whole sessions get no transcript.
  const agents = workbench
    .get(AgentCatalog)
    .list()
    .filter(({ type }) => type !== 'communication');
  const id = how === 'retry' ? (agent ?? (await pickAgent(agents, old.agent.id))) : old.agent.id;
  if (id === undefined) return undefined;
  const isEdit = how === 'edit';
  if (isEdit && !(await workbench.get(RestoreActions).restoreIfChanged(old, turnId, ask))) return undefined;
  const title = how === 'fork' ? l10n.t('{0} (fork)', titleOf(old)) : titleOf(old);
  const fresh = workbench
    .get(Conversations)
    .create({ agent: id, cwd: old.cwd, title, isNamed: state.isNamed, continues: old });
  const said = ownText('edited-from', ...(isEdit ? ran : []));
  const notice = { type: 'notice', own: true, severity: 'info', title: '', said } as const;
  const at = Date.now();
  fresh.note([
    ...past.map((event) => ({ at, event })),
    { at, event: { ...notice, action: { id: `show:${old.key}` } } },
  ]);
  const chat = workbench.get(ChatHome);
  return begin(fresh, prompt, () => (isEdit ? chat.present(fresh) : chat.openTab(fresh).focus()));
}

export async function begin(
  fresh: Conversation,
  { text, attachments }: FailedPrompt,
  show: () => unknown,
): Promise<Conversation> {
  const { unsent } = fresh;
  for (const attachment of attachments) unsent.attach(attachment);
  unsent.write({ text, revision: unsent.draft.revision + 1 }, undefined);
  show();
  await fresh.start();
  return fresh;
}

function commandsOf(entries: readonly Entry[]): readonly string[] {
  const titles = entries.flatMap((entry) =>
    entry.kind === 'tool' && entry.toolKind === 'execute' ? [entry.title.slice(0, MAX_TITLE)] : [],
  );
  return titles.slice(0, MAX_COMMANDS);
}
