// Goes back to before a message: restores the files, and opens a new session with what was said
// before it, the message in the composer. Agents fork a session only as it is now, with all that
// came after the message, so the new session gets the transcript instead.

import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import { pastOf } from '../../client/connection/sessionOpenStrategy';
import type { Conversation } from '../../client/conversation/conversation';
import { promptOfTurn } from '../../client/conversation/sendAgain';
import { ownText } from '../../session/events/ownText';
import type { Entry } from '../../session/model/state';
import type { RestoreActions } from '../changes/restoreActions';
import type { Conversations } from '../sessions/conversations';
import { titleOf } from '../sessions/sessionLabels';

/** Commands that are named as not undone. */
const MAX_COMMANDS = 10;
/** Characters of each. */
const MAX_TITLE = 200;

export interface ResendServices {
  readonly conversations: Pick<Conversations, 'create'>;
  readonly restore: RestoreActions;
  readonly present: (conversation: Conversation) => void;
}

/**
 * @param isAsked false: restores what only the agent changed without asking, for programs
 * @returns the new conversation; undefined where the user went away
 * @throws ParleyError `agent-works`, `no-such-message`; what restoring throws
 */
export async function editAndResend(
  { conversations, restore, present }: ResendServices,
  old: Conversation,
  turnId: string,
  isAsked = true,
): Promise<Conversation | undefined> {
  const { state } = old.model;
  const first = state.entries.findIndex((entry) => entry.turnId === turnId);
  const last = state.entries.findLastIndex((entry) => entry.turnId === turnId);
  if (first < 0) throw new ParleyError('no-such-message', localizable('The message is no longer available.'));
  const { text, attachments } = promptOfTurn({ ...state, entries: state.entries.slice(0, last + 1) }, turnId);
  const past = pastOf({ entries: state.entries.slice(0, first), terminals: state.terminals });
  const ran = commandsOf(state.entries.slice(first));
  if (!(await restore.restoreIfChanged(old, turnId, isAsked))) return undefined;
  const fresh = conversations.create({ agent: old.agent.id, cwd: old.cwd, title: titleOf(old) });
  const said = ownText('edited-from', ...ran);
  const notice = { type: 'notice', own: true, severity: 'info', title: '', said } as const;
  const at = Date.now();
  fresh.note([
    ...past.map((event) => ({ at, event })),
    { at, event: { ...notice, action: { id: `show:${old.key}` } } },
  ]);
  for (const attachment of attachments) fresh.unsent.attach(attachment);
  fresh.unsent.write({ text, revision: fresh.unsent.draft.revision + 1 }, undefined);
  present(fresh);
  await fresh.start();
  return fresh;
}

/** The titles of the commands that ran. */
function commandsOf(entries: readonly Entry[]): readonly string[] {
  const titles = entries.flatMap((entry) =>
    entry.kind === 'tool' && entry.toolKind === 'execute' ? [entry.title.slice(0, MAX_TITLE)] : [],
  );
  return titles.slice(0, MAX_COMMANDS);
}
