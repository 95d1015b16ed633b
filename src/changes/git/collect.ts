// Shrinks a store: packs held objects and removes the others.
import { mkdir, readdir, readFile, rename, rm, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { retryBusy } from '../../base/retryBusy';
import { succeeds } from '../../base/within';
import { Slices } from '../lines/slices';
import { listBorrowed, removeBorrowed } from './borrowed';
import { heldStates, isAlive } from './holds';
import { splitRecords } from './records';
import { lastTreeOf } from './scan';
import { blobSizes, run, type Store, tryRun } from './storeRuns';

const TIMEOUT_MS = 600_000;
/** In ms. Another window may have recorded a state without holding it yet. */
const GRACE_MS = 24 * 60 * 60 * 1000;

const TRASH_SUFFIX = '.old';

/**
 * Packs objects of held states and indexes, and removes old others. Safe to run concurrently in
 * several windows: each removes only what it has packed, or what is old. Returns the bytes needed;
 * undefined while another window collects.
 */
export async function collect(
  store: Store,
  signal: AbortSignal | undefined,
  graceMs = GRACE_MS,
): Promise<number | undefined> {
  const lock = join(store.folder, 'collecting');
  const isLocked = await succeeds(mkdir(lock));
  // Left by a killed window.
  const isStale = async (): Promise<boolean> => Date.now() - (await stat(lock)).mtimeMs > 2 * TIMEOUT_MS;
  if (!isLocked && !(await isStale().catch(() => false))) return undefined;
  try {
    await removeDeadWindows(store);
    return await pack(store, signal, graceMs);
  } finally {
    await rmdir(lock).catch(() => undefined);
  }
}

async function pack(store: Store, signal: AbortSignal | undefined, graceMs: number): Promise<number> {
  const limits = { signal, timeoutMs: TIMEOUT_MS };
  const packs = join(store.folder, 'objects/pack');
  const present = (await readdir(packs)).filter((name) => name.endsWith('.pack'));
  const oldest = Date.now() - graceMs;
  const borrowed = await listBorrowed(store.folder, oldest);
  const { own, missing } = await reachable(store, limits);
  const from = (folders: readonly string[]): Store => ({ ...store, alternates: new Set(folders) });
  // Objects that the user's repositories no longer have become ours.
  const orphaned = borrowed.orphans.length === 0 ? [] : missing;
  const elsewhere = await blobSizes(from(borrowed.sources), orphaned, { borrow: true }, limits);
  const wanted = orphaned.filter((oid) => !elsewhere.has(oid));
  const rescued = await blobSizes(from(borrowed.folders), wanted, { borrow: true }, limits);
  const needed = [...own, ...rescued.keys()];
  let packName = '';
  if (needed.length > 0) {
    const args = ['pack-objects', '-q', '--threads=1', join(packs, 'pack')];
    const input = Buffer.from(`${needed.join('\n')}\n`);
    const output = await run(from(borrowed.folders), { args, input, borrow: true, ...limits });
    packName = `pack-${output.toString('latin1').trim()}.pack`;
  }
  await removeBorrowed(borrowed);
  for (const name of present) {
    if (name === packName || !(await removeOld(join(packs, name), oldest))) continue;
    // The index goes last: without it, git takes the pack for one in progress.
    for (const end of ['.rev', '.idx']) {
      await rm(join(packs, name.replace(/\.pack$/, end)), { force: true });
    }
  }
  for (const name of await readdir(packs)) {
    if ((name.startsWith('tmp_') || name.endsWith(TRASH_SUFFIX)) && !(await changedAfter(join(packs, name), oldest)))
      await rm(join(packs, name));
  }
  await removeLoose(store, new Set(needed), oldest);
  return packName === '' ? 0 : (await stat(join(packs, packName))).size;
}

async function reachable(
  store: Store,
  limits: { signal: AbortSignal | undefined; timeoutMs: number },
): Promise<{ readonly own: readonly string[]; readonly missing: readonly string[] }> {
  const oids = new Set<string>();
  const missing = new Set<string>();
  const slices = new Slices();
  const indexes = await indexesOf(store);
  const last = await Promise.all(indexes.map((index) => readFile(lastTreeOf(index), 'latin1').catch(() => '')));
  const roots = [...(await heldStates(store.folder)), ...last.filter((tree) => /^[0-9a-f]{40,64}$/.test(tree))];
  const states = await blobSizes(store, roots, {}, limits);
  if (states.size > 0) {
    const output = await run(store, {
      args: ['rev-list', '--objects', '--no-object-names', '--missing=print', '--stdin'],
      input: Buffer.from(`${[...states.keys()].join('\n')}\n`),
      ...limits,
    });
    for (let at = 0; at < output.length; await slices.step()) {
      const end = output.indexOf(0x0a, at);
      if (output[at] === 0x3f) missing.add(output.toString('latin1', at + 1, end));
      else oids.add(output.toString('latin1', at, end));
      at = end + 1;
    }
  }
  const indexed = new Set<string>();
  for (const index of indexes) {
    const { code, stdout } = await tryRun(store, { args: ['ls-files', '-s', '-z'], index, ...limits });
    if (code !== 0) continue;
    for (const entry of await splitRecords(stdout)) {
      const oid = entry.toString('latin1', 7, entry.indexOf(0x20, 7));
      if (!oids.has(oid)) indexed.add(oid);
      await slices.step();
    }
  }
  const present = await blobSizes(store, [...indexed], {}, limits);
  for (const oid of indexed) (present.has(oid) ? oids : missing).add(oid);
  return { own: [...oids], missing: [...missing] };
}

async function indexesOf(store: Store): Promise<string[]> {
  const indexes: string[] = [];
  const windows = join(store.folder, 'indexes');
  for (const window of await readdir(windows)) {
    const names = await readdir(join(windows, window)).catch(() => []);
    indexes.push(...names.filter((name) => /^[0-9a-f]{16}$/.test(name)).map((name) => join(windows, window, name)));
  }
  return indexes;
}

export async function hasLiveWindow(store: string): Promise<boolean> {
  return (await readdir(join(store, 'indexes')).catch(() => [])).some(isAlive);
}

/** Keeps the newest index, which the next window starts from. */
async function removeDeadWindows(store: Store): Promise<void> {
  const windows = join(store.folder, 'indexes');
  const dead: { readonly path: string; readonly at: number }[] = [];
  for (const window of await readdir(windows)) {
    if (isAlive(window)) continue;
    const path = join(windows, window);
    dead.push({ path, at: (await stat(path).catch(() => undefined))?.mtimeMs ?? 0 });
  }
  dead.sort((a, b) => b.at - a.at);
  for (const { path } of dead.slice(1)) await rm(path, { recursive: true, force: true });
}

/**
 * Removes packed or old objects. Folders stay: git fails if one disappears before a write into it.
 */
async function removeLoose(store: Store, packed: ReadonlySet<string>, oldest: number): Promise<void> {
  const objects = join(store.folder, 'objects');
  for (const folder of await readdir(objects)) {
    if (!/^[0-9a-f]{2}$/.test(folder)) continue;
    for (const name of await readdir(join(objects, folder))) {
      const path = join(objects, folder, name);
      if (packed.has(`${folder}${name}`)) await rm(path, { force: true });
      else await removeOld(path, oldest);
    }
  }
}

/** If another window needs the file now, it touches it, or writes it again once it is renamed. */
async function removeOld(path: string, time: number): Promise<boolean> {
  if (await changedAfter(path, time)) return false;
  const trash = `${path}${TRASH_SUFFIX}`;
  try {
    await retryBusy(() => rename(path, trash));
    if (await changedAfter(trash, time)) {
      await retryBusy(() => rename(trash, path));
      return false;
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  await rm(trash, { force: true });
  return true;
}

async function changedAfter(path: string, time: number): Promise<boolean> {
  return stat(path).then(
    ({ mtimeMs }) => mtimeMs > time,
    () => false,
  );
}
