// Determines why an agent server could not load a session's history: the dead links, and the user's
// options.

import { framed, type LocalizableText, localizable } from '../../base/localizable';
import type { HistoryLinks } from '../fetch/historyLinks';
import { redactUrl, urlIdentity } from '../model/resourceUrl';

export const CONTINUE_WITHOUT = 'continue:without';
export const SEND_TRANSCRIPT = 'continue:transcript';
export const CONTINUE_RECORDED = 'continue:recorded';

export interface DeadLink {
  readonly index: number;
  readonly url: string;
  readonly why?: LocalizableText;
}

/** Wording of HTTP clients for failed requests: httpx (the original server), Node and others. */
const LOAD_FAILURE =
  /connection attempts? failed|connect(ion)? ?error|connection (refused|reset|timed out)|client error '?4\d\d|server error '?5\d\d|fetch failed|read ?timeout|timed out|name or service|getaddrinfo|ECONN|ENOTFOUND|validation error/i;
const URLS = /https?:\/\/[^\s'"<>\\]+/gi;
/** The original server names missing resources in its store by id. */
const IDS = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi;
const MAX_NAMED = 3;

export function isLoadFailure(errorText: string): boolean {
  return LOAD_FAILURE.test(errorText);
}

/** The links that a failed run names, and those that don't respond here either. */
export async function deadLinks(
  errorText: string,
  history: readonly string[],
  links: HistoryLinks | undefined,
  signal: AbortSignal,
): Promise<readonly DeadLink[]> {
  const urls = new Set((errorText.match(URLS) ?? []).map((url) => urlIdentity(url.replace(/[).,;:]+$/, ''))));
  const ids = new Set(errorText.match(IDS));
  const isNamed = (url: string): boolean => urls.has(urlIdentity(url)) || ids.has(lastSegment(url));
  const found = await Promise.all(
    history.map(async (url, index): Promise<readonly DeadLink[]> => {
      const why = await links?.whyUnreadable(url, signal).catch(() => undefined);
      // A link that was not checked in time may be alive.
      if (why !== undefined && !signal.aborted) return [{ index, url, why }];
      return isNamed(url) ? [{ index, url }] : [];
    }),
  );
  return found.flat();
}

function lastSegment(url: string): string {
  return URL.canParse(url) ? (new URL(url).pathname.split('/').at(-1) ?? '') : '';
}

/** Actions after a failed run, and a sentence that names what is missing. */
export interface RecoveryActions {
  readonly hint: LocalizableText;
  readonly actions: readonly { readonly id: string; readonly label: LocalizableText }[];
}

export function recoveryActions(dead: readonly DeadLink[], total: number): RecoveryActions {
  const numbers = dead.slice(0, MAX_NAMED).map(({ index }) => index + 1);
  const [first] = dead;
  const transcript = { id: SEND_TRANSCRIPT, label: localizable('Send transcript instead') };
  if (!first) {
    const hint = localizable('The agent server may be unable to reach the servers with the earlier messages.');
    return { hint, actions: [transcript] };
  }
  const address = redactUrl(first.url);
  const where = first.why === undefined ? `${address}.` : framed('{0}: {1}', address, first.why);
  const isOne = dead.length === 1;
  const label = isOne
    ? localizable('Continue without message {0}', numbers[0] ?? 0)
    : localizable('Continue without {0} messages', dead.length);
  const hint = isOne
    ? localizable("Message {0} of {1} can't be read from {2}", numbers[0] ?? 0, total, where)
    : localizable(
        "{0} of {1} messages can't be read: {2}. The first is on {3}",
        dead.length,
        total,
        `${numbers.join(', ')}${dead.length > MAX_NAMED ? ', …' : ''}`,
        where,
      );
  return { hint, actions: [{ id: CONTINUE_WITHOUT, label }, transcript] };
}

/** After a failed run that included messages that no server had recorded. */
export function withoutUnrecorded(count: number): RecoveryActions {
  const [hint, label] =
    count === 1
      ? [
          localizable('No server has 1 earlier message, so the agent got it with yours.'),
          localizable('Continue without 1 earlier message'),
        ]
      : [
          localizable('No server has {0} earlier messages, so the agent got them with yours.', count),
          localizable('Continue without {0} earlier messages', count),
        ];
  return { hint, actions: [{ id: CONTINUE_RECORDED, label }] };
}
