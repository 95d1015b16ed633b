// Tabs that each show one session, beside the panel that switches between sessions.
import { type ExtensionContext, ViewColumn, type WebviewPanel, type WebviewPanelSerializer, window } from 'vscode';
import { watchDeadPanels } from './deadPanels';
import { Page } from './page';
import { webviewRoot } from './pageHtml';
import { type TabIcon, tabIcon } from './tabIcon';

export const SESSION_TAB_TYPE = 'parley.session';

export class SessionTabs implements WebviewPanelSerializer {
  readonly #context: ExtensionContext;
  readonly #onPage: (page: Page) => void;
  readonly #panels = new Map<Page, WebviewPanel>();

  constructor(context: ExtensionContext, onPage: (page: Page) => void) {
    this.#context = context;
    this.#onPage = onPage;
  }

  has(page: Page): boolean {
    return this.#panels.has(page);
  }

  /** @param onPage called first with its page */
  open(title: string, column: ViewColumn, onPage: (page: Page) => void): Page {
    const panel = window.createWebviewPanel(SESSION_TAB_TYPE, title, column, {
      enableScripts: true,
      localResourceRoots: [webviewRoot(this.#context.extensionUri)],
    });
    return this.#adopt(panel, undefined, onPage);
  }

  reveal(page: Page, preserveFocus = false): void {
    this.#panels.get(page)?.reveal(undefined, preserveFocus);
  }

  close(page: Page): void {
    this.#panels.get(page)?.dispose();
  }

  async deserializeWebviewPanel(panel: WebviewPanel, state: unknown): Promise<void> {
    this.#adopt(panel, { state });
  }

  /** Closes a front tab of a crashed extension host; its session is in the list. */
  watch(): { dispose(): void } {
    return watchDeadPanels({
      viewType: SESSION_TAB_TYPE,
      isAlive: ({ group }) =>
        [...this.#panels.values()].some(({ visible, viewColumn }) => visible && viewColumn === group.viewColumn),
      replace: (tab) => void window.tabGroups.close(tab, true).then(undefined, () => undefined),
    });
  }

  show(page: Page, title: string, icon: TabIcon): void {
    const panel = this.#panels.get(page);
    if (!panel) return;
    if (panel.title !== title) panel.title = title;
    panel.iconPath = tabIcon(this.#context, icon, panel.iconPath);
  }

  #adopt(panel: WebviewPanel, restored?: { readonly state: unknown }, onPage?: (page: Page) => void): Page {
    const page = new Page(panel, this.#context.extensionUri, restored);
    this.#panels.set(page, panel);
    panel.iconPath = tabIcon(this.#context, 'quiet', undefined);
    panel.onDidChangeViewState(() => {
      page.fireVisibility();
      if (panel.active) page.fireActivated();
    });
    panel.onDidDispose(() => this.#panels.delete(page));
    onPage?.(page);
    this.#onPage(page);
    return page;
  }
}

export const BESIDE = ViewColumn.Beside;
