// Reads the state of a work tree from the disk into a tree of the store.

import { createHash } from 'node:crypto';
import type { Stats } from 'node:fs';
import { access, constants, lstat, mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import { succeeds } from '../../base/within';
import { Slices } from '../lines/slices';
import { put } from './bareStore';
import { inodeOf, readIndex } from './indexFile';
import { type IndexNotes, isOlder, type Outside, readNotes, writeNotes } from './outside';
import { joinRecords, pathText, splitRecords } from './records';
import { run, type Store, tryRun } from './storeRuns';
import type { FileConfig } from './userConfig';

const MAX_CONCURRENT = 32;
const MAX_FAILURES = 100;
/** Age up to which a tree is reused, ms; well below the age of collection. */
const REUSE_MS = 60 * 60 * 1000;
/** Errors of the store, not of a file. */
const STORE_FAILURE =
  /No space left|quota exceeded|temporary file|object to repository|loose object|index file: |unable to write/i;
const MAX_ARGUMENTS = 100;
const BYTES_OF_PATH = 400;

export interface WorkTree {
  readonly top: string;
  /** Of the folder in `top`, as git writes it: empty, or with a trailing slash. */
  readonly prefix: string;
  readonly index: string;
  readonly config: FileConfig;
}

export interface ScanLimits {
  readonly timeoutMs: number;
  /** Bytes; only the hash of larger files is stored. */
  readonly maxFile: number;
  /** Bytes; larger files are identified by size and time instead of content. */
  readonly maxHashed: number;
  /** Bytes of new contents; above that, only hashes of the largest files are stored. */
  readonly maxKept: number;
  readonly maxNew?: { readonly files: number; readonly bytes: number };
}

/** With more files to read, the user's index is consulted again. */
const MANY_FILES = 500;

export interface Scanned {
  readonly tree: string;
  readonly writtenAt: number;
  readonly nested: readonly string[];
  /** In ms since 1970; 0 if nothing differs. */
  readonly newest: number;
  readonly outside: Outside;
}

interface Candidate {
  readonly path: Buffer;
  readonly stats: Stats;
  readonly isNew: boolean;
}

/**
 * @param warm fills the index from others; false if those have not changed
 * @throws ParleyError `folder-too-large`, `store-failed`, `git-…`
 */
export async function scan(
  store: Store,
  tree: WorkTree,
  limits: ScanLimits,
  warm: (timeoutMs: number) => Promise<boolean>,
  last: Scanned | undefined,
  signal: AbortSignal | undefined,
): Promise<Scanned> {
  const until = performance.now() + limits.timeoutMs;
  const runIn = (args: readonly string[], input?: Buffer) => ({
    args: [...tree.config.options, ...args],
    cwd: tree.top,
    workTree: tree.top,
    index: tree.index,
    signal,
    timeoutMs: Math.max(1, until - performance.now()),
    input,
  });
  await mkdir(dirname(tree.index), { recursive: true });
  // Only this process writes the index, so a lock is left by a killed run.
  await rm(`${tree.index}.lock`, { force: true });
  const left = (): number => Math.max(1, until - performance.now());
  let isWarmed = !(await isFile(tree.index)) && (await warm(left()));
  const notes = await readNotes(tree.index);
  const startedAt = Date.now();
  let found = await candidates(store, tree, runIn, limits);
  const arrived = await findArrived(store, tree, found, notes);
  // Written before they are in the index, which hides them from later scans.
  if (notes) await writeNotes(tree.index, { at: notes.at, arrived });
  if (found.present.length + found.gone.length > MANY_FILES) {
    isWarmed = (await warm(left())) || isWarmed;
    // Compares touched files with the other index: adding them would store each content twice.
    if (isWarmed && (await isFile(tree.index))) {
      await tryRun(store, runIn(['update-index', '-q', '--refresh']));
      found = await candidates(store, tree, runIn, limits);
    }
  }
  checkSize(found, limits);
  const writtenAt = Date.now();
  const isUnchanged = found.present.length + found.gone.length === 0;
  if (isUnchanged && last && writtenAt - last.writtenAt < REUSE_MS) {
    await writeNotes(tree.index, { at: startedAt, arrived });
    const { nested, unread } = found;
    return { ...last, nested, newest: 0, outside: { unread, arrived } };
  }
  const newest = await newestChange(tree.top, found);
  if (found.gone.length > 0) {
    await run(store, runIn(['update-index', '--force-remove', '-z', '--stdin'], joinRecords(found.gone)));
  }
  const unreadable: Buffer[] = [];
  const add = async (options: readonly string[], all: readonly Candidate[]): Promise<void> => {
    let failures = 0;
    const pending = [all.map(({ path }) => path)];
    for (let paths = pending.pop(); paths; paths = pending.pop()) {
      if (paths.length === 0) continue;
      const args = ['update-index', '--add', '--remove', ...options, '-z', '--stdin'];
      const { code, stderr } = await tryRun(store, runIn(args, joinRecords(paths)));
      if (code === 0) continue;
      if (STORE_FAILURE.test(stderr))
        throw new ParleyError('store-failed', localizable('Git failed: {0}', stderr.trim()));
      // One unreadable file fails the run: it keeps its previous entry.
      if (++failures > MAX_FAILURES) throw new ParleyError('git-failed', localizable('Git failed: {0}', stderr.trim()));
      if (paths.length === 1) {
        unreadable.push(...paths);
        continue;
      }
      const readable = failures === 1 ? await readableOf(tree.top, paths) : paths;
      if (readable.length < paths.length) {
        pending.push(readable);
        const readableSet = new Set(readable);
        unreadable.push(...paths.filter((path) => !readableSet.has(path)));
      } else pending.push(paths.slice(0, paths.length >> 1), paths.slice(paths.length >> 1));
    }
  };
  const { kept, large, huge } = bySize(found.present, limits);
  await add([], kept);
  if (large.length > 0) {
    await add(['--info-only'], large);
    await storeSizes(store, runIn, large);
  }
  if (huge.length > 0) await addHuge(store, runIn, huge);
  await writeNotes(tree.index, { at: startedAt, arrived });
  const outside = { unread: [...found.unread, ...unreadable.flatMap((path) => pathText(path) ?? [])], arrived };
  const prefix = tree.prefix === '' ? [] : [`--prefix=${tree.prefix}`];
  const written = await tryRun(store, runIn(['write-tree', '--missing-ok', ...prefix]));
  if (written.code === 0) {
    const id = written.stdout.toString('latin1').trim();
    // The index makes git assume that the store has the folders of this tree, so they must stay.
    await put(lastTreeOf(tree.index), Buffer.from(id));
    return { tree: id, writtenAt, nested: found.nested, newest, outside };
  }
  // No entry has the prefix: the folder is empty.
  if (prefix.length > 0 && /prefix/.test(written.stderr)) {
    const empty = await run(store, { ...runIn(['mktree', '-z'], Buffer.alloc(0)) });
    return { tree: empty.toString('latin1').trim(), writtenAt, nested: found.nested, newest, outside };
  }
  throw new ParleyError('git-failed', localizable('Git failed: {0}', written.stderr.trim()));
}

export function lastTreeOf(index: string): string {
  return `${index}.tree`;
}

type RunIn = (args: readonly string[], input?: Buffer) => Parameters<typeof run>[1];

interface Found {
  readonly present: readonly Candidate[];
  readonly gone: readonly Buffer[];
  readonly nested: readonly string[];
  readonly unread: readonly string[];
}

async function candidates(store: Store, tree: WorkTree, runIn: RunIn, limits: ScanLimits): Promise<Found> {
  const present: Candidate[] = [];
  const gone: Buffer[] = [];
  const nested: string[] = [];
  const toRead: Buffer[] = [];
  const fresh = new Set<Buffer>();
  const where = tree.prefix === '' ? [] : ['--', tree.prefix];
  const exclude = tree.config.excludeFiles.map((file) => `--exclude-from=${file}`);
  const list = ['ls-files', '--others', '--exclude-per-directory=.gitignore', ...exclude, '-z'];
  const maxOutput = limits.maxNew && limits.maxNew.files * BYTES_OF_PATH;
  const ignored = [...list, '--ignored', '--directory'];
  const compare = (): Promise<Buffer> => run(store, runIn(['diff-files', '--name-status', '-z']));
  const [compared, listed, skipped] = await Promise.all([
    compare(),
    tryRun(store, { ...runIn([...list, ...where]), ...(maxOutput && { maxOutput }) }),
    run(store, runIn([...ignored, ...where])),
  ]);
  if (listed.code !== 0) throw new ParleyError('git-failed', localizable('Git failed: {0}', listed.stderr.trim()));
  const others = listed.stdout;
  // Missing files are listed last: a folder renamed in between would otherwise be in both places.
  const differing = await splitRecords(others.length === 0 ? compared : await compare());
  const slices = new Slices();
  for (let at = 0; at + 1 < differing.length; at += 2) {
    const path = differing[at + 1]!;
    if (differing[at]![0] === 0x44) gone.push(path);
    else toRead.push(path);
    await slices.step();
  }
  for (const path of await splitRecords(others)) {
    if (path.at(-1) !== 0x2f) {
      toRead.push(path);
      fresh.add(path);
    } else {
      const text = pathText(path.subarray(0, -1));
      if (text !== undefined) nested.push(text);
    }
    await slices.step();
  }
  let next = 0;
  const readStats = async (): Promise<void> => {
    while (next < toRead.length) {
      const path = toRead[next++]!;
      const stats = await lstat(onDisk(tree.top, path)).catch((error: NodeJS.ErrnoException) => error.code);
      if (typeof stats === 'object' && (stats.isFile() || stats.isSymbolicLink())) {
        present.push({ path, stats, isNew: fresh.has(path) });
      } else if (typeof stats === 'object' || stats === 'ENOENT' || stats === 'ENOTDIR') {
        gone.push(path);
      }
    }
  };
  await Promise.all(Array.from({ length: MAX_CONCURRENT }, readStats));
  const unread = [...(await ignoredPaths(skipped)), ...unlistedIn(listed.stderr)];
  return { present, gone, nested, unread };
}

/** Git lists a folder before its ignored files unless it is ignored as a whole. */
async function ignoredPaths(list: Buffer): Promise<readonly string[]> {
  const paths = (await splitRecords(list)).flatMap((path) => pathText(path) ?? []);
  return paths.filter((path, at) => !path.endsWith('/') || paths[at + 1]?.startsWith(path) !== true);
}

function unlistedIn(stderr: string): readonly string[] {
  return [...stderr.matchAll(/could not open directory '(.+?)\/?':/g)].map(([, path]) => `${path}/`);
}

/** Files that existed at the last scan but were not in the index under any name. */
async function findArrived(
  store: Store,
  { index }: WorkTree,
  { present, gone }: Found,
  notes: IndexNotes | undefined,
): Promise<string[]> {
  if (!notes) return [];
  const left = new Set(gone.flatMap((path) => pathText(path) ?? []));
  const earlier = notes.arrived.filter((path) => !left.has(path));
  const old = present.filter(({ stats, isNew }) => isNew && stats.size > 0 && isOlder(stats, notes.at));
  if (old.length === 0) return earlier;
  const renamed = gone.length === 0 ? new Set<number>() : await inodesOf(store, index, gone);
  const fresh = old.flatMap(({ path, stats }) => (renamed.has(stats.ino % 2 ** 32) ? [] : (pathText(path) ?? [])));
  return [...new Set([...earlier, ...fresh])];
}

async function inodesOf({ format }: Store, index: string, paths: readonly Buffer[]): Promise<ReadonlySet<number>> {
  const wanted = new Set(paths.map((path) => path.toString('latin1')));
  const entries = (await readIndex(index, format === 'sha1' ? 20 : 32, Buffer.alloc(0))) ?? [];
  const inodes = new Set(entries.filter(({ path }) => wanted.has(path)).map(inodeOf));
  inodes.delete(0);
  return inodes;
}

/** Deleting a file updates the time of its folder. */
async function newestChange(top: string, { present, gone }: Found): Promise<number> {
  const folders = new Set(gone.slice(0, MANY_FILES).map((path) => dirname(onDisk(top, path).toString('latin1'))));
  const times = [...folders].map((folder) =>
    lstat(Buffer.from(folder, 'latin1')).then(
      ({ ctimeMs }) => ctimeMs,
      () => 0,
    ),
  );
  return [...present.map(({ stats }) => stats.ctimeMs), ...(await Promise.all(times))].reduce(
    (newest, time) => Math.max(newest, time),
    0,
  );
}

function bySize(
  present: readonly Candidate[],
  { maxFile, maxKept, maxHashed }: ScanLimits,
): { readonly kept: readonly Candidate[]; readonly large: readonly Candidate[]; readonly huge: readonly Candidate[] } {
  let left = maxKept;
  const kindOf = ({ stats: { size } }: Candidate): 'kept' | 'large' | 'huge' => {
    if (size > maxHashed) return 'huge';
    if (size > maxFile) return 'large';
    left -= size;
    return left >= 0 ? 'kept' : 'large';
  };
  const bytes = present.reduce((sum, { stats }) => sum + stats.size, 0);
  const sorted = bytes <= maxKept ? present : [...present].sort((a, b) => a.stats.size - b.stats.size);
  const { kept = [], large = [], huge = [] } = Object.groupBy(sorted, kindOf);
  return { kept, large, huge };
}

/** Huge files have no stat data in the index: each scan looks at them, and none reads them. */
async function addHuge(store: Store, runIn: RunIn, huge: readonly Candidate[]): Promise<void> {
  const entries: Buffer[] = [];
  for (const { path, stats } of huge) {
    const description = `${stats.size}@${stats.mtimeMs}`;
    const hash = createHash(store.format).update(`blob ${description.length}\0${description}`).digest('hex');
    const mode = stats.mode & 0o100 ? '100755' : '100644';
    entries.push(Buffer.concat([Buffer.from(`${mode} ${hash}\t`), path]));
    await writeFile(join(store.folder, 'large', hash), String(stats.size));
  }
  await run(store, runIn(['update-index', '-z', '--index-info'], joinRecords(entries)));
}

function isFile(path: string): Promise<boolean> {
  return lstat(path).then(
    (stats) => stats.isFile(),
    () => false,
  );
}

function checkSize({ present }: Found, { maxNew, maxFile }: ScanLimits): void {
  if (!maxNew) return;
  const bytes = present.reduce((sum, { stats: { size } }) => (size > maxFile ? sum : sum + size), 0);
  if (present.length > maxNew.files || bytes > maxNew.bytes) throw tooLarge();
}

function tooLarge(): ParleyError {
  return new ParleyError('folder-too-large', localizable('The folder is too large.'));
}

function onDisk(top: string, path: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${top}/`), path]);
}

async function readableOf(top: string, paths: readonly Buffer[]): Promise<Buffer[]> {
  const readable: Buffer[] = [];
  for (const path of paths) {
    const file = onDisk(top, path);
    const stats = await lstat(file).catch(() => undefined);
    if (!stats) continue;
    const isReadable = stats.isSymbolicLink() || (await succeeds(access(file, constants.R_OK)));
    if (isReadable) readable.push(path);
  }
  return readable;
}

async function storeSizes(store: Store, runIn: RunIn, large: readonly Candidate[]): Promise<void> {
  const sizes = new Map(large.map(({ path, stats }) => [path.toString('latin1'), stats.size]));
  const names = large.flatMap(({ path }) => pathText(path) ?? []);
  for (let from = 0; from < names.length; from += MAX_ARGUMENTS) {
    const part = names.slice(from, from + MAX_ARGUMENTS);
    const entries = await splitRecords(await run(store, runIn(['ls-files', '-s', '-z', '--', ...part])));
    for (const entry of entries) {
      const tab = entry.indexOf(0x09);
      const oid = entry.toString('latin1', 0, tab).split(' ')[1];
      const size = sizes.get(entry.toString('latin1', tab + 1));
      if (oid !== undefined && size !== undefined) await writeFile(join(store.folder, 'large', oid), String(size));
    }
  }
}

export function gapOf(error: unknown): 'too-large' | 'timeout' | 'failed' {
  if (!(error instanceof ParleyError)) return 'failed';
  if (error.code === 'git-timeout') return 'timeout';
  return error.code === 'folder-too-large' || error.code === 'git-output' ? 'too-large' : 'failed';
}
