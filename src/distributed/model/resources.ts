// The interface of a storage server for messages and states: immutable objects under keys, readable
// by anyone who has a URL.
import { createHash } from 'node:crypto';
import { ParleyError } from '../../base/errors';

export interface StoredResource {
  readonly key: string;
  readonly sha256: string;
  readonly bytes: number;
}

export interface UrlOptions {
  readonly expiresIn: number;
  /** Added to the fragment, so that readers can detect changes. */
  readonly sha256?: string;
  /** `here`: only this window reads the URL, by its key. Absent: anyone. */
  readonly readers?: 'others' | 'here';
}

export interface ResourceStore {
  /** Stable across restarts, without secrets. */
  readonly id: string;
  readonly isLocal: boolean;
  /**
   * Atomic.
   * @throws ParleyError `disk-full`, `store-down`, `store-denied`, `no-such-bucket`, `clock-skew`,
   * `store-error`
   */
  put(key: string, bytes: Uint8Array, contentType: string, signal: AbortSignal): Promise<StoredResource>;
  /** @throws ParleyError `not-found`, `torn`, or as {@link put} */
  get(key: string, signal: AbortSignal): Promise<Uint8Array>;
  /** @throws ParleyError `not-served` while the store has no address */
  urlFor(key: string, options: UrlOptions): Promise<string>;
  /** The key of our own URL, even if its signature has expired; undefined for others. */
  keyOf(url: string): Promise<string | undefined>;
  /** The server rejects our signatures, so links don't work. */
  readonly refusesKeys?: boolean;
  /** A missing object is no error. Throws as {@link put}. */
  remove(key: string, signal: AbortSignal): Promise<void>;
  list?(prefix: string, signal: AbortSignal): Promise<readonly string[]>;
}

/** A day: long enough to hand over, short enough to limit a leak. */
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

/** The id if it is a plain name on every file system, otherwise its hash. */
export function folderOf(sessionId: string): string {
  const isPlain = /^[a-z0-9][a-z0-9-]{7,63}$/.test(sessionId);
  return `sessions/${isPlain ? sessionId : `h-${sha256Of(Buffer.from(sessionId)).slice(0, 40)}`}/`;
}

export function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
