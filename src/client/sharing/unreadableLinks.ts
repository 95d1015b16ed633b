// Why links into a bucket are not given away: messages behind them are not on the server, or it
// doesn't accept the key that signs them.
import { ParleyError } from '../../base/errors';
import { framed, localizable } from '../../base/localizable';
import { isOfObject, isOfSettings, type S3Store } from '../ports/resources';

export class UnreadableLinks extends ParleyError {
  readonly reason: ParleyError;
  readonly onlyLater: boolean;

  constructor(waiting: number, all: number, reason: ParleyError) {
    const what =
      waiting > 0
        ? localizable(
            "The storage server doesn't have all messages of this session yet: {0} of {1} are waiting.",
            waiting,
            all,
          )
        : localizable("The links to the messages of this session can't be read.");
    super('links-unreadable', framed('{0} {1}', what, reason.texts.message), {
      hint: reason.texts.hint,
      cause: reason,
    });
    this.reason = reason;
    this.onlyLater = waiting > 0 && !isOfSettings(reason) && !isOfObject(reason);
  }
}

/**
 * Reads the newest link into the bucket as others will.
 * @throws ParleyError `links-unreadable`, `cancelled`
 */
export async function ensureReadable(
  urls: readonly string[],
  store: Pick<S3Store, 'keyOf' | 'probeLink'>,
  signal: AbortSignal,
): Promise<void> {
  const keys = (await Promise.all(urls.map((url) => store.keyOf(url)))).filter((key) => key !== undefined);
  const newest = keys.at(-1);
  if (newest === undefined) return;
  try {
    await store.probeLink(newest, signal);
  } catch (error) {
    if (signal.aborted) throw new ParleyError('cancelled', localizable("The session wasn't shared."));
    throw error instanceof ParleyError ? new UnreadableLinks(0, keys.length, error) : error;
  }
}
