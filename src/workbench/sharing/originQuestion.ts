// The words of the question which servers on this machine or in the network a session may be read
// from.
import { l10n } from 'vscode';
import type { AskedOrigin } from '../../distributed/fetch/originConsent';

/** Servers in one question: users must see all that they agree to. */
const MAX_LISTED = 25;

export interface OriginQuestion {
  readonly text: string;
  readonly detail: string;
  readonly listed: readonly string[];
}

/** @param origins at least one, the most important first */
export function originQuestion(origins: readonly AskedOrigin[]): OriginQuestion {
  const shown = origins.slice(0, MAX_LISTED);
  const more = origins.length - shown.length;
  const [first] = origins;
  const text =
    first && origins.length === 1
      ? l10n.t('Read this session from {0}, which is on {1}?', first.origin, placeOf(first))
      : l10n.t(
          'This session has messages on {0} servers on this machine or in your network. Read them?',
          origins.length,
        );
  const lines = shown.map(lineOf);
  const unasked = l10n.t(
    '{0} more servers are not allowed. Select Retry on a missing message to allow its server.',
    more,
  );
  const advice = l10n.t("The session's author chose these addresses. Continue only if you trust the servers.");
  const list = [...lines, ...(more > 0 ? [unasked] : [])].join('\n');
  return {
    text,
    detail: origins.length === 1 ? advice : `${advice}\n\n${list}`,
    listed: shown.map(({ origin }) => origin),
  };
}

function lineOf(asked: AskedOrigin): string {
  const { origin, count } = asked;
  if (count === 1) return l10n.t('{0} ({1}, 1 message)', origin, placeOf(asked));
  return l10n.t('{0} ({1}, {2} messages)', origin, placeOf(asked), count);
}

function placeOf({ found }: AskedOrigin): string {
  return found === 'local' ? l10n.t('this machine') : l10n.t('your network');
}
