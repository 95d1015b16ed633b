// Explains the errors of an S3-compatible server and what to do. Of its answer, only the error code
// is read.

import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';

/** Differences between clocks below this are never the reason. */
const SKEW_MS = 5 * 60_000;
/** How servers of another kind refuse to store an object; an S3-compatible one adds an error code. */
const NOT_S3: ReadonlySet<number> = new Set([404, 405, 410, 501]);

export interface S3Refusal {
  readonly status: number;
  readonly body: string;
  readonly date: string | null;
  /** Milliseconds since 1970, here. */
  readonly now: number;
  readonly isWrite: boolean;
}

export function s3Error(refusal: S3Refusal): ParleyError {
  const { status, isWrite } = refusal;
  const code = /<Code>([A-Za-z0-9]{1,64})<\/Code>/.exec(refusal.body)?.[1] ?? '';
  const skew = skewOf(refusal);
  if (code === 'RequestTimeTooSkewed' || (status === 403 && Math.abs(skew) > 3 * SKEW_MS)) {
    const minutes = Math.round(Math.abs(skew) / 60_000);
    const message =
      minutes === 0
        ? localizable("This machine's clock differs from the storage server's.")
        : skew > 0
          ? localizable("This machine's clock is {0} minutes ahead of the storage server's.", minutes)
          : localizable("This machine's clock is {0} minutes behind the storage server's.", minutes);
    return new ParleyError('clock-skew', message, {
      hint: localizable('Correct the clock of this machine.'),
    });
  }
  if (code === 'NoSuchBucket') {
    return new ParleyError('no-such-bucket', localizable("The bucket doesn't exist on the storage server."), {
      hint: localizable('Create the bucket, or correct its name in the settings.'),
    });
  }
  if (isWrite && code === '' && NOT_S3.has(status)) {
    return new ParleyError(
      'wrong-endpoint',
      localizable("The server at the endpoint doesn't answer like an S3-compatible storage server ({0}).", status),
      {
        hint: localizable('Correct the endpoint in the settings.'),
      },
    );
  }
  if (status === 404) return new ParleyError('not-found', localizable("The storage server doesn't have this object."));
  if (status === 301 || status === 307 || code === 'AuthorizationHeaderMalformed') {
    return new ParleyError('wrong-region', localizable('The bucket is in another region, or at another endpoint.'), {
      hint: localizable('Correct the region and the endpoint in the settings.'),
    });
  }
  if (status === 401 || status === 403) {
    return new ParleyError(
      'store-denied',
      localizable('The storage server denied access{0}.', code === '' ? '' : ` (${code})`),
      {
        hint: localizable('Check the access key and its permissions for the bucket.'),
      },
    );
  }
  if (status === 408 || status === 409 || status === 429 || (status >= 500 && status !== 501)) {
    return new ParleyError('store-down', localizable('The storage server is unavailable ({0}).', status));
  }
  return new ParleyError(
    'store-error',
    localizable('The storage server rejected the request ({0}{1}).', status, code === '' ? '' : ` ${code}`),
  );
}

function skewOf({ date, now }: S3Refusal): number {
  const there = Date.parse(date ?? '');
  const skew = Number.isNaN(there) ? 0 : now - there;
  return Math.abs(skew) < SKEW_MS ? 0 : skew;
}

/** Returns whether an error is about one object: those behind it needn't wait. */
export function isOfObject(error: unknown): error is ParleyError {
  return error instanceof ParleyError && /^(store-error|too-large|bad-key|torn)$/.test(error.code);
}

/** Returns whether a server answers the same until the settings, the keys, the clock or the bucket change. */
export function isOfSettings({ code }: ParleyError): boolean {
  return /^(store-denied|no-such-bucket|wrong-region|wrong-endpoint|clock-skew)$/.test(code);
}
