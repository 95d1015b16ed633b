// Makes sure that links can be read before they are given away: their objects are on the server,
// and the server accepts the key that signs them.

import { ParleyError } from '../../base/errors';
import { framed, localizable } from '../../base/localizable';
import type { S3Store } from './s3Store';
import { isRefusal, type WriteQueue } from './writeQueue';

/** A bucket, and what waits for it. */
export interface Bucket {
  readonly queue: Pick<WriteQueue, 'keyOf' | 'isWaiting' | 'flush'>;
  readonly store: Pick<S3Store, 'probeLink'>;
}

/** Why links are not given away. Its hint says what to do. */
export class UnreadableLinks extends ParleyError {
  readonly reason: ParleyError;
  /** They can be read as soon as the server is back: nothing has to be changed for that. */
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
    this.onlyLater = waiting > 0 && !isRefusal(reason);
  }
}

/**
 * Sends what waits behind links into a bucket, and reads the newest of them as others will.
 * @param urls of a session; those that lead elsewhere are not looked at
 * @throws ParleyError `links-unreadable`, an {@link UnreadableLinks}; `cancelled`
 */
export async function ensureReadable(urls: readonly string[], { queue, store }: Bucket, signal: AbortSignal) {
  const keys = (await Promise.all(urls.map((url) => queue.keyOf(url)))).filter((key) => key !== undefined);
  const newest = keys.at(-1);
  if (newest === undefined) return;
  const count = (): number => keys.filter((key) => queue.isWaiting(key)).length;
  try {
    // What waits of other sessions does not hold this one up.
    if (count() > 0) {
      await queue.flush(signal).catch((error: unknown) => {
        if (count() > 0) throw error;
      });
    }
    await store.probeLink(newest, signal);
  } catch (error) {
    if (signal.aborted) throw new ParleyError('cancelled', localizable("The session wasn't shared."));
    if (!(error instanceof ParleyError)) throw error;
    throw new UnreadableLinks(count(), keys.length, error);
  }
}
