// Commands of the list of sessions: open, pin, archive, delete, filter, group; the next session that
// needs the user, and the open questions of all windows.
import { commands, l10n, ViewColumn } from 'vscode';
import { messageOf, ParleyError } from '../../base/errors';
import type { Conversation } from '../../client/conversation/conversation';
import type { SessionStatus } from '../../client/view/sessionStatus';
import type { SessionRecord } from '../../store/sessions/records';
import { groupingLabel, statusLabel } from '../overview/rowLabels';
import { GROUPINGS, type Grouping } from '../overview/sessionTree';
import { nameOf } from '../sessions/keptSessions';
import { confirmDelete } from '../sessions/sessionItems';
import { askTitle, titleOf } from '../sessions/sessionLabels';
import { askLine, pick, pickSome } from '../ui/input';
import { showError, showInfo } from '../ui/messages';
import { type AskSeveralArgument, askSeveral } from './askSeveral';
import type { Command, CommandServices, Register } from './commandServices';
import { sessionOf } from './commandSession';
import { mayOpen } from './foreignFolders';
import { offerRemoval } from './worktreeCommands';

/** A row of the list, or what a program gives instead: our key of a session. */
interface Row {
  readonly session?: string;
  /** The row that is selected in the list; given by keybindings. */
  readonly focused?: boolean;
}

const STATES: readonly SessionStatus[] = ['needsYou', 'working', 'failed', 'ready', 'otherWindow', 'ended'];
/** How long an agent may take to rename a session, in milliseconds. */
const ANSWER_MS = 15_000;

export function overviewCommands(services: CommandServices, register: Register): Command[] {
  const { overview, conversations, archive, chat, descriptors } = services;
  const { view } = overview;

  /** @throws ParleyError `no-session` where neither a row nor a session of this window is meant */
  const keyOf = async (row: Row | undefined): Promise<string> => {
    // A row names a session of any window.
    const key = row?.focused ? view.selected : (row?.session ?? (await sessionOf(services, row)).key);
    if (key === undefined) throw new ParleyError('no-session', l10n.t('Select a session first.'));
    return key;
  };

  /**
   * A session of this window, or one that is brought back; undefined where the user does not want
   * to open it here.
   */
  const conversationOf = async (row: Row | undefined): Promise<Conversation | undefined> => {
    const key = await keyOf(row);
    const stored = conversations.find(key) ? undefined : archive.find(key);
    if (stored && !(await mayOpen(services, stored))) return undefined;
    const conversation = conversations.find(key) ?? conversations.recall(key);
    if (!conversation) throw new ParleyError('no-such-session', l10n.t('There is no session {0}.', key));
    return conversation;
  };

  const open = async (row: Row | undefined): Promise<void> => {
    const key = await keyOf(row);
    if (!conversations.find(key) && overview.inbox.asks(key)) await overview.showInbox();
    else if (await conversationOf(row)) overview.open(key);
  };

  const openTab = async (row: Row | undefined, column: ViewColumn): Promise<boolean> => {
    const conversation = await conversationOf(row);
    if (conversation) chat.openTab(conversation, column).focus();
    return conversation !== undefined;
  };

  const note = async (
    row: Row | undefined,
    marks: { readonly pinned?: boolean; readonly archived?: boolean },
  ): Promise<void> => {
    archive.marks.mark(await keyOf(row), marks);
    view.changed(true);
  };

  const rename = async (row: Row | undefined, title?: string): Promise<void> => {
    const key = await keyOf(row);
    const conversation = conversations.find(key);
    const stored = conversation ? undefined : archive.find(key);
    const before = conversation ? titleOf(conversation) : stored ? nameOf(stored) : '';
    const name = (title ?? (await askTitle(before)))?.trim();
    if (!name) return;
    if (conversation) await conversation.ops.rename(name, AbortSignal.timeout(ANSWER_MS));
    else archive.rename(key, name);
    view.changed(true);
  };

  /** Deletes a session at once where copies of it are to go too; else it can be brought back. */
  const remove = async (row: Row | undefined): Promise<void> => {
    const key = await keyOf(row);
    const { copies } = descriptors.leftovers;
    const conversation = conversations.find(key);
    const record = archive.find(key);
    const title = conversation ? titleOf(conversation) : record ? nameOf(record) : '';
    // Without a window, its agent may run all the same.
    const end = (): Promise<void> => (conversation ? conversations.close(key) : overview.running.endOf([key]));
    const found = await copies.of(key);
    if (found.length > 0) {
      const choice = await confirmDelete(title, found.length);
      if (!choice) return;
      await end();
      archive.delete(key);
      if (choice.copies) await copies.remove(key, found);
    } else {
      await end();
      if (record) archive.deleteSoon(key);
    }
    if (conversation) chat.show(conversations.active());
    view.changed(true);
    if (!record) return;
    // Not awaited: the notifications may stay for long.
    void (found.length === 0 ? offerUndo(record, title) : offerRemoval(services, record.cwd)).catch((error: unknown) =>
      showError(`Parley: ${messageOf(error)}`),
    );
  };

  const offerUndo = async ({ key, cwd }: SessionRecord, title: string): Promise<void> => {
    const undo = l10n.t('Undo');
    const pressed = await showInfo(l10n.t('Deleted the session “{0}”.', title), undo);
    if (pressed !== undo) return offerRemoval(services, cwd);
    if (!archive.bringBack(key)) void showInfo(l10n.t('This session no longer exists.'));
    view.changed(true);
  };

  return [
    register('nextAttention', () => overview.next()),
    register('runningAgents', () => overview.showRunning((session) => open({ session }))),
    register('inbox', () => overview.showInbox()),
    register('askSeveral', (argument?: AskSeveralArgument) => askSeveral(services, argument)),
    register('sessionList.open', (row?: Row) => open(row)),
    register('sessionList.more', (row?: never) => view.more(row as never)),
    register('openSessionToSide', async (row?: Row) => void (await openTab(row, ViewColumn.Beside))),
    register('openSessionInNewWindow', async (row?: Row) => {
      if (await openTab(row, ViewColumn.Active))
        await commands.executeCommand('workbench.action.moveEditorToNewWindow');
    }),
    register('sessionList.rename', (row?: Row & { title?: string }) => rename(row, row?.title)),
    register('pinSession', (row?: Row) => note(row, { pinned: true })),
    register('unpinSession', (row?: Row) => note(row, { pinned: false })),
    register('archiveSession', (row?: Row) => note(row, { archived: true })),
    register('unarchiveSession', (row?: Row) => note(row, { archived: false })),
    register('deleteSession', (row?: Row) => remove(row)),
    register('filterSessions', async () => {
      const text = await askLine({
        title: l10n.t('Filter Sessions'),
        prompt: l10n.t('Part of a title, a folder or the name of an agent'),
        value: view.filter.text ?? '',
      });
      if (text !== undefined) view.show({ ...view.filter, text: text.trim() });
    }),
    register('filterSessionsByState', async () => {
      const { states = STATES, archived = false } = view.filter;
      const items = [
        ...STATES.map((state) => ({
          id: state,
          label: statusLabel(state),
          picked: !archived && states.includes(state),
        })),
        { id: 'archived', label: l10n.t('Archived'), picked: archived },
      ];
      const chosen = await pickSome(items, l10n.t('Select the states to show'), { title: l10n.t('Filter Sessions') });
      if (!chosen) return;
      const wanted = STATES.filter((state) => chosen.includes(state));
      const { text } = view.filter;
      view.show({
        text: text || undefined,
        states: wanted.length > 0 && wanted.length < STATES.length ? wanted : undefined,
        archived: chosen.includes('archived') || undefined,
      });
    }),
    register('clearSessionFilter', () => view.show({})),
    register('groupSessions', async (argument?: { by?: Grouping }) => {
      const items = GROUPINGS.map((id) => ({ id, label: groupingLabel(id), picked: id === view.grouping }));
      const chosen = argument?.by ?? (await pick(items, l10n.t('Select how to group sessions')));
      const grouping = GROUPINGS.find((one) => one === chosen);
      if (grouping) view.group(grouping);
    }),
  ];
}
