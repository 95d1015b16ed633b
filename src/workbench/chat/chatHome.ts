// Decides which conversation the chat shows in this window. The editor panel and the side bar view
// switch together; each session tab stays with its own.
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
import { promptOf } from './promptLink';

export interface ChatPlaces {
  readonly panel: ChatPanel;
  readonly view: ChatView;
  readonly tabs: SessionTabs;
}

export type TabStates = (key: string) => TabIcon;

const PREFIXES: Readonly<Record<TabIcon, string>> = { quiet: '', working: '… ', waiting: '? ', unread: '● ' };

export class ChatHome implements SurfaceHost, UriHandler, Disposable {
  readonly workbench: Workbench;
  readonly #conversations: Conversations;
  readonly #places: ChatPlaces;
  readonly #surfaces = new Map<Page, ChatSurface>();
  readonly #renderedTitles = new WeakMap<Page, string>();
  readonly #subscriptions: readonly Disposable[];
  readonly #didShow = new Emitter<string>();
  #handlers: MessageHandlers | undefined;
  #tabStates: TabStates = () => 'quiet';
  #lastUsedPage: Page | undefined;
  /** A page being revealed: VS Code reports its visibility with a delay. */
  #revealing: Page | undefined;

  constructor(places: ChatPlaces, workbench: Workbench) {
    const conversations = workbench.get(Conversations);
    const files = workbench.get(EditorFiles);
    const terminals = workbench.get(RealTerminals);
    this.workbench = workbench;
    this.#places = places;
    this.#conversations = conversations;
    this.feedSources = {
      fragmentLines: new FragmentLines((path, most) => files.readText(path, most)),
      isTerminalOpenable: (id) => terminals.isOpenable(id),
    };
    this.#subscriptions = [
      conversations.onDidChange(() => this.retitle()),
      conversations.onDidClose((key) => this.#closeTabs(key)),
    ];
  }

  readonly feedSources: FeedSources;

  /** Created when a page first shows a session, as all parts exist by then. */
  get handlers(): MessageHandlers {
    this.#handlers ??= messageHandlers(this.workbench);
    return this.#handlers;
  }

  readonly onDidShow: Event<string> = this.#didShow.event;

  set states(states: TabStates) {
    this.#tabStates = states;
    this.retitle();
  }

  fill(page: Page): void {
    const { tabs } = this.#places;
    if (tabs.has(page) && !this.#surfaces.has(page)) {
      const key = at(page.restored?.state, 'key');
      const conversation = typeof key === 'string' ? this.#conversations.recall(key, { activates: false }) : undefined;
      if (conversation) this.#attach(page, conversation);
      else tabs.close(page);
      return;
    }
    const surface = this.#surfaceOf(page);
    // The user opened the view to use it, unless VS Code restored it with the window.
    if (page === this.#places.view.page && !page.restored) surface.startAgent();
  }

  holds(key: string): boolean {
    return [...this.#surfaces.values()].some(({ conversation }) => conversation.key === key);
  }

  isShown(key: string): boolean {
    return [...this.#surfaces].some(([page, { conversation }]) => page.isVisible && conversation.key === key);
  }

  /** Sessions that a command may be about: the page in use, else all visible pages, else all. */
  get current(): readonly Conversation[] {
    const pages = [...this.#surfaces.keys()];
    const visible = pages.filter((page) => page === this.#revealing || page.isVisible);
    const used = visible.find((page) => page === this.#lastUsedPage && (page === this.#revealing || page.mayHaveFocus));
    return this.#sessionsOf(used ? [used] : visible.length > 0 ? visible : pages);
  }

  get inEditors(): readonly Conversation[] {
    const { view } = this.#places;
    return this.#sessionsOf([...this.#surfaces.keys()].filter((page) => page !== view.page && page.isVisible));
  }

  #sessionsOf(pages: readonly Page[]): readonly Conversation[] {
    const conversations = pages.map((page) => this.#surfaces.get(page)?.conversation);
    return [
      ...new Set(conversations.filter((one) => one !== undefined && this.#conversations.find(one.key) === one)),
    ] as Conversation[];
  }

  isInSideBar(conversation: Conversation | undefined): boolean {
    const { page } = this.#places.view;
    return page !== undefined && this.#surfaces.get(page)?.conversation === conversation;
  }

  get hasPages(): boolean {
    return this.#surfaces.size > 0;
  }

  openPanel(): ChatSurface {
    const page = this.#places.panel.open(undefined, isDialogOpen());
    this.#reveal(page);
    return this.#surfaceOf(page);
  }

  /**
   * Reveals the visible view if there is no panel, else the panel, and starts its agent.
   * @param page the panel, if it is already open: it isn't revealed again
   */
  begin(page?: Page): void {
    const surface = page ? this.#surfaceOf(page) : (this.#revealView() ?? this.openPanel());
    surface.startAgent();
    surface.focus();
  }

  /** Reveals the chat where it is in use: tab or panel, else the visible view, else a new panel. */
  open(): ChatSurface {
    const tab = this.#lastUsedTab;
    return tab ? this.#revealTab(tab) : (this.#revealView() ?? this.openPanel());
  }

  #revealView(): ChatSurface | undefined {
    const { panel, view } = this.#places;
    if (panel.page || !view.page?.isVisible) return undefined;
    view.reveal(isDialogOpen());
    this.#lastUsedPage = view.page;
    return this.#surfaceOf(view.page);
  }

  get isVisible(): boolean {
    return [...this.#surfaces.keys()].some(({ isVisible }) => isVisible);
  }

  show(conversation: Conversation): void {
    if (this.#lastUsedTab) this.#lastUsedPage = undefined;
    this.#conversations.setActive(conversation.key);
    this.#conversations.noteShown(conversation.key);
    for (const [page, surface] of this.#surfaces) if (!this.#places.tabs.has(page)) surface.show(conversation);
    this.retitle();
    if (this.isShown(conversation.key)) this.#didShow.fire(conversation.key);
  }

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

  /** The chat gets the focus once no dialog is open. */
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

  async start(conversation: Conversation): Promise<string> {
    this.show(conversation);
    // Before the start: later, the user is typing.
    this.open().focus();
    await conversation.start();
    return conversation.key;
  }

  focusOn(target: FocusTarget): void {
    this.open().focus(target);
  }

  /** Where the chat is, if {@link move} would do nothing there. */
  get place(): 'editor' | 'sideBar' | undefined {
    const { panel, view } = this.#places;
    return this.#lastUsedTab || panel.page ? 'editor' : view.page?.isVisible ? 'sideBar' : undefined;
  }

  async move(to: 'editor' | 'sideBar' | 'window'): Promise<void> {
    const { panel, view, tabs } = this.#places;
    const tab = this.#lastUsedTab;
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
    surface.startAgent();
    if (to === 'window') await commands.executeCommand('workbench.action.moveEditorToNewWindow');
    if (wasInSideBar) await commands.executeCommand('workbench.action.closeAuxiliaryBar');
    surface.focus();
  }

  chime(): void {
    for (const surface of this.#surfaces.values()) if (surface.chime()) return;
  }

  reveal(key: string, event: TimedEvent): void {
    for (const surface of this.#surfaces.values()) if (surface.conversation.key === key) void surface.reveal(event);
  }

  showSession(key: string): void {
    const conversation = this.#conversations.recall(key);
    if (!conversation) throw new ParleyError('no-such-session', l10n.t('This session no longer exists.'));
    this.present(conversation);
  }

  used(page: Page): void {
    const key = this.#surfaces.get(page)?.conversation.key;
    this.#lastUsedPage = page;
    this.#revealing = undefined;
    if (key !== undefined && this.#conversations.find(key)) this.#conversations.setActive(key);
  }

  activated(page: Page): void {
    this.used(page);
    this.#fireDidShow(page);
  }

  seen(page: Page): void {
    if (this.#revealing === page) this.#revealing = undefined;
    this.#fireDidShow(page);
  }

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

  handleUri(uri: Uri): void {
    if (uri.path === '/session') {
      // The descriptor asks the user before it opens the session.
      const descriptor = `vscode://parley.parley/session?${uri.query}`;
      this.workbench.run('openDescriptor', { descriptor, asks: true }).catch(tellError);
      return;
    }
    if (uri.path !== '/open') return;
    const given = promptOf(uri.query);
    if (given) {
      this.workbench.run('openPrompt', given).catch(tellError);
      return;
    }
    const surface = this.openPanel();
    surface.startAgent();
    surface.focus();
  }

  dispose(): void {
    for (const watching of this.#subscriptions) watching.dispose();
    this.#didShow.dispose();
    for (const surface of this.#surfaces.values()) surface.dispose();
    this.#surfaces.clear();
  }

  retitle(): void {
    const { panel, tabs } = this.#places;
    for (const [page, { conversation }] of this.#surfaces) {
      const isPanel = page === panel.page;
      if (!isPanel && !tabs.has(page)) continue;
      const icon = this.#tabStates(conversation.key);
      const words = isPanel && knownTitleOf(conversation) === undefined ? 'Parley' : tabTitleOf(conversation);
      // Sessions change often while agents write; their tabs rarely do.
      const rendered = `${icon} ${words}`;
      if (this.#renderedTitles.get(page) === rendered) continue;
      this.#renderedTitles.set(page, rendered);
      const title = inert(`${PREFIXES[icon]}${words}`);
      if (isPanel) panel.show(title, icon);
      else tabs.show(page, title, icon);
    }
  }

  #fireDidShow(page: Page): void {
    const surface = this.#surfaces.get(page);
    if (surface) this.#didShow.fire(surface.conversation.key);
  }

  #tabOf(key: string | undefined): Page | undefined {
    for (const [page, { conversation }] of this.#surfaces)
      if (conversation.key === key && this.#places.tabs.has(page)) return page;
    return undefined;
  }

  /** The tab used last, unless another page was used since. */
  get #lastUsedTab(): Page | undefined {
    const page = this.#lastUsedPage;
    return page && this.#surfaces.has(page) && this.#places.tabs.has(page) ? page : undefined;
  }

  #reveal(page: Page): void {
    this.#lastUsedPage = page;
    if (!page.isVisible) this.#revealing = page;
  }

  #revealTab(page: Page): ChatSurface {
    this.#places.tabs.reveal(page, isDialogOpen());
    this.#reveal(page);
    return this.#surfaceOf(page);
  }

  #closeTabs(key: string): void {
    const tab = this.#tabOf(key);
    if (tab) this.#places.tabs.close(tab);
  }

  /**
   * Restores what a panel showed. The key in its state may be of an earlier session: VS Code writes
   * the state only when a window closes normally.
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
      if (this.#lastUsedPage === page) this.#lastUsedPage = undefined;
      if (this.#revealing === page) this.#revealing = undefined;
    });
    return surface;
  }
}
