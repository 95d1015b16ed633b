// Reads the setting `parley.resources`: where messages of sessions are stored, and from which
// servers they may be read.

import * as z from 'zod/mini';
import { ParleyError } from '../../base/errors';
import { localizable, localize } from '../../base/localizable';
import { objectUrl, type S3Location } from '../ports/resources';

export type ResourcesSetting = { readonly type: 'local' } | { readonly type: 's3'; readonly place: S3Location };

const text = z.string().check(z.minLength(1));
const schema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('local') }),
  z.object({
    type: z.literal('s3'),
    endpoint: text,
    region: text,
    bucket: text,
    prefix: z.optional(z.string()),
    pathStyle: z.optional(z.boolean()),
  }),
]);

/** @throws ParleyError `bad-setting` */
export function parseResources(setting: unknown): ResourcesSetting {
  if (setting === undefined || setting === null) return { type: 'local' };
  const parsed = schema.safeParse(setting);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const field = issue?.path.map(String).join('.') || 'type';
    throw new ParleyError('bad-setting', localizable('The setting parley.resources is invalid: check "{0}".', field), {
      hint: localizable(
        'Use {"type": "local"} or {"type": "s3", "endpoint": "https://…", "region": "…", "bucket": "…"}.',
      ),
    });
  }
  if (parsed.data.type === 'local') return { type: 'local' };
  const { endpoint, region, bucket, prefix = '', pathStyle = true } = parsed.data;
  const folder = prefix === '' || prefix.endsWith('/') ? prefix : `${prefix}/`;
  return { type: 's3', place: { endpoint, region, bucket, prefix: folder, pathStyle } };
}

/** Keys are never used for another server or bucket. */
export function keysName({ endpoint, bucket }: S3Location): string {
  return `${new URL(endpoint).origin} ${bucket}`;
}

export function originsOf(place: S3Location): readonly string[] {
  return [new URL(place.endpoint).origin, objectUrl(place, 'x').origin];
}

const MAX_ORIGINS = 1000;

export interface AllowSetting {
  readonly origins: readonly string[];
  readonly problems: readonly string[];
}

/** Reads `parley.resources.allow`. Invalid entries are reported and skipped. */
export function parseAllow(setting: unknown): AllowSetting {
  if (setting === undefined || setting === null) return { origins: [], problems: [] };
  if (!Array.isArray(setting))
    return { origins: [], problems: [localize(localizable('It must be a list of origins.'))] };
  const origins = new Set<string>();
  const problems: string[] = [];
  const wrong: number[] = [];
  for (const [index, entry] of setting.slice(0, MAX_ORIGINS).entries()) {
    const origin = originOfEntry(entry);
    if (origin !== undefined) origins.add(origin);
    else wrong.push(index + 1);
  }
  // Entries aren't repeated: one may contain a password.
  if (wrong.length > 0)
    problems.push(
      wrong.length === 1
        ? localize(localizable("Entry {0} isn't an origin.", wrong.join()))
        : localize(localizable("Entries {0} aren't origins.", wrong.join(', '))),
    );
  if (setting.length > MAX_ORIGINS)
    problems.push(localize(localizable('Only the first {0} entries are read.', MAX_ORIGINS)));
  return { origins: [...origins], problems };
}

/** Accepts scheme, host and port only: a path, user or pattern would seem to narrow the origin. */
function originOfEntry(entry: unknown): string | undefined {
  if (typeof entry !== 'string' || !/^https?:\/\/[^/\\?#@*\s]+\/?$/i.test(entry) || !URL.canParse(entry))
    return undefined;
  return new URL(entry).origin;
}
