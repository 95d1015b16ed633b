// Where the chat lives in this window: the editor panel, the side bar view, and which conversation they show.
import {
  type Disposable,
  type ExtensionContext,
  l10n,
  type Uri,
  type UriHandler,
  type Webview,
  type WebviewPanel,
  window,
} from 'vscode';
import { at } from '../acp/capabilities';
import type { Conversation } from '../client/conversation';
import { CHAT_PANEL_TYPE, ChatPanel } from './chatPanel';
import { ChatSurface, type SurfaceServices } from './chatSurface';
import { CHAT_VIEW_ID, ChatView } from './chatView';
import type { Conversations } from './conversations';
import { openSessionLink } from './descriptorCommands';

export class ChatHome implements UriHandler {
  readonly #conversations: Conversations;
  readonly #services: SurfaceServices;
  readonly #panel: ChatPanel;
  readonly #view: ChatView;

  constructor(context: ExtensionContext, conversations: Conversations, services: SurfaceServices) {
    this.#conversations = conversations;
    this.#services = services;
    this.#panel = new ChatPanel(context, (panel) => this.#surface(panel.webview));
    this.#view = new ChatView(context, (view, isRestored) => {
      const surface = this.#surface(view.webview);
      // Who opens the view wants to use it. One that VS Code brought back with the window waits until the user touches it.
      if (!isRestored) surface.startWhenDrawn();
      return surface;
    });
  }

  /** Registers the view, the panel's restoring and the address `vscode://parley.parley/open`. */
  register(): Disposable[] {
    return [
      window.registerWebviewViewProvider(CHAT_VIEW_ID, this.#view),
      window.registerWebviewPanelSerializer(CHAT_PANEL_TYPE, {
        deserializeWebviewPanel: async (panel: WebviewPanel, state: unknown) => {
          const key = at(state, 'key');
          if (typeof key === 'string') this.#conversations.recall(key);
          this.#panel.restore(panel);
        },
      }),
      this.#panel.watch(),
      window.registerUriHandler(this),
      this.#conversations.onDidChange(() => this.#retitle()),
    ];
  }

  /** Opens the editor panel. */
  openPanel(): ChatSurface {
    return this.#panel.open();
  }

  /** Brings the chat to the front where the user has it: the panel, else the visible view, else a new panel. */
  open(): ChatSurface {
    if (!this.#panel.surface && this.#view.isVisible && this.#view.surface) return this.#view.surface;
    return this.#panel.open();
  }

  /** Shows a conversation wherever the chat is open. */
  show(conversation: Conversation): void {
    this.#panel.surface?.show(conversation);
    this.#view.surface?.show(conversation);
    this.#retitle();
  }

  /** Takes a session over that another window has let go of, and says so where it has not. */
  takeOver(key: string): void {
    const taken = this.#conversations.takeOver(key);
    if (taken) {
      this.show(taken.conversation);
      if (taken.written !== '') this.open().insert(taken.written);
    } else void window.showInformationMessage(l10n.t('The other window still has this session.'));
  }

  /** A link can open the chat, or a session, where the user agrees to that. */
  handleUri(uri: Uri): void {
    if (uri.path === '/session') {
      void openSessionLink(uri.query).then(undefined, () => undefined); // the command has said what went wrong
      return;
    }
    if (uri.path !== '/open') return;
    const surface = this.openPanel();
    surface.startWhenDrawn();
    surface.focus();
  }

  /** A tab is called as the session in it. */
  #retitle(): void {
    const conversation = this.#panel.surface?.conversation;
    if (conversation) this.#panel.setTitle(conversation.model.state.title ?? 'Parley');
  }

  #surface(webview: Webview): ChatSurface {
    return new ChatSurface(webview, this.#conversations.active(), this.#services, ({ key }) =>
      this.#conversations.setActive(key),
    );
  }
}
