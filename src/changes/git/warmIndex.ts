// Fills the index of a scan from the user's index and from our own of an earlier window, so that
// unchanged files need not be read again.
import { copyFile, mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { retryBusy } from '../../base/retryBusy';
import { succeeds } from '../../base/within';
import { Slices } from '../lines/slices';
import { makeBareStore, put } from './bareStore';
import { changedAt, contentId, type IndexEntry, isWithoutStat, readIndex, sizeOnDisk, writeIndex } from './indexFile';
import { copyNotes, removeNotes } from './outside';
import { splitRecords } from './records';
import type { Repository } from './repository';
import { blobSizes, run, type Store } from './storeRuns';
import type { FileConfig } from './userConfig';

/** Conversions by git other than line ends. */
const CONVERSIONS = '!filter !ident !working-tree-encoding';
const LINE_ENDS = '!text !eol !crlf';
const MAX_ATTRIBUTES = 1024 * 1024;

export interface WarmOptions {
  readonly repository: Repository | undefined;
  readonly config: FileConfig;
  readonly top: string;
  readonly prefix: string;
  readonly index: string;
  readonly signal: AbortSignal | undefined;
  readonly timeoutMs: number;
}

export async function warmIndex(store: Store, options: WarmOptions): Promise<void> {
  const { repository, index, prefix } = options;
  const { format } = store;
  const oidBytes = format === 'sha1' ? 20 : 32;
  const earlier = (await succeeds(stat(index))) ? index : await earlierIndex(index);
  const read = earlier === undefined ? undefined : await readIndex(earlier, oidBytes, Buffer.alloc(0));
  if (earlier === undefined || !read) await removeNotes(index);
  else if (earlier !== index) await copyNotes(earlier, index);
  const earlierEntries = read ?? [];
  // Without stat data, refreshing would read the whole file.
  const own = earlierEntries.filter((entry) => !isWithoutStat(entry));
  const isSameFormat = repository !== undefined && options.config.format === format;
  const found = isSameFormat
    ? await readIndex(join(repository.gitDir, 'index'), oidBytes, Buffer.from(prefix))
    : undefined;
  const users = found && repository ? await exactEntries(store, found, repository, oidBytes, options) : [];
  const entries = await merged(own, users);
  if (entries.length === 0) return;
  await replaceIndex(index, entries, oidBytes);
}

async function replaceIndex(index: string, entries: readonly IndexEntry[], oidBytes: number): Promise<void> {
  const temporary = `${index}.new`;
  await mkdir(dirname(index), { recursive: true, mode: 0o700 });
  await rm(temporary, { force: true });
  await writeIndex(temporary, entries, oidBytes);
  await retryBusy(() => rename(temporary, index));
}

async function earlierIndex(index: string): Promise<string | undefined> {
  const windows = dirname(dirname(index));
  let newest: { readonly path: string; readonly at: number } | undefined;
  for (const window of await readdir(windows).catch(() => [])) {
    const path = join(windows, window, basename(index));
    const at = await stat(path).then(
      (stats) => stats.mtimeMs,
      () => undefined,
    );
    if (at !== undefined && at > (newest?.at ?? 0)) newest = { path, at };
  }
  return newest?.path;
}

/** Sorted; of two entries for a file, the later one wins. */
async function merged(own: readonly IndexEntry[], users: readonly IndexEntry[]): Promise<IndexEntry[]> {
  const all: IndexEntry[] = [];
  const slices = new Slices();
  let [a, b] = [0, 0];
  while (a < own.length || b < users.length) {
    const [left, right] = [own[a], users[b]];
    if (!right || (left && left.path < right.path)) all.push(own[a++]!);
    else if (!left || right.path < left.path) all.push(users[b++]!);
    else {
      all.push(changedAt(right) > changedAt(left) ? right : left);
      a += 1;
      b += 1;
    }
    await slices.step();
  }
  return own.length > 0 && users.length > 0 ? withoutConflicts(all) : all;
}

/** A path that is both file and folder is dropped and read again. */
async function withoutConflicts(entries: readonly IndexEntry[]): Promise<IndexEntry[]> {
  const folders = new Set<string>();
  const slices = new Slices();
  for (const { path } of entries) {
    for (let slash = path.lastIndexOf('/'); slash > 0; slash = path.lastIndexOf('/', slash - 1)) {
      const folder = path.slice(0, slash);
      if (folders.has(folder)) break;
      folders.add(folder);
    }
    await slices.step();
  }
  return entries.filter(({ path }) => !folders.has(path));
}

/** Entries whose content in the repository equals the bytes on disk. */
async function exactEntries(
  store: Store,
  entries: readonly IndexEntry[],
  repository: Repository,
  oidBytes: number,
  options: WarmOptions,
): Promise<readonly IndexEntry[]> {
  const { config, top, signal, timeoutMs } = options;
  const attributes = join(repository.commonDir, 'info/attributes');
  const isNamed = entries.some(({ path }) => path === '.gitattributes' || path.endsWith('/.gitattributes'));
  const mayConvert =
    isNamed ||
    config.convertsLines ||
    config.attributesFile !== undefined ||
    (await succeeds(stat(attributes))) ||
    (await succeeds(stat(join(top, '.gitattributes'))));
  if (!mayConvert) return entries;
  const probe = join(dirname(options.index), 'attributes');
  const index = join(probe, 'index');
  await makeBareStore(probe, store.format);
  await rm(index, { force: true });
  await writeIndex(index, entries, oidBytes);
  const size = await stat(attributes).then(
    (stats) => (stats.isFile() ? stats.size : Number.POSITIVE_INFINITY),
    () => undefined,
  );
  if (size !== undefined && size > MAX_ATTRIBUTES) return [];
  // Here the repository's attributes apply, to find the files that it converts.
  await rm(join(probe, 'info/attributes'), { force: true });
  if (size !== undefined) await copyFile(attributes, join(probe, 'info/attributes'));
  else await put(join(probe, 'info/attributes'), Buffer.alloc(0));
  const withAttribute = async (unset: string): Promise<Set<string>> => {
    const file = config.attributesFile === undefined ? [] : ['-c', `core.attributesFile=${config.attributesFile}`];
    const output = await run(
      { ...store, folder: probe },
      {
        args: [...config.options, ...file, 'ls-files', '-z', '--', `:(exclude,attr:${unset})`],
        cwd: top,
        workTree: top,
        index,
        magic: true,
        signal,
        timeoutMs,
      },
    );
    return new Set((await splitRecords(output)).map((path) => path.toString('latin1')));
  };
  const converted = await withAttribute(CONVERSIONS);
  const lines = config.convertsLines ? undefined : await withAttribute(LINE_ENDS);
  const toCompare = entries.filter(({ path }) => !converted.has(path) && (lines?.has(path) ?? true));
  const idOf = (entry: IndexEntry): string => contentId(entry, oidBytes);
  const oids = [...new Set(toCompare.map(idOf))];
  const sizes = await blobSizes(store, oids, { borrow: true }, { signal, timeoutMs });
  const differing = new Set(
    toCompare.filter((entry) => sizes.get(idOf(entry)) !== sizeOnDisk(entry)).map(({ path }) => path),
  );
  await rm(probe, { recursive: true, force: true });
  return entries.filter(({ path }) => !converted.has(path) && !differing.has(path));
}
