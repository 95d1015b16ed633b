// Releases the folder states of deleted sessions, and bounds the size of all states.
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../base/errors';
import type { Log } from '../base/log';
import type { ObjectFormat } from './git/bareStore';
import { collect, hasLiveWindow } from './git/collect';
import { findGit, type Git } from './git/gitProcess';
import { heldStates, release, releaseOthers, WINDOW } from './git/holds';
import { collectPlain } from './git/plainFolder';
import type { StateRetention } from './model/fileChange';

/** Age at which an unused store is removed, ms. */
const UNUSED_MS = 24 * 60 * 60 * 1000;

export interface StateRetentionOptions {
  readonly storage: string;
  readonly env: NodeJS.ProcessEnv;
  readonly log: Log;
}

export function openStateRetention({ storage, env, log }: StateRetentionOptions): StateRetention {
  const eachStore = async (action: (store: string) => Promise<void>): Promise<void> => {
    for (const name of await readdir(storage).catch(() => [])) {
      if (!/^[0-9a-f]{32}-(sha1|sha256|plain)$/.test(name)) continue;
      await action(join(storage, name)).catch((error) =>
        log.warn(`The states in ${join(storage, name)} couldn't be collected: ${messageOf(error)}`),
      );
    }
  };
  /** Returns the bytes held; the rest is freed within a day. */
  const collectAll = async (git: Git | undefined, signal: AbortSignal | undefined): Promise<number> => {
    let bytes = 0;
    await eachStore(async (store) => {
      if (signal?.aborted) return;
      if (await isUnused(store)) await rm(store, { recursive: true, force: true });
      else if (store.endsWith('-plain')) bytes += await collectPlain(store);
      else if (git) bytes += (await collect(storeAt(git, store), signal)) ?? 0;
    });
    return bytes;
  };
  return {
    release: (session) => eachStore((store) => release(store, session)),
    async collect(sessions, maxBytes, signal) {
      const git = await findGit(env);
      for (let kept = sessions; ; kept = kept.slice(0, kept.length >> 1)) {
        await eachStore((store) => releaseOthers(store, kept));
        const bytes = await collectAll(git, signal);
        if (bytes <= maxBytes || kept.length <= 1 || signal?.aborted) return;
      }
    },
  };
}

function storeAt(git: Git, folder: string): Parameters<typeof collect>[0] {
  const format: ObjectFormat = folder.endsWith('-sha256') ? 'sha256' : 'sha1';
  return { git, folder, format, indexes: join(folder, 'indexes', WINDOW), alternates: new Set() };
}

async function isUnused(store: string): Promise<boolean> {
  if ((await heldStates(store)).length > 0 || (await hasLiveWindow(store))) return false;
  return Date.now() - (await stat(store)).mtimeMs > UNUSED_MS;
}
