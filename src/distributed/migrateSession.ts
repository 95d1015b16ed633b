// Moves a session to another resource server: our own objects are copied and their URLs rewritten, URLs of others stay as they are and where they are.
import { messageOf } from '../base/errors';
import type { SessionDescriptor } from './model';
import { DEFAULT_URL_SECONDS, type ResourceStore, type StoredResource } from './resources';

export interface MigrationOptions {
  readonly from: ResourceStore;
  readonly to: ResourceStore;
  /** Seconds until the new URLs end; a day unless told otherwise. */
  readonly expiresIn?: number;
}

export interface MigrationResult {
  /** The session with the new URLs, everything in its old order. */
  readonly descriptor: SessionDescriptor;
  /** Old and new place of what was copied; nothing is removed, so that links that were given away go on to work. */
  readonly moved: readonly { readonly key: string; readonly sha256: string; readonly state: 'stored' | 'queued' }[];
  /** Own entries that could not be read here (`index` into the history, -1 for the state): they keep their old URLs. */
  readonly unreadable: readonly { readonly index: number; readonly reason: string }[];
}

/**
 * Copies what of a session lies in `from` to `to`, in order.
 * @throws ParleyError of the new store; the descriptor is then unchanged, and doing it again is safe
 */
export async function migrateSession(
  descriptor: SessionDescriptor,
  options: MigrationOptions,
  signal: AbortSignal,
): Promise<MigrationResult> {
  const moved: { key: string; sha256: string; state: 'stored' | 'queued' }[] = [];
  const unreadable: { index: number; reason: string }[] = [];
  const expiresIn = options.expiresIn ?? DEFAULT_URL_SECONDS;

  const move = async (url: string, index: number, contentType: string): Promise<string> => {
    const key = await options.from.keyOf(url);
    if (key === undefined) return url;
    const copied = await copyResource(options.from, options.to, key, contentType, signal);
    if (copied.kind === 'unreadable') {
      unreadable.push({ index, reason: copied.reason });
      return url;
    }
    const { sha256, state } = copied.stored;
    moved.push({ key, sha256, state });
    return await options.to.urlFor(key, { expiresIn, sha256 });
  };

  const history: string[] = [];
  for (const [index, url] of descriptor.history.entries()) history.push(await move(url, index, 'application/json'));
  const state =
    descriptor.state === undefined ? undefined : await move(descriptor.state, -1, 'application/octet-stream');
  return { descriptor: { ...descriptor, history, ...(state !== undefined && { state }) }, moved, unreadable };
}

/** Copies one object under its key. @throws ParleyError of the new store */
export async function copyResource(
  from: ResourceStore,
  to: ResourceStore,
  key: string,
  contentType: string,
  signal: AbortSignal,
): Promise<
  | { readonly kind: 'copied'; readonly stored: StoredResource }
  | { readonly kind: 'unreadable'; readonly reason: string }
> {
  let bytes: Uint8Array;
  try {
    bytes = await from.get(key, signal);
  } catch (error) {
    signal.throwIfAborted();
    return { kind: 'unreadable', reason: messageOf(error) };
  }
  return { kind: 'copied', stored: await to.put(key, bytes, contentType, signal) };
}
