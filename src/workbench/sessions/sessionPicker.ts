// The session list: open, stored and agents' sessions. Typing searches all messages.

import { type Disposable, l10n } from 'vscode';
import type { SessionInfo } from '../../acp/protocol/dialect';
import { Configured } from '../../base/disposable';
import { messageOf } from '../../base/errors';
import type { Conversation } from '../../client/conversation/conversation';
import { statusOf } from '../../client/view/projectSession';
import { List, type ListButton } from '../ui/input';
import { showError } from '../ui/messages';
import type { Conversations } from './conversations';
import type { KeptSessions } from './keptSessions';
import { type ListedStatus, ListedStatuses } from './listedStatuses';
import { action, confirmDelete, moreItem, type SessionItem, separator } from './sessionItems';
import { askTitle, listedTitleOf, short, titleOf, whenOf } from './sessionLabels';

const ANSWER_MS = 15_000;
const SEARCH_DELAY_MS = 100;
const READ_AHEAD_DELAY_MS = 100;

export interface SessionPickerServices {
  readonly conversations: Conversations;
  readonly kept: KeptSessions;
  readonly show: (conversation: Conversation) => void;
  readonly openStored: (lister: Conversation, info: SessionInfo) => Promise<unknown>;
  readonly end: (conversation: Conversation) => Promise<void>;
}

interface AgentSessions {
  readonly lister: Conversation;
  readonly pages: AsyncGenerator<readonly SessionInfo[]>;
  readonly sessions: SessionInfo[];
  more: boolean;
  problem?: string;
}

const STATUS_ICONS: Readonly<Record<ListedStatus, string>> = { live: 'circle-filled', saved: 'circle-outline' };

function statusLabel(status: ListedStatus): string {
  return status === 'live' ? l10n.t('live') : l10n.t('saved');
}

export async function pickSession(services: SessionPickerServices): Promise<void> {
  const picker = new SessionPicker(services);
  await picker.done;
}

class SessionPicker extends Configured<SessionPickerServices> {
  readonly done: Promise<void>;
  readonly #list = new List<SessionItem>(l10n.t('Select a session, or type to search messages'));
  readonly #subscriptions: Disposable[];
  readonly #abort = new AbortController();
  #agentSessions: AgentSessions[] = [];
  readonly #statuses = new Map<string, ListedStatuses>();
  #everywhere = false;
  #archived = false;
  #searchTimer: ReturnType<typeof setTimeout> | undefined;
  #focusTimer: ReturnType<typeof setTimeout> | undefined;
  #busyCount = 0;

  constructor(services: SessionPickerServices) {
    super(services);
    const list = this.#list;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.done = promise;
    this.#subscriptions = [
      list.onDidAccept((item) => void this.#accept(item)),
      list.onDidChangeValue((text) => this.#searchSoon(text)),
      list.onDidChangeActive((item) => this.#readAheadSoon(item)),
      list.onDidPress((run) => void this.#run(run)),
      list.onDidHide(() => {
        this.#abort.abort();
        clearTimeout(this.#searchTimer);
        clearTimeout(this.#focusTimer);
        services.kept.expect(undefined);
        services.kept.stop();
        for (const subscription of this.#subscriptions) subscription.dispose();
        list.dispose();
        resolve();
      }),
    ];
    list.show();
    void this.#load();
  }

  /** Returns one conversation per agent, as an agent may run in several. */
  #listers(): Conversation[] {
    const byAgent = new Map<string, Conversation>();
    for (const conversation of this.options.conversations.list())
      if (conversation.ops.can('list') && !byAgent.has(conversation.agent.id))
        byAgent.set(conversation.agent.id, conversation);
    return [...byAgent.values()];
  }

  #searchSoon(text: string): void {
    const { kept } = this.options;
    clearTimeout(this.#searchTimer);
    kept.stop();
    this.#searchTimer = setTimeout(() => {
      void this.#busyWhile(kept.search(text, () => this.#abort.signal.aborted || this.#draw()));
    }, SEARCH_DELAY_MS);
  }

  async #busyWhile(work: Promise<unknown>): Promise<void> {
    this.#busyCount += 1;
    this.#list.busy = true;
    try {
      await work;
    } finally {
      this.#busyCount -= 1;
      if (!this.#abort.signal.aborted) this.#list.busy = this.#busyCount > 0;
    }
  }

  /** Reads the focused row's session ahead, so that choosing it shows it immediately. */
  #readAheadSoon(item: SessionItem | undefined): void {
    clearTimeout(this.#focusTimer);
    this.#focusTimer = setTimeout(() => {
      this.options.kept.expect(item?.recalls);
      item?.look?.();
    }, READ_AHEAD_DELAY_MS);
  }

  async #load(): Promise<void> {
    this.options.kept.load(this.#everywhere);
    const query = { everywhere: this.#everywhere, archived: this.#archived };
    this.#agentSessions = this.#listers().map((lister) => ({
      lister,
      pages: lister.ops.list(query, this.#abort.signal),
      sessions: [],
      more: true,
    }));
    this.#draw();
    await Promise.all(this.#agentSessions.map((listed) => this.#next(listed)));
  }

  async #next(listed: AgentSessions): Promise<void> {
    try {
      const page = listed.pages.next();
      await this.#busyWhile(page);
      const { value, done } = await page;
      if (value) listed.sessions.push(...value);
      listed.more = !done;
      this.#statusesOf(listed)?.listed(this.#unlisted(listed).map(({ sessionId }) => sessionId));
    } catch (error) {
      listed.more = false;
      listed.problem = messageOf(error);
    }
    if (!this.#abort.signal.aborted) this.#draw();
  }

  #draw(): void {
    const { conversations, kept } = this.options;
    const canArchive = this.#listers().some(({ ops }) => ops.can('archive'));
    const current = conversations.peek();
    const found = kept.foundKeys;
    const open = conversations.list().filter(({ key }) => !found.has(key));
    const rows: SessionItem[] = [
      separator(l10n.t('This window')),
      ...open.map((conversation) => this.#openItem(conversation, conversation === current)),
      ...kept.items(),
      ...this.#agentSessions.flatMap((listed) => this.#agentItems(listed)),
      ...(current ? this.#startItem(current) : []),
    ];
    this.#list.draw(rows, [this.#folderButton(), ...(canArchive ? [this.#archiveButton()] : [])]);
  }

  #folderButton(): ListButton {
    const run = (): Promise<void> => {
      this.#everywhere = !this.#everywhere;
      return this.#load();
    };
    return this.#everywhere
      ? { icon: 'folder', tooltip: l10n.t('Show Sessions of This Folder'), run }
      : { icon: 'globe', tooltip: l10n.t('Show Sessions of All Folders'), run };
  }

  #archiveButton(): ListButton {
    const run = (): Promise<void> => {
      this.#archived = !this.#archived;
      return this.#load();
    };
    return this.#archived
      ? { icon: 'history', tooltip: l10n.t('Show Active Sessions'), run }
      : { icon: 'archive', tooltip: l10n.t('Show Archived Sessions'), run };
  }

  #startItem(current: Conversation): SessionItem[] {
    const { link, agent } = current;
    if (link || this.#agentSessions.some(({ lister }) => lister.agent.id === agent.id)) return [];
    const load = async (): Promise<void> => {
      await current.start();
      await this.#load();
    };
    const words = l10n.t('Start {0} to list its sessions', short(agent.name));
    return [
      separator(agent.name),
      { label: [{ icon: 'plug' }, ` ${words}`], alwaysShow: true, stays: true, run: load },
    ];
  }

  #openItem(conversation: Conversation, isCurrent: boolean): SessionItem {
    const { ops } = conversation;
    const title = listedTitleOf(conversation);
    return {
      id: conversation.key,
      label: isCurrent ? [{ icon: 'check' }, ` ${short(title)}`] : short(title),
      description: `${conversation.agent.name} · ${statusOf(conversation)}`,
      run: async () => this.options.show(conversation),
      buttons: [
        action('edit', l10n.t('Rename'), async () => {
          const name = await askTitle(titleOf(conversation));
          if (name !== undefined) await ops.rename(name, AbortSignal.timeout(ANSWER_MS));
        }),
        action('close', l10n.t('Close and stop its agent'), () => this.options.end(conversation)),
      ],
    };
  }

  #unlisted({ lister, sessions }: AgentSessions): readonly SessionInfo[] {
    const { conversations, kept } = this.options;
    const { id } = lister.agent;
    return sessions.filter(({ sessionId }) => !conversations.findSession(id, sessionId) && !kept.has(id, sessionId));
  }

  #statusesOf({ lister: { agent, ops } }: AgentSessions): ListedStatuses | undefined {
    let statuses = this.#statuses.get(agent.id);
    if (!statuses && ops.can('status')) {
      const ask = ops.status.bind(ops);
      statuses = new ListedStatuses({ ask, signal: this.#abort.signal, onChange: () => this.#draw() });
      this.#statuses.set(agent.id, statuses);
    }
    return statuses;
  }

  #agentItems(listed: AgentSessions): SessionItem[] {
    const { lister, sessions, more, problem } = listed;
    const stored = this.#unlisted(listed);
    const words = this.#archived
      ? l10n.t('{0}: archived', lister.agent.name)
      : l10n.t('{0}: earlier', lister.agent.name);
    const items: SessionItem[] = [separator(words), ...stored.map((info) => this.#agentItem(listed, info))];
    if (problem !== undefined) items.push({ label: [{ icon: 'warning' }, ` ${problem}`], alwaysShow: true });
    else if (more && sessions.length > 0) items.push(moreItem(() => this.#next(listed)));
    else if (!more && stored.length === 0) items.push({ label: l10n.t('None') });
    return items;
  }

  #agentItem(listed: AgentSessions, info: SessionInfo): SessionItem {
    const { lister } = listed;
    const { ops } = lister;
    const { sessionId, title = sessionId, archived = this.#archived } = info;
    const forget = (): void => {
      listed.sessions.splice(listed.sessions.indexOf(info), 1);
    };
    const signal = (): AbortSignal => AbortSignal.timeout(ANSWER_MS);
    const statuses = this.#statusesOf(listed);
    const status = statuses?.of(sessionId);
    return {
      id: `${lister.agent.id} ${sessionId}`,
      label: short(title),
      icon: status ? STATUS_ICONS[status] : undefined,
      description: [...(status ? [statusLabel(status)] : []), whenOf(info)].filter((part) => part !== '').join(' · '),
      detail: info.cwd,
      look: () => statuses?.focused(sessionId),
      run: () => this.options.openStored(lister, info),
      buttons: [
        ...(ops.can('title')
          ? [
              action('edit', l10n.t('Rename'), async () => {
                const name = await askTitle(title);
                if (name === undefined) return;
                const newTitle = await ops.setTitle(sessionId, name, signal());
                listed.sessions.splice(listed.sessions.indexOf(info), 1, { ...info, title: newTitle });
              }),
            ]
          : []),
        ...(ops.can('archive')
          ? [
              action('archive', archived ? l10n.t('Unarchive') : l10n.t('Archive'), async () => {
                await ops.archive(sessionId, !archived, signal());
                forget();
              }),
            ]
          : []),
        ...(ops.can('delete')
          ? [
              action('trash', l10n.t('Delete'), async () => {
                if (!(await confirmDelete(title))) return;
                await ops.delete(sessionId, signal());
                forget();
              }),
            ]
          : []),
      ],
    };
  }

  async #accept({ run, stays }: SessionItem): Promise<void> {
    if (!run) return;
    if (!stays) this.#list.hide();
    await this.#run(run);
  }

  /** Keeps the list open while a dialog is shown; an input box replaces it. */
  async #run(run: () => Promise<unknown>): Promise<void> {
    this.#list.ignoreFocusOut = true;
    try {
      await run();
    } catch (error) {
      void showError(`Parley: ${messageOf(error)}`);
    }
    this.#list.ignoreFocusOut = false;
    if (!this.#abort.signal.aborted) this.#draw();
  }
}
