// Copies an object from one resource server to another.
import { messageOf } from '../../base/errors';
import type { ResourceStore, StoredResource } from '../model/resources';

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
