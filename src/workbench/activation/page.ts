// The chat's page in a view or panel, from the moment VS Code provides it. Messages are queued
// until there is a listener.
import type { Event, Uri, Webview } from 'vscode';
import type { Disposable } from '../../base/disposable';
import type { Begun, ToWebview } from '../../panel/contract';
import { pageHtml, webviewRoot } from './pageHtml';

/** Maximum wait for a hidden or broken page, in ms. */
const BEGIN_TIMEOUT_MS = 1000;

const BEGUN: Begun['type'] = 'begun';

const MAX_QUEUED = 1000;

export interface PageHolder {
  readonly webview: Webview;
  readonly visible: boolean;
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
  readonly restored: { readonly state: unknown } | undefined;
  /** Resolves when the page's first script runs, or after a timeout. */
  readonly hasBegun: Promise<void>;
  readonly #holder: PageHolder;
  readonly #subscription: Disposable;
  #resolveBegun = (): void => {};
  #queuedMessages: unknown[] = [];
  #listener: PageListener | undefined;
  #reportedVisible: boolean;
  #isGone = false;

  constructor(holder: PageHolder, extensionUri: Uri, restored?: { readonly state: unknown }) {
    const { webview } = holder;
    this.webview = webview;
    this.restored = restored;
    this.#holder = holder;
    this.#reportedVisible = holder.visible;
    this.hasBegun = new Promise((resolve) => {
      const timeout = setTimeout(resolve, BEGIN_TIMEOUT_MS);
      this.#resolveBegun = () => {
        clearTimeout(timeout);
        resolve();
      };
    });
    webview.options = { enableScripts: true, localResourceRoots: [webviewRoot(extensionUri)] };
    this.#subscription = webview.onDidReceiveMessage(this.#receive);
    holder.onDidDispose(() => {
      this.#isGone = true;
      this.dispose();
    });
    webview.html = pageHtml(webview, extensionUri);
  }

  get isVisible(): boolean {
    return !this.#isGone && this.#holder.visible;
  }

  /** Whether the page may have the focus; false while another editor is active. */
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

  /** Sets the only listener and passes it the queued messages. */
  listen(listener: PageListener): Disposable {
    this.#listener = listener;
    const queued = this.#queuedMessages;
    this.#queuedMessages = [];
    for (const message of queued) listener.receive(message);
    return {
      dispose: () => {
        this.#listener = undefined;
      },
    };
  }

  redeliver(messages: readonly unknown[]): void {
    for (const message of messages) this.#receive(message);
  }

  fireVisibility(): void {
    const { isVisible } = this;
    if (isVisible === this.#reportedVisible) return;
    this.#reportedVisible = isVisible;
    this.#listener?.visibilityChanged?.(isVisible);
  }

  fireActivated(): void {
    this.#listener?.activated?.();
  }

  readonly #receive = (message: unknown): void => {
    this.#resolveBegun();
    if (Object(message).type === BEGUN) return;
    if (this.#listener) this.#listener.receive(message);
    else if (this.#queuedMessages.length < MAX_QUEUED) this.#queuedMessages.push(message);
  };

  dispose(): void {
    this.#resolveBegun();
    this.#subscription.dispose();
    this.#queuedMessages = [];
  }
}
