// The store in the extension's storage, one file per object. A loopback server serves them by id to
// anyone with a signed URL; without it, they are readable by key only.

import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import {
  checkKey,
  ID_AT_END,
  type ResourceStore,
  type StoredResource,
  type UrlOptions,
  UUID,
} from '../model/resources';
import { signResource, verifyResource, withHash } from '../model/resourceUrl';
import { diskError, readFramed, writeFramed } from './framedFile';

export interface LocalStoreOptions {
  readonly folder: string;
  /** Signs the URLs. At least 32 random bytes, the same across restarts. */
  readonly secret: Uint8Array;
  /** `http://127.0.0.1:port`; undefined while the server is stopped. */
  baseUrl(): string | undefined;
  now?(): number;
}

export interface ServedResource {
  readonly bytes: Uint8Array;
  readonly contentType: string;
}

/** A proxy may add a prefix. */
const OWN_PATH = new RegExp(`/resources/(${UUID.source})$`);
const SAFE_KEY = /^[A-Za-z0-9][A-Za-z0-9._~-]*(\/[A-Za-z0-9][A-Za-z0-9._~-]*)*$/;

/** For URLs that are never fetched. */
const PLACEHOLDER_BASE = 'http://127.0.0.1';

/** The UUID at the end of a key is the id in URLs. */
export class LocalStore implements ResourceStore {
  readonly id: string;
  readonly isLocal = true;
  readonly #options: LocalStoreOptions;
  readonly #keys = new Map<string, string>();
  #listing: Promise<unknown> | undefined;

  constructor(options: LocalStoreOptions) {
    if (options.secret.length < 32)
      throw new ParleyError('bad-secret', 'The secret that signs resource URLs is too short.');
    this.#options = options;
    this.id = 'local';
  }

  async put(key: string, bytes: Uint8Array, contentType: string, signal: AbortSignal): Promise<StoredResource> {
    const path = this.#pathOf(key);
    signal.throwIfAborted();
    const sha256 = await writeFramed(path, bytes, { contentType }, { durable: true });
    this.#keys.set(idOf(key), key);
    return { key, sha256, bytes: bytes.length };
  }

  async get(key: string, signal: AbortSignal): Promise<Uint8Array> {
    signal.throwIfAborted();
    return (await readFramed(this.#pathOf(key))).bytes;
  }

  /** Throws ParleyError `forbidden` (403), `not-found` (404), `torn` (500). */
  async serve(id: string, exp: string | null, sig: string | null, signal: AbortSignal): Promise<ServedResource> {
    const verdict = verifyResource(this.#options.secret, id, exp, sig, this.#now());
    if (verdict !== 'valid') {
      throw new ParleyError(
        'forbidden',
        verdict === 'expired' ? localizable('The link has expired.') : localizable("The link isn't valid."),
      );
    }
    const key = await this.#find(id);
    signal.throwIfAborted();
    if (key === undefined) throw new ParleyError('not-found', localizable("The resource doesn't exist."));
    const { bytes, meta } = await readFramed(this.#pathOf(key));
    return { bytes, contentType: meta.contentType ?? 'application/octet-stream' };
  }

  urlFor(key: string, { expiresIn, sha256, readers }: UrlOptions): Promise<string> {
    const id = idOf(checkKey(key));
    const base = this.#options.baseUrl() ?? (readers === 'here' ? PLACEHOLDER_BASE : undefined);
    if (base === undefined) {
      const hint = localizable('Turn on the local server, or store sessions on an S3-compatible server.');
      return Promise.reject(
        new ParleyError('not-served', localizable('The messages of this session are on this machine only.'), { hint }),
      );
    }
    this.#keys.set(id, key);
    const expires = Math.floor(this.#now() / 1000) + Math.max(1, Math.floor(expiresIn));
    const url = new URL(`${base}${signResource(this.#options.secret, id, expires)}`).href;
    return Promise.resolve(sha256 === undefined ? url : withHash(url, sha256));
  }

  /** Accepts everything signed with our secret, on any port. */
  async keyOf(url: string): Promise<string | undefined> {
    // Most URLs of a long history are foreign, and parsing is the most expensive part.
    if (!url.includes('/resources/') || !URL.canParse(url)) return undefined;
    const { pathname, searchParams } = new URL(url);
    const id = OWN_PATH.exec(pathname)?.[1];
    if (id === undefined) return undefined;
    const verdict = verifyResource(this.#options.secret, id, searchParams.get('exp'), searchParams.get('sig'), 0);
    return verdict === 'valid' ? await this.#find(id) : undefined;
  }

  async remove(key: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    this.#keys.delete(idOf(key));
    await rm(this.#pathOf(key), { force: true }).catch((error) => {
      throw diskError(error);
    });
  }

  async list(prefix: string, signal: AbortSignal): Promise<readonly string[]> {
    signal.throwIfAborted();
    const folder = prefix.includes('/') ? prefix.slice(0, prefix.lastIndexOf('/')) : '';
    if (folder !== '') this.#checkKey(folder);
    const names = await readdir(join(this.#options.folder, folder), { recursive: true, withFileTypes: true }).catch(
      (error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return [];
        throw diskError(error);
      },
    );
    const keys = names
      .filter((entry) => entry.isFile() && ID_AT_END.test(entry.name))
      .map((entry) =>
        join(entry.parentPath, entry.name)
          .slice(this.#options.folder.length + 1)
          .replaceAll('\\', '/'),
      )
      .filter((key) => key.startsWith(prefix))
      .sort();
    for (const key of keys) this.#keys.set(idOf(key), key);
    return keys;
  }

  async #find(id: string): Promise<string | undefined> {
    if (!this.#keys.has(id)) {
      // Ids have a valid signature here, so strangers can't cause listings; requests share one.
      this.#listing ??= this.list('', new AbortController().signal).finally(() => {
        this.#listing = undefined;
      });
      await this.#listing;
    }
    return this.#keys.get(id);
  }

  #now(): number {
    return this.#options.now?.() ?? Date.now();
  }

  #pathOf(key: string): string {
    idOf(this.#checkKey(key));
    return join(this.#options.folder, ...key.split('/'));
  }

  #checkKey(key: string): string {
    // Stricter than the interface: valid names on every file system.
    if (!SAFE_KEY.test(checkKey(key)))
      throw new ParleyError('bad-key', localizable("The key of the resource isn't valid."));
    return key;
  }
}

/** @throws ParleyError `bad-key` if the key has no id */
export function idOf(key: string): string {
  const id = ID_AT_END.exec(key)?.[1];
  if (id === undefined) throw new ParleyError('bad-key', 'The key of the resource holds no id.');
  return id;
}
