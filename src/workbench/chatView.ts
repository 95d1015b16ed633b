// The chat in the secondary side bar.
import type {
  CancellationToken,
  ExtensionContext,
  WebviewView,
  WebviewViewProvider,
  WebviewViewResolveContext,
} from 'vscode';
import type { ChatSurface } from './chatSurface';
import { webviewHtml, webviewRoot } from './webviewHtml';

export const CHAT_VIEW_ID = 'parley.chatView';

export class ChatView implements WebviewViewProvider {
  readonly #context: ExtensionContext;
  readonly #surfaceFor: (view: WebviewView, isRestored: boolean) => ChatSurface;
  #open: { view: WebviewView; surface: ChatSurface } | undefined;

  constructor(context: ExtensionContext, surfaceFor: (view: WebviewView, isRestored: boolean) => ChatSurface) {
    this.#context = context;
    this.#surfaceFor = surfaceFor;
  }

  get surface(): ChatSurface | undefined {
    return this.#open?.surface;
  }

  get isVisible(): boolean {
    return this.#open?.view.visible === true;
  }

  resolveWebviewView(view: WebviewView, context: WebviewViewResolveContext, _token: CancellationToken): void {
    view.webview.options = { enableScripts: true, localResourceRoots: [webviewRoot(this.#context.extensionUri)] };
    // A view that VS Code brought back has a state; one that the user opened for the first time has none.
    const surface = this.#surfaceFor(view, context.state !== undefined && context.state !== null);
    const open = { view, surface };
    this.#open = open;
    view.onDidChangeVisibility(() => surface.setVisible(view.visible));
    view.onDidDispose(() => {
      surface.dispose();
      if (this.#open === open) this.#open = undefined;
    });
    view.webview.html = webviewHtml(view.webview, this.#context.extensionUri);
  }
}
