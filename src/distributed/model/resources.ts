// A storage server as a session sees it: immutable objects under keys, each readable by anyone who
// has a URL for it. The messages and states of distributed sessions lie there; the kind of server
// is hidden by this interface.
import { createHash } from 'node:crypto';
import { ParleyError } from '../../base/errors';

export interface StoredResource {
  readonly key: string;
  readonly sha256: string;
  readonly bytes: number;
}

export interface UrlOptions {
  readonly expiresIn: number;
  /** Goes into the fragment, so that a reader can tell a changed object. */
  readonly sha256?: string;
  /** `here`: only this window reads the URL, which it knows by its key; absent: anybody. */
  readonly readers?: 'others' | 'here';
}

export interface ResourceStore {
  /** Stable over restarts, without secrets: names the place. */
  readonly id: string;
  readonly isLocal: boolean;
  /**
   * Writes an object, whole or not at all.
   * @throws ParleyError `disk-full`, `store-down`, `store-denied`, `no-such-bucket`, `clock-skew`,
   * `store-error`
   */
  put(key: string, bytes: Uint8Array, contentType: string, signal: AbortSignal): Promise<StoredResource>;
  /** @throws ParleyError `not-found`, `torn`, or as {@link put} */
  get(key: string, signal: AbortSignal): Promise<Uint8Array>;
  /** @throws ParleyError `not-served` while the store has no address */
  urlFor(key: string, options: UrlOptions): Promise<string>;
  /** The key of one of our own URLs, however old its signature; undefined for all others. */
  keyOf(url: string): Promise<string | undefined>;
  /** The server refuses our signatures, so links lead nowhere. Absent: it never does. */
  readonly refusesKeys?: boolean;
  /**
   * Removing a missing object is no error.
   * @throws ParleyError as {@link put}
   */
  remove(key: string, signal: AbortSignal): Promise<void>;
  list?(prefix: string, signal: AbortSignal): Promise<readonly string[]>;
}

/** Day-long links: long enough to hand over, short enough to be lost without much harm. */
export const DEFAULT_URL_SECONDS = 24 * 3600;

/** @throws ParleyError `bad-key` for a key that leaves its folder or that URLs would change */
export function checkKey(key: string): string {
  const segments = key.split('/');
  const isBad = segments.some((segment) => segment === '' || segment === '.' || segment === '..');
  if (isBad || key.length > 900 || hasControls(key))
    throw new ParleyError('bad-key', 'The key of the resource is not valid.');
  return key;
}

export const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/;
export const ID_AT_END = new RegExp(`(${UUID.source})(\\.[a-z0-9]{1,8})?$`);

/** Ids can't be guessed: a caller that names one was given a link. */
export function isMinted(key: string): boolean {
  return ID_AT_END.test(key);
}

function hasControls(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) < 32 || text.charCodeAt(at) === 127) return true;
  return !text.isWellFormed();
}

/** The folder of a session: its id if that is a plain name on every file system, else a hash of it. */
export function folderOf(sessionId: string): string {
  const isPlain = /^[a-z0-9][a-z0-9-]{7,63}$/.test(sessionId);
  return `sessions/${isPlain ? sessionId : `h-${sha256Of(Buffer.from(sessionId)).slice(0, 40)}`}/`;
}

export function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
