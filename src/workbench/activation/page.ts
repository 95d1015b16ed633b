// The chat's page in a view or a panel from the moment that VS Code provides it: its messages are
// kept until there is a listener.
import type { Event, Uri, Webview } from 'vscode';
import type { Disposable } from '../../base/disposable';
import type { Begun, ToWebview } from '../../panel/contract';
import { pageHtml, webviewRoot } from './pageHtml';

/** Maximum wait for a page that is hidden or broken, in ms. */
const PATIENCE_MS = 1000;

const BEGUN: Begun['type'] = 'begun';

/** Later messages are dropped. */
const MOST_KEPT = 1000;

export interface PageHolder {
  readonly webview: Webview;
  readonly visible: boolean;
  /** Undefined for a view. */
  readonly active?: boolean;
  readonly onDidDispose: Event<void>;
}

export interface PageListener {
  receive(message: unknown): void;
  visibilityChanged?(isVisible: boolean): void;
  activated?(): void;
}

export class Page implements Disposable {
  readonly webview: Webview;
  /** State of a page that VS Code restores; undefined for a new page. */
  readonly restored: { readonly state: unknown } | undefined;
  /**
   * Resolves when the page's first script runs, or after a timeout. Work in this process before
   * that delays the page.
   */
  readonly hasBegun: Promise<void>;
  readonly #holder: PageHolder;
  readonly #messages: Disposable;
  #begun = (): void => {};
  #kept: unknown[] = [];
  #listener: PageListener | undefined;
  #toldVisible: boolean;
  #isGone = false;

  constructor(holder: PageHolder, extensionUri: Uri, restored?: { readonly state: unknown }) {
    const { webview } = holder;
    this.webview = webview;
    this.restored = restored;
    this.#holder = holder;
    this.#toldVisible = holder.visible;
    this.hasBegun = new Promise((resolve) => {
      const patience = setTimeout(resolve, PATIENCE_MS);
      this.#begun = () => {
        clearTimeout(patience);
        resolve();
      };
    });
    webview.options = { enableScripts: true, localResourceRoots: [webviewRoot(extensionUri)] };
    this.#messages = webview.onDidReceiveMessage(this.#receive);
    holder.onDidDispose(() => {
      this.#isGone = true;
      this.dispose();
    });
    webview.html = pageHtml(webview, extensionUri);
  }

  get isVisible(): boolean {
    return !this.#isGone && this.#holder.visible;
  }

  /** Whether the user may be in it: false while another editor is active. */
  get mayHaveFocus(): boolean {
    return this.isVisible && this.#holder.active !== false;
  }

  get isGone(): boolean {
    return this.#isGone;
  }

  get onDidDispose(): Event<void> {
    return this.#holder.onDidDispose;
  }

  readonly post = (message: ToWebview): void => {
    this.webview.postMessage(message).then(undefined, () => undefined);
  };

  /** Sets the only listener, which first gets earlier messages. */
  listen(listener: PageListener): Disposable {
    this.#listener = listener;
    const kept = this.#kept;
    this.#kept = [];
    for (const message of kept) listener.receive(message);
    return {
      dispose: () => {
        this.#listener = undefined;
      },
    };
  }

  hearAgain(messages: readonly unknown[]): void {
    for (const message of messages) this.#receive(message);
  }

  tellVisibility(): void {
    const { isVisible } = this;
    if (isVisible === this.#toldVisible) return;
    this.#toldVisible = isVisible;
    this.#listener?.visibilityChanged?.(isVisible);
  }

  tellActive(): void {
    this.#listener?.activated?.();
  }

  readonly #receive = (message: unknown): void => {
    this.#begun();
    if (Object(message).type === BEGUN) return;
    if (this.#listener) this.#listener.receive(message);
    else if (this.#kept.length < MOST_KEPT) this.#kept.push(message);
  };

  dispose(): void {
    this.#begun();
    this.#messages.dispose();
    this.#kept = [];
  }
}
