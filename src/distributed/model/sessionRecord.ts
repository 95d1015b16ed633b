// Where a session's own entries are stored, by key. Never sent; URLs are made from it on demand, so
// that links are fresh and the port may change.
import * as z from 'zod/mini';
import { idSchema, MAX_HISTORY, readAs, urlSchema } from './model';

const ownSchema = z.object({
  kind: z.literal('own'),
  storeId: z.string(),
  key: z.string(),
  sha256: z.string().check(z.regex(/^[0-9a-f]{64}$/)),
  bytes: z.number(),
  /** Still on this machine, to be uploaded under the same key. */
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

/** Plain JSON. */
export interface SessionRecord {
  readonly id: string;
  readonly entries: readonly Place[];
  readonly state?: Place | undefined;
  /** Replaced own states that still exist, newest last. */
  readonly earlier?: readonly OwnPlace[] | undefined;
  readonly dropped?: readonly string[] | undefined;
}

/** @throws ParleyError `invalid-data` */
export function readRecord(value: unknown): SessionRecord {
  return readAs(recordSchema, value, 'The record of the session');
}
