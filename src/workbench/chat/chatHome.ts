// Decides which conversation the chat shows in this window: the editor panel and the side bar view
// go from one to the next together, and each tab of a session stays with its own.
import { commands, type Disposable, l10n, type Uri, type UriHandler, ViewColumn } from 'vscode';
import { ParleyError } from '../../base/errors';
import { Emitter, type Event } from '../../base/event';
import { at } from '../../base/untrusted';
import type { Conversation } from '../../client/conversation/conversation';
import { FragmentLines } from '../../client/requests/fragmentLines';
import type { FeedSources } from '../../client/view/feed';
import type { TimedEvent } from '../../session/events/event';
import type { ChatPanel } from '../activation/chatPanel';
import type { ChatView } from '../activation/chatView';
import type { Page } from '../activation/page';
import type { SessionTabs } from '../activation/sessionTabs';
import type { TabIcon } from '../activation/tabIcon';
import type { Workbench } from '../core/workbench';
import { EditorFiles } from '../editor/editorFiles';
import { RealTerminals } from '../editor/realTerminal';
import { Conversations } from '../sessions/conversations';
import { knownTitleOf, tabTitleOf } from '../sessions/sessionLabels';
import { inert } from '../ui/inertText';
import { dialogsClosed, isDialogOpen, showInfo, tellError } from '../ui/messages';
import { ChatSurface, type FocusTarget, type MessageHandlers, type SurfaceHost } from './chatSurface';
import { messageHandlers } from './messages';

/** Where VS Code shows the chat. */
export interface ChatPlaces {
  readonly panel: ChatPanel;
  readonly view: ChatView;
  readonly tabs: SessionTabs;
}

/** What a tab says of the session in it, beside its title. */
export type TabStates = (key: string) => TabIcon;

/** What stands before a tab's title, for those who do not see its icon. */
const PREFIXES: Readonly<Record<TabIcon, string>> = { quiet: '', working: '… ', waiting: '? ', unread: '● ' };

export class ChatHome implements SurfaceHost, UriHandler, Disposable {
  readonly workbench: Workbench;
  readonly #conversations: Conversations;
  readonly #places: ChatPlaces;
  readonly #surfaces = new Map<Page, ChatSurface>();
  /** What the tabs show of their sessions. */
  readonly #looks = new WeakMap<Page, string>();
  readonly #watching: readonly Disposable[];
  readonly #shown = new Emitter<string>();
  #handlers: MessageHandlers | undefined;
  #states: TabStates = () => 'quiet';
  /** The page that the user was in last. */
  #usedPage: Page | undefined;
  /** A page that is being revealed: VS Code tells later that it is visible. */
  #revealing: Page | undefined;

  constructor(places: ChatPlaces, workbench: Workbench) {
    const conversations = workbench.get(Conversations);
    const files = workbench.get(EditorFiles);
    const terminals = workbench.get(RealTerminals);
    this.workbench = workbench;
    this.#places = places;
    this.#conversations = conversations;
    this.feedSources = {
      fragmentLines: new FragmentLines((path, most) => files.readText(path, undefined, undefined, most)),
      isTerminalOpenable: (id) => terminals.isOpenable(id),
    };
    this.#watching = [
      conversations.onDidChange(() => this.retitle()),
      conversations.onDidClose((key) => this.#closeTabs(key)),
    ];
  }

  readonly feedSources: FeedSources;

  /** Made when a page first shows a session: all parts are built by then. */
  get handlers(): MessageHandlers {
    this.#handlers ??= messageHandlers(this.workbench);
    return this.#handlers;
  }

  /** A session came into sight; its key. */
  readonly onDidShow: Event<string> = this.#shown.event;

  /** Has tabs show the states of their sessions. */
  set states(states: TabStates) {
    this.#states = states;
    this.retitle();
  }

  /**
   * Shows a conversation in a page that VS Code has opened, and starts its agent where the user
   * asked for the chat.
   */
  fill(page: Page): void {
    const { tabs } = this.#places;
    if (tabs.has(page) && !this.#surfaces.has(page)) {
      // A tab that came back with the window says in its state which session it has.
      const key = at(page.restored?.state, 'key');
      const conversation = typeof key === 'string' ? this.#conversations.recall(key, { activates: false }) : undefined;
      if (conversation) this.#attach(page, conversation);
      else tabs.close(page);
      return;
    }
    const surface = this.#surfaceOf(page);
    // Who opens the view wants to use it. One that VS Code brought back with the window waits until
    // the user touches it.
    if (page === this.#places.view.page && !page.restored) surface.startWhenDrawn();
  }

  /** Returns whether a page of this window has a session, on the screen or hidden. */
  holds(key: string): boolean {
    return [...this.#surfaces.values()].some(({ conversation }) => conversation.key === key);
  }

  /** Returns whether a session is on the screen in this window. */
  isShown(key: string): boolean {
    return [...this.#surfaces].some(([page, { conversation }]) => page.isVisible && conversation.key === key);
  }

  /**
   * Returns the sessions that a command may be about that names none: of the page that the user is
   * in, else of all pages on the screen, else of all hidden ones.
   */
  get current(): readonly Conversation[] {
    const pages = [...this.#surfaces.keys()];
    const visible = pages.filter((page) => page === this.#revealing || page.isVisible);
    const used = visible.find((page) => page === this.#usedPage && (page === this.#revealing || page.mayHaveFocus));
    return this.#sessionsOf(used ? [used] : visible.length > 0 ? visible : pages);
  }

  /** Returns the sessions on the screen in editors: what the title of an editor may belong to. */
  get inEditors(): readonly Conversation[] {
    const { view } = this.#places;
    return this.#sessionsOf([...this.#surfaces.keys()].filter((page) => page !== view.page && page.isVisible));
  }

  #sessionsOf(pages: readonly Page[]): readonly Conversation[] {
    const shown = pages.map((page) => this.#surfaces.get(page)?.conversation);
    return [
      ...new Set(shown.filter((one) => one !== undefined && this.#conversations.find(one.key) === one)),
    ] as Conversation[];
  }

  /** Returns whether the chat in the side bar has a session. */
  isInSideBar(conversation: Conversation | undefined): boolean {
    const { page } = this.#places.view;
    return page !== undefined && this.#surfaces.get(page)?.conversation === conversation;
  }

  /** Returns whether a page shows a session, on the screen or hidden. */
  get hasPages(): boolean {
    return this.#surfaces.size > 0;
  }

  /** Opens the editor panel. */
  openPanel(): ChatSurface {
    const page = this.#places.panel.open(undefined, isDialogOpen());
    this.#reveal(page);
    return this.#surfaceOf(page);
  }

  /**
   * Opens the editor panel and starts the agent of its session.
   * @param page the panel's, opened already: the user may be elsewhere by now, and is not fetched back
   */
  begin(page?: Page): void {
    const surface = page ? this.#surfaceOf(page) : this.openPanel();
    // Not awaited: the panel is open; the agent's start is shown in it.
    surface.startWhenDrawn();
    surface.focus();
  }

  /**
   * Brings the chat to the front where the user has it: the panel, else the visible view, else a
   * new panel.
   */
  open(): ChatSurface {
    const { panel, view } = this.#places;
    const tab = this.#usedTab;
    if (tab) return this.#revealTab(tab);
    if (!panel.page && view.page?.isVisible) {
      this.#usedPage = view.page;
      return this.#surfaceOf(view.page);
    }
    return this.openPanel();
  }

  /** Returns whether the chat can be seen somewhere in this window. */
  get isVisible(): boolean {
    return [...this.#surfaces.keys()].some(({ isVisible }) => isVisible);
  }

  /** Shows a conversation in the panel and in the view, where they are open. */
  show(conversation: Conversation): void {
    if (this.#usedTab) this.#usedPage = undefined;
    this.#conversations.setActive(conversation.key);
    this.#conversations.noteShown(conversation.key);
    for (const [page, surface] of this.#surfaces) if (!this.#places.tabs.has(page)) surface.show(conversation);
    this.retitle();
    if (this.isShown(conversation.key)) this.#shown.fire(conversation.key);
  }

  /** Shows a conversation in a tab of its own, or in the one that it has. */
  openTab(conversation: Conversation, column = ViewColumn.Beside): ChatSurface {
    const known = this.#tabOf(conversation.key);
    if (known) return this.#revealTab(known);
    const { tabs } = this.#places;
    const title = inert(tabTitleOf(conversation));
    const page = tabs.open(title, column, (opened) => this.#attach(opened, conversation));
    this.#conversations.setActive(conversation.key);
    this.#reveal(page);
    this.retitle();
    return this.#surfaceOf(page);
  }

  /**
   * Shows a conversation, to which commands belong from now on, and brings the chat to the front. It
   * takes the focus as soon as no dialog needs it.
   * @returns where it is shown there
   */
  present(conversation: Conversation): ChatSurface {
    const { key } = conversation;
    this.#conversations.setActive(key);
    const tab = this.#tabOf(key);
    if (!tab) this.show(conversation);
    const surface = tab ? this.#revealTab(tab) : this.open();
    surface.focus();
    if (isDialogOpen())
      void dialogsClosed().then(() => this.#conversations.peek()?.key === key && this.isShown(key) && this.open());
    return surface;
  }

  /** Shows a session and starts its agent. @returns its key */
  async start(conversation: Conversation): Promise<string> {
    this.show(conversation);
    const surface = this.open();
    await conversation.start();
    surface.focus();
    return conversation.key;
  }

  /** Brings the chat to the front with the focus on something in it. */
  focusOn(target: FocusTarget): void {
    this.open().focus(target);
  }

  /** Moves the chat with the session that the user is in. */
  async move(to: 'editor' | 'sideBar' | 'window'): Promise<void> {
    const { panel, view, tabs } = this.#places;
    const tab = this.#usedTab;
    const conversation = (tab && this.#surfaces.get(tab)?.conversation) ?? this.#conversations.active();
    if (to === 'sideBar') {
      await commands.executeCommand('parley.chatView.focus');
      this.show(conversation);
      if (tab) tabs.close(tab);
      panel.close();
      if (view.page) this.#surfaceOf(view.page).focus();
      return;
    }
    const wasInSideBar = view.page?.isVisible === true;
    const surface = tab ? this.#revealTab(tab) : this.openPanel();
    surface.startWhenDrawn();
    if (to === 'window') await commands.executeCommand('workbench.action.moveEditorToNewWindow');
    if (wasInSideBar) await commands.executeCommand('workbench.action.closeAuxiliaryBar');
    surface.focus();
  }

  /** Plays a sound, where a page that can is on the screen. */
  chime(): void {
    for (const surface of this.#surfaces.values()) if (surface.chime()) return;
  }

  /** Brings what happened in a session to the eye wherever the session is shown. */
  reveal(key: string, event: TimedEvent): void {
    for (const surface of this.#surfaces.values()) if (surface.conversation.key === key) void surface.reveal(event);
  }

  /**
   * Shows a session that is kept, and brings the chat to the front.
   * @throws ParleyError `no-such-session`
   */
  showSession(key: string): void {
    const conversation = this.#conversations.recall(key);
    if (!conversation) throw new ParleyError('no-such-session', l10n.t('This session no longer exists.'));
    this.present(conversation);
  }

  used(page: Page): void {
    const key = this.#surfaces.get(page)?.conversation.key;
    this.#usedPage = page;
    this.#revealing = undefined;
    if (key !== undefined && this.#conversations.find(key)) this.#conversations.setActive(key);
  }

  activated(page: Page): void {
    this.used(page);
    this.#fireShown(page);
  }

  seen(page: Page): void {
    if (this.#revealing === page) this.#revealing = undefined;
    this.#fireShown(page);
  }

  /** Takes over a session that another window has released, and says so if it has not. */
  takeOver(key: string): void {
    const taken = this.#conversations.takeOver(key);
    if (taken) {
      const tab = this.#tabOf(key);
      if (tab) this.#surfaces.get(tab)?.show(taken.conversation);
      if (!tab || [...this.#surfaces].some(([page, one]) => page !== tab && one.conversation.key === key))
        this.show(taken.conversation);
      if (taken.written !== '') this.open().insert(taken.written);
    } else void showInfo(l10n.t('This session is still open in the other window.'));
  }

  /** A link can open the chat, or a session, where the user agrees to that. */
  handleUri(uri: Uri): void {
    if (uri.path === '/session') {
      // The user is asked there whether to open it.
      const descriptor = `vscode://parley.parley/session?${uri.query}`;
      this.workbench.run('openDescriptor', { descriptor, asks: true }).catch(tellError);
      return;
    }
    if (uri.path !== '/open') return;
    const surface = this.openPanel();
    surface.startWhenDrawn();
    surface.focus();
  }

  dispose(): void {
    for (const watching of this.#watching) watching.dispose();
    this.#shown.dispose();
    for (const surface of this.#surfaces.values()) surface.dispose();
    this.#surfaces.clear();
  }

  /** A tab is called as the session in it, and its icon says what the session does. */
  retitle(): void {
    const { panel, tabs } = this.#places;
    for (const [page, { conversation }] of this.#surfaces) {
      const isPanel = page === panel.page;
      if (!isPanel && !tabs.has(page)) continue;
      const icon = this.#states(conversation.key);
      const words = isPanel && knownTitleOf(conversation) === undefined ? 'Parley' : tabTitleOf(conversation);
      // A session changes often while its agent writes, and its tab seldom.
      const look = `${icon} ${words}`;
      if (this.#looks.get(page) === look) continue;
      this.#looks.set(page, look);
      const title = inert(`${PREFIXES[icon]}${words}`);
      if (isPanel) panel.show(title, icon);
      else tabs.show(page, title, icon);
    }
  }

  #fireShown(page: Page): void {
    const surface = this.#surfaces.get(page);
    if (surface) this.#shown.fire(surface.conversation.key);
  }

  #tabOf(key: string | undefined): Page | undefined {
    for (const [page, { conversation }] of this.#surfaces)
      if (conversation.key === key && this.#places.tabs.has(page)) return page;
    return undefined;
  }

  /** The tab that the user was in last, if that was no other page. */
  get #usedTab(): Page | undefined {
    const page = this.#usedPage;
    return page && this.#surfaces.has(page) && this.#places.tabs.has(page) ? page : undefined;
  }

  /** A page comes to the front. */
  #reveal(page: Page): void {
    this.#usedPage = page;
    if (!page.isVisible) this.#revealing = page;
  }

  #revealTab(page: Page): ChatSurface {
    this.#places.tabs.reveal(page, isDialogOpen());
    this.#reveal(page);
    return this.#surfaceOf(page);
  }

  /** The user has closed a session. */
  #closeTabs(key: string): void {
    const tab = this.#tabOf(key);
    if (tab) this.#places.tabs.close(tab);
  }

  /**
   * A panel that VS Code brought back shows what it showed. The key in its state may be of an earlier
   * session: VS Code writes it when a window ends in order.
   */
  #surfaceOf(page: Page): ChatSurface {
    const known = this.#surfaces.get(page);
    if (known) return known;
    if (page === this.#places.panel.page && page.restored && !this.#conversations.recallShown()) {
      const key = at(page.restored.state, 'key');
      if (typeof key === 'string') this.#conversations.recall(key);
    }
    const conversation = this.#conversations.active();
    this.#conversations.noteShown(conversation.key);
    return this.#attach(page, conversation);
  }

  #attach(page: Page, conversation: Conversation): ChatSurface {
    const surface = new ChatSurface(page, conversation, this);
    this.#surfaces.set(page, surface);
    this.retitle();
    page.onDidDispose(() => {
      surface.dispose();
      this.#surfaces.delete(page);
      if (this.#usedPage === page) this.#usedPage = undefined;
      if (this.#revealing === page) this.#revealing = undefined;
    });
    return surface;
  }
}
