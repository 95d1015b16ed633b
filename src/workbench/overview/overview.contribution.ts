// All sessions: the list, the inbox, the status bar item, and asking several agents.

import { commands, l10n, ViewColumn } from 'vscode';
import { ParleyError } from '../../base/errors';
import type { Conversation } from '../../client/conversation/conversation';
import type { SessionStatus } from '../../client/view/sessionStatus';
import type { SessionRecord } from '../../store/sessions/records';
import { ChatHome } from '../chat/chatHome';
import { type AskSeveralArgument, askSeveral } from '../commands/askSeveral';
import { sessionOf } from '../commands/commandSession';
import { mayOpen } from '../commands/foreignFolders';
import { offerRemoval } from '../commands/removeWorktrees';
import type { Contribution, Workbench } from '../core/workbench';
import { Archive } from '../sessions/archive';
import { Conversations } from '../sessions/conversations';
import { nameOf } from '../sessions/keptSessions';
import { confirmDelete } from '../sessions/sessionItems';
import { askTitle, titleOf } from '../sessions/sessionLabels';
import { Descriptors } from '../sharing/descriptors';
import { askLine, pick, pickSome } from '../ui/input';
import { showInfo, tellError } from '../ui/messages';
import type { Tree } from '../ui/treeView';
import { Overview } from './overview';
import { groupingLabel, statusLabel } from './rowLabels';
import { GROUPINGS, type Grouping, type ListNode } from './sessionTree';

/** A row of the list, or the session key passed by a program. */
interface Row {
  readonly session?: string;
  readonly focused?: boolean;
}

const STATES: readonly SessionStatus[] = ['needsYou', 'working', 'failed', 'ready', 'otherWindow', 'ended'];
const ANSWER_MS = 15_000;

export type SessionTree = Tree<ListNode>;

export const overview = (tree: SessionTree): Contribution => ({
  parts(workbench) {
    workbench.add(new Overview(workbench, tree));
  },

  commands(workbench) {
    const all = workbench.get(Overview);
    const { view } = all;
    const rows = new SessionRows(workbench);
    workbench.register('nextAttention', () => all.next());
    workbench.register('runningAgents', () => all.showRunning((session) => rows.open({ session })));
    workbench.register('inbox', () => all.showInbox());
    workbench.register('askSeveral', (argument?: AskSeveralArgument) => askSeveral(workbench, argument));
    workbench.register('sessionList.open', (row?: Row) => rows.open(row));
    workbench.register('sessionList.more', (row?: never) => view.more(row as never));
    workbench.register('openSessionToSide', async (row?: Row) => void (await rows.openTab(row, ViewColumn.Beside)));
    workbench.register('openSessionInNewWindow', async (row?: Row) => {
      if (await rows.openTab(row, ViewColumn.Active))
        await commands.executeCommand('workbench.action.moveEditorToNewWindow');
    });
    workbench.register('renameSession', (row?: Row & { title?: string }) => rows.rename(row, row?.title));
    workbench.register('togglePin', (row?: Row) => rows.toggle(row, 'pinned'));
    workbench.register('toggleArchived', (row?: Row) => rows.toggle(row, 'archived'));
    workbench.register('pinSession', (row?: Row) => rows.mark(row, { pinned: true }));
    workbench.register('unpinSession', (row?: Row) => rows.mark(row, { pinned: false }));
    workbench.register('archiveSession', (row?: Row) => rows.mark(row, { archived: true }));
    workbench.register('unarchiveSession', (row?: Row) => rows.mark(row, { archived: false }));
    workbench.register('deleteSession', (row?: Row) => rows.remove(row));
    workbench.register('filterSessions', async () => {
      const items = [
        { id: 'text', label: l10n.t('Filter by Text…'), description: view.filter.text },
        { id: 'filterSessionsByState', label: l10n.t('Filter by State…') },
        { id: 'groupSessions', label: l10n.t('Group by…'), description: groupingLabel(view.grouping) },
        { id: 'clearSessionFilter', label: l10n.t('Clear Filter') },
      ];
      const chosen = await pick(items, l10n.t('Select what the list shows'));
      if (chosen !== 'text') return chosen && workbench.run(chosen);
      const text = await askLine({
        title: l10n.t('Filter Sessions'),
        prompt: l10n.t('Part of a title, a folder or the name of an agent'),
        value: view.filter.text ?? '',
      });
      if (text !== undefined) view.show({ ...view.filter, text: text.trim() });
      return undefined;
    });
    workbench.register('filterSessionsByState', async () => {
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
    });
    workbench.register('clearSessionFilter', () => view.show({}));
    workbench.register('groupSessions', async (argument?: { by?: Grouping }) => {
      const items = GROUPINGS.map((id) => ({ id, label: groupingLabel(id), picked: id === view.grouping }));
      const chosen = argument?.by ?? (await pick(items, l10n.t('Select how to group sessions')));
      const grouping = GROUPINGS.find((one) => one === chosen);
      if (grouping) view.group(grouping);
    });
  },
});

/** Actions of list rows, which can be sessions of any window. */
class SessionRows {
  readonly #workbench: Workbench;
  readonly #conversations: Conversations;
  readonly #archive: Archive;
  readonly #chat: ChatHome;
  readonly #overview: Overview;

  constructor(workbench: Workbench) {
    this.#workbench = workbench;
    this.#conversations = workbench.get(Conversations);
    this.#archive = workbench.get(Archive);
    this.#chat = workbench.get(ChatHome);
    this.#overview = workbench.get(Overview);
  }

  async open(row: Row | undefined): Promise<void> {
    const key = await this.#keyOf(row);
    if (!this.#conversations.find(key) && this.#overview.inbox.asks(key)) await this.#overview.showInbox();
    else if (await this.#conversationOf(row)) this.#overview.open(key);
  }

  async openTab(row: Row | undefined, column: ViewColumn): Promise<boolean> {
    const conversation = await this.#conversationOf(row);
    if (conversation) this.#chat.openTab(conversation, column).focus();
    return conversation !== undefined;
  }

  async mark(row: Row | undefined, marks: { readonly pinned?: boolean; readonly archived?: boolean }): Promise<void> {
    this.#archive.marks.mark(await this.#keyOf(row), marks);
    this.#overview.view.changed(true);
  }

  async toggle(row: Row | undefined, mark: 'pinned' | 'archived'): Promise<void> {
    const session = await this.#keyOf(row);
    await this.mark({ session }, { [mark]: !this.#archive.marks.of(session)[mark] });
  }

  async rename(row: Row | undefined, title?: string): Promise<void> {
    const key = await this.#keyOf(row);
    const name = (title ?? (await askTitle(this.#titleOf(key))))?.trim();
    if (!name) return;
    const conversation = this.#conversations.find(key);
    if (conversation) await conversation.ops.rename(name, AbortSignal.timeout(ANSWER_MS));
    else this.#archive.rename(key, name);
    this.#overview.view.changed(true);
  }

  /** Deletes a session. This can be undone unless copies of it are deleted too. */
  async remove(row: Row | undefined): Promise<void> {
    const key = await this.#keyOf(row);
    const { copies } = this.#workbench.get(Descriptors).leftovers;
    const conversation = this.#conversations.find(key);
    const record = this.#archive.find(key);
    const title = this.#titleOf(key);
    const end = (): Promise<void> =>
      conversation ? this.#conversations.close(key) : this.#overview.running.endOf([key]);
    const found = await copies.of(key);
    if (found.length > 0) {
      const choice = await confirmDelete(title, found.length);
      if (!choice) return;
      await end();
      this.#archive.delete(key);
      if (choice.copies) await copies.remove(key, found);
    } else {
      await end();
      if (record) this.#archive.deleteSoon(key);
    }
    if (conversation) this.#chat.show(this.#conversations.active());
    this.#overview.view.changed(true);
    if (!record) return;
    void (found.length === 0 ? this.#offerUndo(record, title) : offerRemoval(this.#workbench, record.cwd)).catch(
      tellError,
    );
  }

  async #offerUndo({ key, cwd }: SessionRecord, title: string): Promise<void> {
    const undo = l10n.t('Undo');
    const pressed = await showInfo(l10n.t('Deleted the session “{0}”.', title), undo);
    if (pressed !== undo) return offerRemoval(this.#workbench, cwd);
    if (!this.#archive.restoreDeleted(key)) void showInfo(l10n.t('This session no longer exists.'));
    this.#overview.view.changed(true);
  }

  #titleOf(key: string): string {
    const conversation = this.#conversations.find(key);
    if (conversation) return titleOf(conversation);
    const stored = this.#archive.find(key);
    return stored ? nameOf(stored) : '';
  }

  async #keyOf(row: Row | undefined): Promise<string> {
    const key = row?.focused
      ? this.#overview.view.selected
      : (row?.session ?? (await sessionOf(this.#workbench, row)).key);
    if (key === undefined) throw new ParleyError('no-session', l10n.t('Select a session first.'));
    return key;
  }

  /** Returns an open session, or opens it; undefined if the user does not want to open it here. */
  async #conversationOf(row: Row | undefined): Promise<Conversation | undefined> {
    const key = await this.#keyOf(row);
    const stored = this.#conversations.find(key) ? undefined : this.#archive.find(key);
    if (stored && !(await mayOpen(this.#workbench, stored))) return undefined;
    const conversation = this.#conversations.find(key) ?? this.#conversations.recall(key);
    if (!conversation) throw new ParleyError('no-such-session', l10n.t('There is no session {0}.', key));
    return conversation;
  }
}
