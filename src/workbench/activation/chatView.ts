// The chat in the secondary side bar.
import type { ExtensionContext, WebviewView, WebviewViewProvider, WebviewViewResolveContext } from 'vscode';
import { Page } from './page';

export const CHAT_VIEW_ID = 'parley.chatView';

export class ChatView implements WebviewViewProvider {
  readonly #context: ExtensionContext;
  readonly #onPage: (page: Page) => void;
  #open: { readonly view: WebviewView; readonly page: Page } | undefined;

  constructor(context: ExtensionContext, onPage: (page: Page) => void) {
    this.#context = context;
    this.#onPage = onPage;
  }

  get page(): Page | undefined {
    return this.#open?.page.isGone ? undefined : this.#open?.page;
  }

  reveal(preserveFocus: boolean): void {
    this.#open?.view.show(preserveFocus);
  }

  resolveWebviewView(view: WebviewView, { state }: WebviewViewResolveContext): void {
    const restored = state === undefined || state === null ? undefined : { state };
    const page = new Page(view, this.#context.extensionUri, restored);
    this.#open = { view, page };
    view.onDidChangeVisibility(() => page.fireVisibility());
    this.#onPage(page);
  }
}
