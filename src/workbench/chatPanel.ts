// The chat in an editor tab. One per window is enough: opening it again brings it to the front.
import { type ExtensionContext, Uri, ViewColumn, type WebviewPanel, window } from 'vscode';
import type { Disposable } from '../base/disposable';
import type { ChatSurface } from './chatSurface';
import { closePanelTabs, watchDeadPanels } from './deadPanels';
import { webviewHtml, webviewRoot } from './webviewHtml';

export const CHAT_PANEL_TYPE = 'parley.chat';

export class ChatPanel implements Disposable {
  readonly #context: ExtensionContext;
  readonly #surfaceFor: (panel: WebviewPanel) => ChatSurface;
  #open: { panel: WebviewPanel; surface: ChatSurface } | undefined;

  /** @param surfaceFor makes the surface of a new panel, for the active conversation. */
  constructor(context: ExtensionContext, surfaceFor: (panel: WebviewPanel) => ChatSurface) {
    this.#context = context;
    this.#surfaceFor = surfaceFor;
  }

  get surface(): ChatSurface | undefined {
    return this.#open?.surface;
  }

  get isActive(): boolean {
    return this.#open?.panel.active === true;
  }

  /** Opens the panel or brings it to the front. */
  open(column = ViewColumn.Active): ChatSurface {
    if (this.#open) {
      this.#open.panel.reveal();
      return this.#open.surface;
    }
    // One of an extension host that broke, or one that was never looked at since the window came back.
    closePanelTabs(CHAT_PANEL_TYPE);
    const panel = window.createWebviewPanel(CHAT_PANEL_TYPE, 'Parley', column, this.#options());
    return this.#adopt(panel);
  }

  /** Replaces the tab of an extension host that broke. */
  watch(): Disposable {
    return watchDeadPanels({
      viewType: CHAT_PANEL_TYPE,
      isAlive: () => this.#open !== undefined,
      replace: (column) => this.open(column),
    });
  }

  /** Takes a panel that VS Code restored. */
  restore(panel: WebviewPanel): void {
    panel.webview.options = this.#options();
    this.#adopt(panel);
  }

  #adopt(panel: WebviewPanel): ChatSurface {
    this.#open?.panel.dispose();
    // A tab's icon is a picture and does not take the colour of its theme, as the one of the view does.
    const icon = (theme: string): Uri => Uri.joinPath(this.#context.extensionUri, 'media', `parley-${theme}.svg`);
    panel.iconPath = { light: icon('light'), dark: icon('dark') };
    const surface = this.#surfaceFor(panel);
    const open = { panel, surface };
    this.#open = open;
    let visible = panel.visible;
    panel.onDidChangeViewState(() => {
      if (panel.visible === visible) return;
      visible = panel.visible;
      surface.setVisible(visible);
    });
    panel.onDidDispose(() => {
      surface.dispose();
      if (this.#open === open) this.#open = undefined;
    });
    panel.webview.html = webviewHtml(panel.webview, this.#context.extensionUri);
    return surface;
  }

  setTitle(title: string): void {
    if (this.#open && this.#open.panel.title !== title) this.#open.panel.title = title;
  }

  dispose(): void {
    this.#open?.panel.dispose();
  }

  #options() {
    return {
      enableScripts: true,
      enableFindWidget: true,
      localResourceRoots: [webviewRoot(this.#context.extensionUri)],
    };
  }
}
