// The chat's page in a view or a panel from the moment that VS Code provides it: its messages are
// kept until there is a listener.
import type { Event, Uri, Webview } from 'vscode';
import type { Disposable } from '../../base/disposable';
import type { ToWebview } from '../../panel/contract';
import { pageHtml, webviewRoot } from './pageHtml';

/** A silent page, which is hidden or broken, is not waited for longer than this, in ms. */
const PATIENCE_MS = 1000;

/**
 * A page says hello, what was typed and what went wrong before it is heard, a few words of each;
 * what comes on top of this many is dropped.
 */
const MOST_KEPT = 1000;

/** A view or a panel of VS Code. */
export interface PageHolder {
  readonly webview: Webview;
  readonly visible: boolean;
  /** Whether it is the active editor; a view doesn't know. */
  readonly active?: boolean;
  readonly onDidDispose: Event<void>;
}

/** Who hears a page. */
export interface PageListener {
  receive(message: unknown): void;
  /** The page is hidden, or is seen again. */
  visibilityChanged?(isVisible: boolean): void;
  /** The user has gone into it. */
  activated?(): void;
}

export class Page implements Disposable {
  readonly webview: Webview;
  /**
   * What VS Code kept of a page that it brings back with the window; absent for a page that is new.
   */
  readonly restored: { readonly state: unknown } | undefined;
  /**
   * Resolves when the page is drawn and has said something, or is not waited for any longer. What
   * blocks this process until then delays what the user waits for.
   */
  readonly hasSpoken: Promise<void>;
  readonly #holder: PageHolder;
  readonly #messages: Disposable;
  #spoken = (): void => {};
  #kept: unknown[] = [];
  #listener: PageListener | undefined;
  #toldVisible: boolean;
  #isGone = false;

  /** Fills a view or a panel with the chat. @param extensionUri where Parley is installed */
  constructor(holder: PageHolder, extensionUri: Uri, restored?: { readonly state: unknown }) {
    const { webview } = holder;
    this.webview = webview;
    this.restored = restored;
    this.#holder = holder;
    this.#toldVisible = holder.visible;
    this.hasSpoken = new Promise((resolve) => {
      const patience = setTimeout(resolve, PATIENCE_MS);
      this.#spoken = () => {
        clearTimeout(patience);
        resolve();
      };
    });
    webview.options = { enableScripts: true, localResourceRoots: [webviewRoot(extensionUri)] };
    this.#messages = webview.onDidReceiveMessage((message: unknown) => this.#receive(message));
    holder.onDidDispose(() => {
      this.#isGone = true;
      this.dispose();
    });
    webview.html = pageHtml(webview, extensionUri);
  }

  get isVisible(): boolean {
    return !this.#isGone && this.#holder.visible;
  }

  /** Whether the user may be in it: not while another editor is the active one. */
  get mayHaveFocus(): boolean {
    return this.isVisible && this.#holder.active !== false;
  }

  /** The user has closed it. */
  get isGone(): boolean {
    return this.#isGone;
  }

  get onDidDispose(): Event<void> {
    return this.#holder.onDidDispose;
  }

  /** Posts a message; one to a page that is gone is dropped. */
  readonly post = (message: ToWebview): void => {
    this.webview.postMessage(message).then(undefined, () => undefined);
  };

  /**
   * Sets the only listener, which first gets the messages that came before.
   * @returns what ends it
   */
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

  /** Hands messages that were already listened to over to the next listener. */
  hearAgain(messages: readonly unknown[]): void {
    for (const message of messages) this.#receive(message);
  }

  /** The holder was shown or hidden, or says so for another reason. */
  tellVisibility(): void {
    const { isVisible } = this;
    if (isVisible === this.#toldVisible) return;
    this.#toldVisible = isVisible;
    this.#listener?.visibilityChanged?.(isVisible);
  }

  /** The user has gone into it. */
  tellActive(): void {
    this.#listener?.activated?.();
  }

  #receive(message: unknown): void {
    this.#spoken();
    if (this.#listener) this.#listener.receive(message);
    else if (this.#kept.length < MOST_KEPT) this.#kept.push(message);
  }

  dispose(): void {
    this.#spoken();
    this.#messages.dispose();
    this.#kept = [];
  }
}
