// Serves a page of the chat while the product could not be loaded: shows why, and keeps the user's
// input until it is loaded.
import * as l10n from '@vscode/l10n';
import type { ActionView } from '../../panel/contract';
import type { Page } from './page';

const tryAgain = (): ActionView => ({ id: TRY_AGAIN, label: l10n.t('Try again'), primary: true });
const showLog = (): ActionView => ({ id: SHOW_LOG, label: l10n.t('Show log') });

const TRY_AGAIN = 'tryAgain';
const SHOW_LOG = 'showLog';

export interface FailedStartActions {
  showLog(): void;
  tryAgain(): void;
}

/**
 * A sent message stays in the composer.
 * @returns what ends it and passes all messages on
 */
export function showFailedStart(page: Page, why: string, actions: FailedStartActions): { dispose(): void } {
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
      page.hearAgain(heard);
    },
  };
}
