// Decides which conversation the chat shows in this window, in the editor panel, in the side bar
// view, or in both.
import { commands, type Disposable, l10n, type Uri, type UriHandler } from 'vscode';
import { messageOf, ParleyError } from '../../base/errors';
import { at } from '../../base/untrusted';
import type { Conversation } from '../../client/conversation/conversation';
import type { TimedEvent } from '../../session/events/event';
import type { ChatPanel } from '../activation/chatPanel';
import type { ChatView } from '../activation/chatView';
import type { Page } from '../activation/page';
import type { Conversations } from '../sessions/conversations';
import { inert } from '../ui/inertText';
import { showError, showInfo } from '../ui/messages';
import { ChatSurface, type SurfaceServices } from './chatSurface';

/** Where VS Code shows the chat. */
export interface ChatPlaces {
  readonly panel: ChatPanel;
  readonly view: ChatView;
}

export class ChatHome implements UriHandler, Disposable {
  readonly #conversations: Conversations;
  readonly #services: SurfaceServices;
  readonly #places: ChatPlaces;
  readonly #surfaces = new Map<Page, ChatSurface>();
  readonly #watching: Disposable;

  constructor(places: ChatPlaces, conversations: Conversations, services: SurfaceServices) {
    this.#places = places;
    this.#conversations = conversations;
    this.#services = services;
    this.#watching = conversations.onDidChange(() => this.#retitle());
  }

  /**
   * Shows a conversation in a page that VS Code has opened, and starts its agent where the user
   * asked for the chat.
   */
  fill(page: Page): void {
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

  /** Opens the editor panel. */
  openPanel(): ChatSurface {
    return this.#surfaceOf(this.#places.panel.open());
  }

  /**
   * Brings the chat to the front where the user has it: the panel, else the visible view, else a
   * new panel.
   */
  open(): ChatSurface {
    const { panel, view } = this.#places;
    if (!panel.page && view.page?.isVisible) return this.#surfaceOf(view.page);
    return this.openPanel();
  }

  /** Returns whether the chat can be seen somewhere in this window. */
  get isVisible(): boolean {
    const { panel, view } = this.#places;
    return panel.page?.isVisible === true || view.page?.isVisible === true;
  }

  /** Shows a conversation wherever the chat is open. */
  show(conversation: Conversation): void {
    for (const surface of this.#surfaces.values()) surface.show(conversation);
    this.#retitle();
  }

  /**
   * Shows a conversation, to which commands belong from now on, and brings the chat to the front.
   * @returns where it is shown there
   */
  present(conversation: Conversation): ChatSurface {
    this.#conversations.setActive(conversation.key);
    this.show(conversation);
    const surface = this.open();
    surface.focus();
    return surface;
  }

  /** Brings the chat to the front with the focus on the first open question of its session. */
  focusQuestion(): void {
    this.open().focus('question');
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

  /** Takes a session over that another window has let go of, and says so where it has not. */
  takeOver(key: string): void {
    const taken = this.#conversations.takeOver(key);
    if (taken) {
      this.show(taken.conversation);
      if (taken.written !== '') this.open().insert(taken.written);
    } else void showInfo(l10n.t('This session is still open in the other window.'));
  }

  /** A link can open the chat, or a session, where the user agrees to that. */
  handleUri(uri: Uri): void {
    if (uri.path === '/session') {
      // Called with an argument, the command throws.
      openSessionLink(uri.query).then(undefined, (error: unknown) => void showError(`Parley: ${messageOf(error)}`));
      return;
    }
    if (uri.path !== '/open') return;
    const surface = this.openPanel();
    surface.startWhenDrawn();
    surface.focus();
  }

  dispose(): void {
    this.#watching.dispose();
    for (const surface of this.#surfaces.values()) surface.dispose();
    this.#surfaces.clear();
  }

  /** A tab is called as the session in it. */
  #retitle(): void {
    const { panel } = this.#places;
    const conversation = panel.page && this.#surfaces.get(panel.page)?.conversation;
    if (conversation) panel.setTitle(inert(conversation.model.state.title ?? 'Parley'));
  }

  /** A page that VS Code brought back knows by the key in its state what it showed. */
  #surfaceOf(page: Page): ChatSurface {
    const known = this.#surfaces.get(page);
    if (known) return known;
    const key = page === this.#places.panel.page ? at(page.restored?.state, 'key') : undefined;
    if (typeof key === 'string') this.#conversations.recall(key);
    const surface = new ChatSurface(page, this.#conversations.active(), this.#services, {
      find: (key) => this.#conversations.find(key),
      used: (conversation) => this.#conversations.setActive(conversation.key),
      show: (key) => this.showSession(key),
      takeOver: (key) => this.takeOver(key),
    });
    this.#surfaces.set(page, surface);
    page.onDidDispose(() => {
      surface.dispose();
      this.#surfaces.delete(page);
    });
    return surface;
  }
}

/**
 * Hands a link to a session on to the command that opens it; the user is asked there.
 * @param query of the link
 */
function openSessionLink(query: string): Thenable<unknown> {
  const descriptor = `vscode://parley.parley/session?${query}`;
  return commands.executeCommand('parley.openDescriptor', { descriptor, asks: true });
}
