// Loads the product on first use. A failure is not retried automatically: each page shows it with a
// button to try again.
import * as l10n from '@vscode/l10n';
import type { LogOutputChannel } from 'vscode';
import { messageOf } from '../../base/errors';
import type { ActionView } from '../../panel/contract';
import type { Page } from './page';

interface Startable {
  readonly chat: { fill(page: Page): void };
  end(): Promise<void>;
}

type StartLog = Pick<LogOutputChannel, 'error' | 'show'>;

type State<P> =
  | { readonly kind: 'unloaded' }
  | { readonly kind: 'loaded'; readonly product: P }
  | { readonly kind: 'failed'; readonly why: string }
  | { readonly kind: 'ended' };

export class Starter<P extends Startable> {
  readonly #compose: () => P;
  readonly #log: () => StartLog;
  readonly #failedPages = new Map<Page, { dispose(): void }>();
  #state: State<P> = { kind: 'unloaded' };
  #isWanted = false;

  constructor(compose: () => P, log: () => StartLog) {
    this.#compose = compose;
    this.#log = log;
  }

  get isWanted(): boolean {
    return this.#isWanted || this.#state.kind !== 'unloaded';
  }

  get isLoaded(): boolean {
    return this.#state.kind === 'loaded';
  }

  /** @throws Error of the first attempt, without retrying */
  product(): P {
    this.prepare();
    const state = this.#state;
    if (state.kind === 'loaded') return state.product;
    throw new Error(
      state.kind === 'failed' ? l10n.t("Couldn't start Parley: {0}", state.why) : l10n.t('Parley has ended.'),
    );
  }

  /** Loads the product once. Never throws. @returns whether it is loaded */
  prepare(): boolean {
    if (this.#state.kind === 'unloaded') this.#load();
    return this.isLoaded;
  }

  async fill(page: Page): Promise<void> {
    this.#isWanted = true;
    await page.hasBegun;
    if (page.isGone || this.#state.kind === 'ended') return;
    if (!this.prepare()) {
      if (this.#state.kind === 'failed') this.#showFailure(page, this.#state.why);
      return;
    }
    try {
      this.product().chat.fill(page);
    } catch (error) {
      this.#recordFailure(error);
      this.#showFailure(page, messageOf(error));
    }
  }

  async end(): Promise<void> {
    const state = this.#state;
    this.#state = { kind: 'ended' };
    if (state.kind === 'loaded') await state.product.end();
  }

  #load(): void {
    try {
      this.#state = { kind: 'loaded', product: this.#compose() };
    } catch (error) {
      this.#state = { kind: 'failed', why: messageOf(error) };
      this.#recordFailure(error);
    }
  }

  #recordFailure(error: unknown): void {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.#log().error(l10n.t("Couldn't start Parley: {0}", text));
  }

  #showFailure(page: Page, why: string): void {
    this.#failedPages.get(page)?.dispose();
    const failure = showFailedStart(page, why, {
      showLog: () => this.#log().show(),
      tryAgain: () => this.#retry(),
    });
    this.#failedPages.set(page, failure);
    page.onDidDispose(() => this.#failedPages.delete(page));
  }

  #retry(): void {
    if (this.#state.kind === 'failed') this.#state = { kind: 'unloaded' };
    const pages = [...this.#failedPages];
    this.#failedPages.clear();
    for (const [page, failure] of pages) {
      failure.dispose();
      void this.fill(page);
    }
  }
}

const tryAgain = (): ActionView => ({ id: TRY_AGAIN, label: l10n.t('Try again'), primary: true });
const showLog = (): ActionView => ({ id: SHOW_LOG, label: l10n.t('Show log') });

const TRY_AGAIN = 'tryAgain';
const SHOW_LOG = 'showLog';

interface FailedStartActions {
  showLog(): void;
  tryAgain(): void;
}

/** Keeps a sent message in the composer. @returns what ends that and passes all messages on */
function showFailedStart(page: Page, why: string, actions: FailedStartActions): { dispose(): void } {
  const message = l10n.t("Couldn't start Parley.");
  const { post } = page;
  const show = (): void =>
    post({
      type: 'update',
      revision: 1,
      ops: [
        {
          op: 'session',
          patch: {
            phase: 'failed',
            status: l10n.t("couldn't start"),
            error: { code: 'start-failed', message, hint: why, actions: [tryAgain(), showLog()] },
          },
        },
      ],
    });
  const heard: unknown[] = [];
  const take = (raw: unknown): void => {
    const { type, id, clientId, command } = Object(raw) as Record<string, unknown>;
    if (type === 'action' && id === TRY_AGAIN) actions.tryAgain();
    else if (type === 'action' || type === 'command') {
      if (id === SHOW_LOG || command === SHOW_LOG) actions.showLog();
    } else if (type === 'send' && typeof clientId === 'string') post({ type: 'rejected', clientId, reason: message });
    else if (type === 'hello') {
      heard.push(raw);
      show();
    } else if (type !== 'ack') heard.push(raw);
  };
  const listening = page.listen({ receive: take });
  show();
  return {
    dispose() {
      listening.dispose();
      page.redeliver(heard);
    },
  };
}
