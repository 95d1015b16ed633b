// What the user configured in `parley.resources`: where the messages of sessions are kept.
import * as z from 'zod/mini';
import { ParleyError } from '../base/errors';
import type { S3Place } from '../distributed/s3Signer';

export type ResourcesSetting = { readonly type: 'local' } | { readonly type: 's3'; readonly place: S3Place };

const text = z.string().check(z.minLength(1, 'must not be empty'));
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

/** Reads the setting; absent means on this machine. @throws ParleyError `bad-setting` */
export function parseResources(setting: unknown): ResourcesSetting {
  if (setting === undefined || setting === null) return { type: 'local' };
  const parsed = schema.safeParse(setting);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const field = issue?.path.map(String).join('.') || 'type';
    throw new ParleyError('bad-setting', `The setting parley.resources cannot be used: its "${field}" is not right.`, {
      hint: 'It is {"type": "local"} or {"type": "s3", "endpoint": "https://…", "region": "…", "bucket": "…"}.',
    });
  }
  if (parsed.data.type === 'local') return { type: 'local' };
  const { endpoint, region, bucket, prefix = '', pathStyle = true } = parsed.data;
  const folder = prefix === '' || prefix.endsWith('/') ? prefix : `${prefix}/`;
  return { type: 's3', place: { endpoint, region, bucket, prefix: folder, pathStyle } };
}

/** Names the keys of a place: they are never used for another server or bucket. */
export function keysName({ endpoint, bucket }: S3Place): string {
  return `${new URL(endpoint).origin} ${bucket}`;
}
