// The chat in an editor tab, one per window.
import { type ExtensionContext, ViewColumn, type WebviewPanel, type WebviewPanelSerializer, window } from 'vscode';
import { closePanelTabs, watchDeadPanels } from './deadPanels';
import { Page } from './page';
import { webviewRoot } from './pageHtml';
import { type TabIcon, tabIcon } from './tabIcon';

export const CHAT_PANEL_TYPE = 'parley.chat';

export class ChatPanel implements WebviewPanelSerializer {
  readonly #context: ExtensionContext;
  readonly #onPage: (page: Page) => void;
  #open: { readonly panel: WebviewPanel; readonly page: Page } | undefined;

  constructor(context: ExtensionContext, onPage: (page: Page) => void) {
    this.#context = context;
    this.#onPage = onPage;
  }

  get page(): Page | undefined {
    return this.#open?.page;
  }

  open(column = ViewColumn.Active, preserveFocus = false): Page {
    if (this.#open) {
      this.#open.panel.reveal(undefined, preserveFocus);
      return this.#open.page;
    }
    // A panel of a crashed extension host, or one that was not shown since the window was restored.
    closePanelTabs(CHAT_PANEL_TYPE);
    const panel = window.createWebviewPanel(
      CHAT_PANEL_TYPE,
      'Parley',
      { viewColumn: column, preserveFocus },
      {
        enableScripts: true,
        localResourceRoots: [webviewRoot(this.#context.extensionUri)],
      },
    );
    return this.#adopt(panel);
  }

  close(): void {
    this.#open?.panel.dispose();
  }

  watch(): { dispose(): void } {
    return watchDeadPanels({
      viewType: CHAT_PANEL_TYPE,
      isAlive: () => this.#open !== undefined,
      replace: ({ group }) => this.open(group.viewColumn, !group.isActive),
    });
  }

  async deserializeWebviewPanel(panel: WebviewPanel, state: unknown): Promise<void> {
    this.#adopt(panel, { state });
  }

  show(title: string, icon: TabIcon): void {
    if (!this.#open) return;
    const { panel } = this.#open;
    if (panel.title !== title) panel.title = title;
    panel.iconPath = tabIcon(this.#context, icon, panel.iconPath);
  }

  #adopt(panel: WebviewPanel, restored?: { readonly state: unknown }): Page {
    this.#open?.panel.dispose();
    panel.iconPath = tabIcon(this.#context, 'quiet', undefined);
    const page = new Page(panel, this.#context.extensionUri, restored);
    const open = { panel, page };
    this.#open = open;
    panel.onDidChangeViewState(() => {
      page.fireVisibility();
      if (panel.active) page.fireActivated();
    });
    panel.onDidDispose(() => {
      if (this.#open === open) this.#open = undefined;
    });
    this.#onPage(page);
    return page;
  }
}
