// Reads and writes what our server stores of a session: where the messages of each of its versions
// are.
import * as z from 'zod/mini';
import { ParleyError } from '../../base/errors';
import { readAs, urlSchema } from '../model/model';

const placeSchema = z.object({
  /** As it was handed out last; our own links are signed again. */
  url: urlSchema,
  /** `waits`: the storage server did not take it; it is uploaded from this machine under the same key. */
  own: z.optional(z.object({ store: z.string(), key: z.string(), waits: z.optional(z.literal(true)) })),
});
const versionSchema = z.object({ version: z.string(), entries: z.array(placeSchema), state: z.optional(placeSchema) });
const recordSchema = z.object({
  id: z.string(),
  versions: z.array(versionSchema).check(z.minLength(1)),
  /** Another client's version is first, and callers by id were not told yet. */
  isContested: z.optional(z.boolean()),
});

export type Place = Readonly<z.infer<typeof placeSchema>>;
export type Version = Readonly<z.infer<typeof versionSchema>>;
export type SessionRecord = Readonly<z.infer<typeof recordSchema>>;

/** Equal for the same message: of our own by its key, in whatever store it lies. */
export function nameOf({ url, own }: Place): string {
  return own ? `own ${own.key}` : url;
}

/** The version that runs by the session's id continue. */
export function firstOf({ versions }: SessionRecord): Version {
  const [first] = versions;
  if (!first) throw new ParleyError('invalid-data', 'The record of the session is empty.');
  return first;
}

/** Reads what was kept. @throws ParleyError `invalid-data` */
export function recordOf(text: string): SessionRecord {
  return readAs(recordSchema, JSON.parse(text), 'The record of the session');
}
