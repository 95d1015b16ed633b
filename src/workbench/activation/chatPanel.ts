// The chat in an editor tab, one per window: opening it again reveals it.
import { type ExtensionContext, Uri, ViewColumn, type WebviewPanel, type WebviewPanelSerializer, window } from 'vscode';
import { closePanelTabs, watchDeadPanels } from './deadPanels';
import { Page } from './page';
import { webviewRoot } from './pageHtml';

export const CHAT_PANEL_TYPE = 'parley.chat';

export class ChatPanel implements WebviewPanelSerializer {
  readonly #context: ExtensionContext;
  readonly #onPage: (page: Page) => void;
  #open: { readonly panel: WebviewPanel; readonly page: Page } | undefined;

  /** @param onPage told of each page that a panel gets */
  constructor(context: ExtensionContext, onPage: (page: Page) => void) {
    this.#context = context;
    this.#onPage = onPage;
  }

  /** The page that is open in a tab. */
  get page(): Page | undefined {
    return this.#open?.page;
  }

  /** Opens the panel or brings it to the front. */
  open(column = ViewColumn.Active): Page {
    if (this.#open) {
      this.#open.panel.reveal();
      return this.#open.page;
    }
    // One of an extension host that broke, or one that was never looked at since the window came
    // back.
    closePanelTabs(CHAT_PANEL_TYPE);
    const panel = window.createWebviewPanel(CHAT_PANEL_TYPE, 'Parley', column, {
      enableScripts: true,
      enableFindWidget: true,
      localResourceRoots: [webviewRoot(this.#context.extensionUri)],
    });
    return this.#adopt(panel);
  }

  /** Replaces the tab of an extension host that broke. */
  watch(): { dispose(): void } {
    return watchDeadPanels({
      viewType: CHAT_PANEL_TYPE,
      isAlive: () => this.#open !== undefined,
      replace: (column) => this.open(column),
    });
  }

  /** Takes a panel that VS Code brings back with the window. */
  async deserializeWebviewPanel(panel: WebviewPanel, state: unknown): Promise<void> {
    this.#adopt(panel, { state });
  }

  setTitle(title: string): void {
    if (this.#open && this.#open.panel.title !== title) this.#open.panel.title = title;
  }

  #adopt(panel: WebviewPanel, restored?: { readonly state: unknown }): Page {
    this.#open?.panel.dispose();
    // A tab's icon is a picture and does not take the colour of its theme, as the one of the view
    // does.
    const icon = (theme: string): Uri => Uri.joinPath(this.#context.extensionUri, 'media', `parley-${theme}.svg`);
    panel.iconPath = { light: icon('light'), dark: icon('dark') };
    const page = new Page(panel, this.#context.extensionUri, restored);
    const open = { panel, page };
    this.#open = open;
    panel.onDidChangeViewState(() => page.tellVisibility());
    panel.onDidDispose(() => {
      if (this.#open === open) this.#open = undefined;
    });
    this.#onPage(page);
    return page;
  }
}
