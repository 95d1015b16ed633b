// Reads the state of one work tree from the disk into a tree of the store.

import { createHash } from 'node:crypto';
import type { Stats } from 'node:fs';
import { access, constants, lstat, mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import { Slices } from '../lines/slices';
import { put } from './bareStore';
import { inodeOf, readIndex } from './indexFile';
import { type IndexNotes, isOlder, readNotes, writeNotes } from './indexNotes';
import type { Outside } from './outside';
import { joinRecords, pathText, splitRecords } from './records';
import { run, type Store, tryRun } from './storeRuns';
import type { FileConfig } from './userConfig';

/** How many `lstat` run at once. */
const WIDTH = 32;
/** Runs of git that may fail in one scan, before it is given up. */
const MAX_FAILURES = 100;
/**
 * How long a tree is used again, in milliseconds; well below the age at which it may be collected.
 */
const REUSE_MS = 60 * 60 * 1000;
/** What git says where the store, and not a file, is the cause: a full disk, or missing rights. */
const STORE_FAILURE =
  /No space left|quota exceeded|temporary file|object to repository|loose object|index file: |unable to write/i;
/** Paths that are passed as arguments at once. */
const ARGUMENTS = 100;
/** What a list may take for each file, where the number of files is bounded. */
const BYTES_OF_PATH = 400;

/** One work tree: a folder without a repository, or the part of a repository that a folder is. */
export interface WorkTree {
  /** The top level; absolute, without symbolic links. */
  readonly top: string;
  /** The folder in it, as git writes it: empty, or with a slash at its end. */
  readonly prefix: string;
  /** The index of this window; absolute. */
  readonly index: string;
  readonly config: FileConfig;
}

export interface ScanLimits {
  /** Milliseconds. */
  readonly timeoutMs: number;
  /** Larger files are noted by their hash only; bytes. */
  readonly maxFile: number;
  /** Larger files are not read at all: their size and time stand for the content; bytes. */
  readonly maxHashed: number;
  /** Of so many bytes of new contents the largest files are noted by their hash only. */
  readonly maxKept: number;
  /** What may be new in one scan: files, and bytes to keep. Absent: any number. */
  readonly maxNew?: { readonly files: number; readonly bytes: number };
}

/** So many files to read are worth a look at what the user's index knows of them by now. */
const MANY = 500;

export interface Scanned {
  readonly tree: string;
  /** When the tree was written: `Date.now()`. */
  readonly writtenAt: number;
  /** Repositories below, relative to the top level, without a slash at the end. */
  readonly nested: readonly string[];
  /** When the newest of the files that differed was changed, in milliseconds since 1970; 0: none did. */
  readonly newest: number;
  /** Relative to the top level. */
  readonly outside: Outside;
}

/** A path that is to be read again. */
interface Candidate {
  readonly path: Buffer;
  readonly stats: Stats;
  /** The index does not have it. */
  readonly isNew: boolean;
}

/**
 * Reads what differs from the index, and writes the tree.
 * @param warm fills the index from others, in so many milliseconds; false where they are as before
 * @param last what the last scan of this index gave
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
  // Nobody else writes this index: a lock is of a run that was killed.
  await rm(`${tree.index}.lock`, { force: true });
  const left = (): number => Math.max(1, until - performance.now());
  let isWarmed = !(await isFile(tree.index)) && (await warm(left()));
  const notes = await readNotes(tree.index);
  const began = Date.now();
  let found = await candidates(store, tree, runIn, limits);
  const arrived = await arrivedIn(store, tree, found, notes);
  // Before they are in the index, in which no later scan finds them new.
  if (notes) await writeNotes(tree.index, { at: notes.at, arrived });
  if (found.present.length + found.gone.length > MANY) {
    isWarmed = (await warm(left())) || isWarmed;
    // Files that were only touched, or read in the second of their change, are compared with what
    // the other index knows: adding them would keep each content a second time.
    if (isWarmed && (await isFile(tree.index))) {
      await tryRun(store, runIn(['update-index', '-q', '--refresh']));
      found = await candidates(store, tree, runIn, limits);
    }
  }
  checkSize(found, limits);
  const writtenAt = Date.now();
  const isSame = found.present.length + found.gone.length === 0;
  if (isSame && last && writtenAt - last.writtenAt < REUSE_MS) {
    await writeNotes(tree.index, { at: began, arrived });
    const { nested, unread } = found;
    return { ...last, nested, newest: 0, outside: { unread, arrived } };
  }
  const newest = await newestOf(tree.top, found);
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
      // One file that cannot be read fails the run: it is left as it was known.
      if (++failures > MAX_FAILURES) throw new ParleyError('git-failed', localizable('Git failed: {0}', stderr.trim()));
      if (paths.length === 1) {
        unreadable.push(...paths);
        continue;
      }
      const readable = failures === 1 ? await readableOf(tree.top, paths) : paths;
      if (readable.length < paths.length) {
        pending.push(readable);
        const known = new Set(readable);
        unreadable.push(...paths.filter((path) => !known.has(path)));
      } else pending.push(paths.slice(0, paths.length >> 1), paths.slice(paths.length >> 1));
    }
  };
  const { kept, large, huge } = bySize(found.present, limits);
  await add([], kept);
  if (large.length > 0) {
    await add(['--info-only'], large);
    await noteLarge(store, runIn, large);
  }
  if (huge.length > 0) await addHuge(store, runIn, huge);
  await writeNotes(tree.index, { at: began, arrived });
  const outside = { unread: [...found.unread, ...unreadable.flatMap((path) => pathText(path) ?? [])], arrived };
  const prefix = tree.prefix === '' ? [] : [`--prefix=${tree.prefix}`];
  const written = await tryRun(store, runIn(['write-tree', '--missing-ok', ...prefix]));
  if (written.code === 0) {
    const id = written.stdout.toString('latin1').trim();
    // Git takes from the index that folders of this tree are in the store: they must stay there.
    await put(lastTreeOf(tree.index), Buffer.from(id));
    return { tree: id, writtenAt, nested: found.nested, newest, outside };
  }
  // There is no entry with the prefix: the folder is empty.
  if (prefix.length > 0 && /prefix/.test(written.stderr)) {
    const empty = await run(store, { ...runIn(['mktree', '-z'], Buffer.alloc(0)) });
    return { tree: empty.toString('latin1').trim(), writtenAt, nested: found.nested, newest, outside };
  }
  throw new ParleyError('git-failed', localizable('Git failed: {0}', written.stderr.trim()));
}

/** The file beside an index that names the last tree written from it. */
export function lastTreeOf(index: string): string {
  return `${index}.tree`;
}

type RunIn = (args: readonly string[], input?: Buffer) => Parameters<typeof run>[1];

interface Found {
  /** Files and links. */
  readonly present: readonly Candidate[];
  readonly gone: readonly Buffer[];
  readonly nested: readonly string[];
  /** Ignored, or in a folder that cannot be listed; see {@link Outside}. */
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
  // A folder that was renamed meanwhile would be in both places: what is gone is looked for last.
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
  const look = async (): Promise<void> => {
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
  await Promise.all(Array.from({ length: WIDTH }, look));
  const unread = [...(await collapsed(skipped)), ...unlistedIn(listed.stderr)];
  return { present, gone, nested, unread };
}

/** Git lists a folder before the ignored files in it where it is not ignored as a whole. */
async function collapsed(list: Buffer): Promise<readonly string[]> {
  const paths = (await splitRecords(list)).flatMap((path) => pathText(path) ?? []);
  return paths.filter((path, at) => !path.endsWith('/') || paths[at + 1]?.startsWith(path) !== true);
}

/** The folders that git could not list, as it says so. */
function unlistedIn(stderr: string): readonly string[] {
  return [...stderr.matchAll(/could not open directory '(.+?)\/?':/g)].map(([, path]) => `${path}/`);
}

/** Files that were there when the index was read last, and not in it under any name. */
async function arrivedIn(
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

/** What names files on the disk that the index still has. */
async function inodesOf({ format }: Store, index: string, paths: readonly Buffer[]): Promise<ReadonlySet<number>> {
  const wanted = new Set(paths.map((path) => path.toString('latin1')));
  const entries = (await readIndex(index, format === 'sha1' ? 20 : 32, Buffer.alloc(0))) ?? [];
  const inodes = new Set(entries.filter(({ path }) => wanted.has(path)).map(inodeOf));
  inodes.delete(0);
  return inodes;
}

/** Of a file that is gone, its folder has the time. */
async function newestOf(top: string, { present, gone }: Found): Promise<number> {
  const folders = new Set(gone.slice(0, MANY).map((path) => dirname(onDisk(top, path).toString('latin1'))));
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

/** Files to keep, to note by their hash only, and not to read. */
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

/** Such a file has no stat data in the index: it is looked at in each scan, and never read. */
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
    const isReadable =
      stats.isSymbolicLink() ||
      (await access(file, constants.R_OK).then(
        () => true,
        () => false,
      ));
    if (isReadable) readable.push(path);
  }
  return readable;
}

/** Keeps the size of files of which git has only the id. */
async function noteLarge(store: Store, runIn: RunIn, large: readonly Candidate[]): Promise<void> {
  const sizes = new Map(large.map(({ path, stats }) => [path.toString('latin1'), stats.size]));
  const names = large.flatMap(({ path }) => pathText(path) ?? []);
  for (let from = 0; from < names.length; from += ARGUMENTS) {
    const part = names.slice(from, from + ARGUMENTS);
    const entries = await splitRecords(await run(store, runIn(['ls-files', '-s', '-z', '--', ...part])));
    for (const entry of entries) {
      const tab = entry.indexOf(0x09);
      const oid = entry.toString('latin1', 0, tab).split(' ')[1];
      const size = sizes.get(entry.toString('latin1', tab + 1));
      if (oid !== undefined && size !== undefined) await writeFile(join(store.folder, 'large', oid), String(size));
    }
  }
}

/** Why a scan failed, as a gap of the snapshot says it. */
export function gapOf(error: unknown): 'too-large' | 'timeout' | 'failed' {
  if (!(error instanceof ParleyError)) return 'failed';
  if (error.code === 'git-timeout') return 'timeout';
  return error.code === 'folder-too-large' || error.code === 'git-output' ? 'too-large' : 'failed';
}
