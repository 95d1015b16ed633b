// Serves a page of the chat while the product could not be loaded: shows why, and keeps the user's
// input until it is loaded.
import type { ActionView, ToWebview } from '../../panel/contract';
import type { Page } from './page';

const TRY_AGAIN: ActionView = { id: 'tryAgain', label: 'Try Again', primary: true };
const SHOW_LOG: ActionView = { id: 'showLog', label: 'Show Log' };

export interface FailedStartActions {
  showLog(): void;
  tryAgain(): void;
}

/**
 * Shows in a page that Parley could not start. A message that the user sends meanwhile stays in the
 * composer.
 * @param why the error's own words
 * @returns what ends it and gives the page back as it was found, with all it has said
 */
export function showFailedStart(page: Page, why: string, actions: FailedStartActions): { dispose(): void } {
  const message = 'Parley could not start.';
  const post = (answer: ToWebview): void => {
    page.webview.postMessage(answer).then(undefined, () => undefined); // the page is gone
  };
  const show = (): void =>
    post({
      type: 'update',
      revision: 1,
      ops: [
        {
          op: 'session',
          patch: {
            phase: 'failed',
            status: 'could not start',
            error: { code: 'start-failed', message, hint: why, actions: [TRY_AGAIN, SHOW_LOG] },
          },
        },
      ],
    });
  /** What the product is told when it is there. */
  const heard: unknown[] = [];
  const take = (raw: unknown): void => {
    const { type, id, clientId, command } = Object(raw) as Record<string, unknown>;
    if (type === 'action' && id === TRY_AGAIN.id) actions.tryAgain();
    else if (type === 'action' || type === 'command') {
      if (id === SHOW_LOG.id || command === SHOW_LOG.id) actions.showLog();
    } else if (type === 'send' && typeof clientId === 'string') post({ type: 'rejected', clientId, reason: message });
    else if (type === 'hello') {
      heard.push(raw);
      show();
    } else if (type !== 'ack') heard.push(raw);
  };
  const listening = page.listen(take, () => undefined);
  show();
  return {
    dispose() {
      listening.dispose();
      page.hearAgain(heard);
    },
  };
}
