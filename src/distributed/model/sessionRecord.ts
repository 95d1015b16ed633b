// What this machine knows of a session besides its descriptor: where each of its own entries lies,
// by key. Never sent; URLs are made from it on demand, so that links stay fresh and a port may
// change.
import * as z from 'zod/mini';
import { idSchema, MAX_HISTORY, readAs, urlSchema } from './model';

const ownSchema = z.object({
  kind: z.literal('own'),
  storeId: z.string(),
  key: z.string(),
  sha256: z.string().check(z.regex(/^[0-9a-f]{64}$/)),
  bytes: z.number(),
  /** It is on this machine, to be uploaded to the storage server under the same key. */
  waits: z.optional(z.literal(true)),
});
const foreignSchema = z.object({ kind: z.literal('foreign'), url: urlSchema });
const placeSchema = z.discriminatedUnion('kind', [ownSchema, foreignSchema]);

export const MAX_EARLIER_STATES = 8;

const recordSchema = z.object({
  id: idSchema,
  entries: z.array(placeSchema).check(z.maxLength(MAX_HISTORY)),
  state: z.optional(placeSchema),
  earlier: z.optional(z.array(ownSchema).check(z.maxLength(MAX_EARLIER_STATES))),
  dropped: z.optional(z.array(z.string()).check(z.maxLength(MAX_HISTORY))),
});

export type OwnPlace = Readonly<z.infer<typeof ownSchema>>;
export type ForeignPlace = Readonly<z.infer<typeof foreignSchema>>;
export type Place = OwnPlace | ForeignPlace;

/** Plain JSON; the keeper returns it unchanged. */
export interface SessionRecord {
  readonly id: string;
  readonly entries: readonly Place[];
  readonly state?: Place | undefined;
  /** Own states that were replaced and still exist, the newest last. */
  readonly earlier?: readonly OwnPlace[] | undefined;
  readonly dropped?: readonly string[] | undefined;
}

/** Reads a record that was kept. @throws ParleyError `invalid-data` */
export function readRecord(value: unknown): SessionRecord {
  return readAs(recordSchema, value, 'The record of the session');
}
