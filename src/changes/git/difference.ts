// The difference between two states, with renames, sizes and line counts.

import { randomUUID } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import { Slices } from '../lines/slices';
import type { FileChange, FileVersion } from '../model/fileChange';
import { joinOutside, type Outside, PathSet, readOutside, writeOutside } from './outside';
import { pathText, splitRecords } from './records';
import { blobSizes, folderPath, OUTSIDE, run, type Store, tryRun, writeObject } from './storeRuns';

const TIMEOUT_MS = 60_000;
const RENAME_LIMIT = 400;
const MODES = new Set(['100644', '100755', '120000']);

interface Side {
  readonly mode: FileVersion['mode'];
  readonly oid: string;
}

interface Entry {
  readonly path: string;
  readonly statePath: string;
  readonly before: Side | undefined;
  readonly after: Side | undefined;
}

interface Blob {
  readonly size: number;
  readonly isKept: boolean;
}

/**
 * Sorted by path. Afterwards the store has the contents of both states. Throws ParleyError
 * `state-gone`, `git-…`.
 */
export async function difference(
  store: Store,
  root: string,
  before: string,
  after: string,
  signal: AbortSignal | undefined,
): Promise<readonly FileChange[]> {
  if (before === after) return [];
  const entries = await entriesOf(store, before, after, signal);
  if (entries.length === 0) return [];
  const blobs = await blobsOf(store, entries, signal);
  const isComparable = (side: Side | undefined): boolean => side === undefined || blobs.get(side.oid)?.isKept === true;
  const found = await findPreexisting(store, entries, before, after, signal);
  const isKept = (one: Entry): boolean => isComparable(one.before) && isComparable(one.after);
  const others = entries.filter((one) => !found.apart.has(one));
  const withoutRenames = entries.filter((one) => found.apart.has(one));
  const counted: readonly Compared[] = [
    ...(await compare(store, others.filter(isKept), true, signal)),
    ...(await compare(store, withoutRenames.filter(isKept), false, signal)),
    ...exactRenames(others, isComparable),
    ...withoutRenames.filter((one) => !isKept(one)),
  ];
  const changes: FileChange[] = [];
  const slices = new Slices();
  const version = (side: Side): FileVersion => {
    const blob = blobs.get(side.oid);
    return { ...side, size: blob?.size ?? 0, isHashOnly: !blob?.isKept || undefined };
  };
  for (const { path, oldPath, before, after, lines } of counted) {
    const isLacking = oldPath === undefined && (!before || !after);
    const isBinary = lines === undefined || before?.mode === '120000' || after?.mode === '120000';
    changes.push({
      root,
      path,
      oldPath,
      before: before ? version(before) : undefined,
      after: after ? version(after) : undefined,
      added: isBinary ? 0 : lines.added,
      removed: isBinary ? 0 : lines.removed,
      isBinary: isBinary || undefined,
      wasThere: isLacking && found.wereThere.has(path) ? true : undefined,
    });
    await slices.step();
  }
  return changes.sort((a, b) => (a.path < b.path ? -1 : 1));
}

async function findPreexisting(
  store: Store,
  entries: readonly Entry[],
  before: string,
  after: string,
  signal: AbortSignal | undefined,
): Promise<{ readonly apart: ReadonlySet<Entry>; readonly wereThere: ReadonlySet<string> }> {
  const withoutRenames = new Set<Entry>();
  const wereThere = new Set<string>();
  const oneSided = entries.filter((one) => !one.before || !one.after);
  if (oneSided.length === 0) return { apart: withoutRenames, wereThere };
  const [beforeOutside, afterOutside] = await outsideOf(store, [before, after], signal);
  const sides = [
    { without: beforeOutside, with: afterOutside, has: 'after', lacks: 'before' },
    { without: afterOutside, with: beforeOutside, has: 'before', lacks: 'after' },
  ] as const;
  for (const side of sides) {
    const [unread, arrived] = [new PathSet(side.without.unread), new PathSet(side.with.arrived)];
    const stillUnread = new Set(side.with.unread);
    const mayHaveMoved = side.without.unread.some((path) => !stillUnread.has(path));
    const moved = new Set(oneSided.flatMap((one) => (one[side.has] ? [] : (one[side.lacks]?.oid ?? []))));
    for (const entry of oneSided) {
      if (entry[side.lacks]) continue;
      const isUnread = unread.has(entry.path);
      if (!isUnread && !arrived.has(entry.path)) continue;
      wereThere.add(entry.path);
      // A file from outside may have been renamed here, unless it may have been ignored.
      if (isUnread || (mayHaveMoved && !moved.has(entry[side.has]?.oid ?? ''))) withoutRenames.add(entry);
    }
  }
  return { apart: withoutRenames, wereThere };
}

async function outsideOf(
  store: Store,
  states: readonly [string, string],
  signal: AbortSignal | undefined,
): Promise<readonly [Outside, Outside]> {
  const output = await run(store, {
    args: ['cat-file', '--batch'],
    input: Buffer.from(states.map((state) => `${state}:${OUTSIDE}\n`).join('')),
    signal,
    timeoutMs: TIMEOUT_MS,
  });
  let at = 0;
  const next = (): Outside => {
    const end = output.indexOf(0x0a, at);
    const size = / blob (\d+)$/.exec(output.toString('latin1', at, end))?.[1];
    at = end + 1;
    if (size === undefined) return readOutside(undefined);
    const content = output.subarray(at, at + Number(size));
    at += Number(size) + 1;
    return readOutside(content);
  };
  return [next(), next()];
}

export async function replaced(
  store: Store,
  state: string,
  other: string,
  files: ReadonlySet<string>,
): Promise<string> {
  const differing = state === other ? [] : await entriesOf(store, state, other, undefined);
  const chosen = differing.filter(({ path }) => files.has(path));
  if (chosen.length === 0) return state;
  return withIndex(store, async (index) => {
    const common = { index, timeoutMs: TIMEOUT_MS };
    await run(store, { ...common, args: ['read-tree', state] });
    const none = '0'.repeat(state.length);
    const lines = chosen.map(({ statePath, after }) => `${after?.mode ?? 0} ${after?.oid ?? none}\t${statePath}\0`);
    const outside = writeOutside(joinOutside(await outsideOf(store, [state, other], undefined)));
    if (outside.length > 0) lines.push(`100644 ${await writeObject(store, 'blob', outside)}\t${OUTSIDE}\0`);
    // Deletions first: a file may replace a folder.
    const input = Buffer.from(lines.sort().join(''));
    await run(store, { ...common, args: ['update-index', '-z', '--index-info'], input });
    const tree = await run(store, { ...common, args: ['write-tree', '--missing-ok'] });
    return tree.toString('latin1').trim();
  });
}

async function withIndex<T>(store: Store, use: (index: string) => Promise<T>): Promise<T> {
  const index = join(store.indexes, `compare-${randomUUID()}`);
  try {
    return await use(index);
  } finally {
    await rm(index, { force: true });
    await rm(`${index}.lock`, { force: true });
  }
}

interface Compared extends Omit<Entry, 'statePath'> {
  readonly oldPath?: string;
  readonly lines?: { readonly added: number; readonly removed: number };
}

async function entriesOf(
  store: Store,
  before: string,
  after: string,
  signal: AbortSignal | undefined,
): Promise<Entry[]> {
  const args = ['diff-tree', '-r', '-z', '--raw', '--no-renames', '--no-abbrev', before, after];
  const result = await tryRun(store, { args, signal, timeoutMs: TIMEOUT_MS });
  if (result.code !== 0) {
    throw new ParleyError('state-gone', localizable('This state of the files is no longer kept.'), {
      cause: new Error(result.stderr),
    });
  }
  const records = await splitRecords(result.stdout);
  const entries: Entry[] = [];
  const slices = new Slices();
  for (let at = 0; at + 1 < records.length; at += 2) {
    const inState = pathText(records[at + 1]!);
    const [oldMode, newMode, oldOid, newOid] = records[at]!.toString('latin1', 1).split(' ');
    // Editors can't open files whose names are not text.
    if (inState !== undefined && inState !== OUTSIDE) {
      const [before, after] = [sideOf(oldMode, oldOid), sideOf(newMode, newOid)];
      entries.push({ path: folderPath(inState), statePath: inState, before, after });
    }
    await slices.step();
  }
  return mergeByPath(entries);
}

/** A file may move between the folder and a repository in it. */
function mergeByPath(entries: readonly Entry[]): Entry[] {
  const byPath = new Map<string, Entry>();
  for (const entry of entries) {
    const other = byPath.get(entry.path);
    if (!other) byPath.set(entry.path, entry);
    else {
      const [before, after] = [other.before ?? entry.before, other.after ?? entry.after];
      if (before?.oid === after?.oid && before?.mode === after?.mode) byPath.delete(entry.path);
      else byPath.set(entry.path, { ...entry, before, after });
    }
  }
  return [...byPath.values()];
}

function sideOf(mode = '', oid = ''): Side | undefined {
  return MODES.has(mode) ? { mode: mode as FileVersion['mode'], oid } : undefined;
}

async function blobsOf(
  store: Store,
  entries: readonly Entry[],
  signal: AbortSignal | undefined,
): Promise<Map<string, Blob>> {
  const oids = [...new Set(entries.flatMap(({ before, after }) => [before, after].flatMap((side) => side?.oid ?? [])))];
  const limits = { signal, timeoutMs: TIMEOUT_MS };
  const own = await blobSizes(store, oids, {}, limits);
  const oneSided = oids.filter((oid) => !own.has(oid));
  const borrowed = oneSided.length === 0 ? own : await blobSizes(store, oneSided, { borrow: true }, limits);
  const blobs = new Map<string, Blob>();
  const toCopy: string[] = [];
  for (const oid of oids) {
    const size = own.get(oid) ?? borrowed.get(oid);
    blobs.set(oid, size === undefined ? { size: await largeSize(store, oid), isKept: false } : { size, isKept: true });
    if (!own.has(oid) && size !== undefined) toCopy.push(oid);
  }
  if (toCopy.length > 0) {
    await run(store, {
      args: ['pack-objects', '-q', '--threads=1', '--window=0', join(store.folder, 'objects/pack/pack')],
      input: Buffer.from(`${toCopy.join('\n')}\n`),
      borrow: true,
      signal,
      timeoutMs: TIMEOUT_MS,
    });
  }
  return blobs;
}

async function largeSize(store: Store, oid: string): Promise<number> {
  return Number(await readFile(join(store.folder, 'large', oid), 'utf8').catch(() => '0'));
}

/** In trees of only these files, because git fails on missing contents. */
async function compare(
  store: Store,
  entries: readonly Entry[],
  findsRenames: boolean,
  signal: AbortSignal | undefined,
): Promise<readonly Compared[]> {
  if (entries.length === 0) return [];
  const trees: string[] = [];
  for (const side of ['before', 'after'] as const) {
    const input = entries.flatMap((entry) => {
      const one = entry[side];
      return one ? [`${one.mode} ${one.oid}\t${entry.path}\0`] : [];
    });
    const tree = await withIndex(store, async (index) => {
      const common = { index, signal, timeoutMs: TIMEOUT_MS };
      await run(store, { ...common, args: ['update-index', '-z', '--index-info'], input: Buffer.from(input.join('')) });
      return run(store, { ...common, args: ['write-tree', '--missing-ok'] });
    });
    trees.push(tree.toString('latin1').trim());
  }
  const args = ['diff-tree', '-r', '-z', '--raw', '--numstat', '--no-abbrev'];
  const renames = findsRenames ? ['-M', `-l${RENAME_LIMIT}`] : ['--no-renames'];
  const output = await run(store, {
    args: [...args, ...renames, ...trees],
    borrow: true,
    signal,
    timeoutMs: TIMEOUT_MS,
  });
  return comparedOf(await splitRecords(output));
}

/** First the files, as in {@link entriesOf}, then their line counts in the same order. */
async function comparedOf(records: readonly Buffer[]): Promise<Compared[]> {
  const compared: Compared[] = [];
  const slices = new Slices();
  let at = 0;
  for (; records[at]?.[0] === 0x3a; await slices.step()) {
    const [oldMode, newMode, oldOid, newOid, status] = records[at++]!.toString('latin1', 1).split(' ');
    const first = records[at++]!.toString('utf8');
    const isRename = status?.startsWith('R') === true;
    const path = isRename ? records[at++]!.toString('utf8') : first;
    const sides = { before: sideOf(oldMode, oldOid), after: sideOf(newMode, newOid) };
    compared.push({ path, ...sides, oldPath: isRename ? first : undefined });
  }
  for (const [position, one] of compared.entries()) {
    const [added = '', removed = ''] = records[at]?.toString('latin1').split('\t') ?? [];
    at += one.oldPath === undefined ? 1 : 3;
    if (added === '-') continue;
    compared[position] = { ...one, lines: { added: Number(added), removed: Number(removed) } };
    await slices.step();
  }
  return compared;
}

/** Without contents, only equal ids show a rename. */
function exactRenames(entries: readonly Entry[], isComparable: (side: Side | undefined) => boolean): Compared[] {
  const rest = entries.filter((one) => !isComparable(one.before) || !isComparable(one.after));
  const deleted = new Map(rest.flatMap((one) => (one.before && !one.after ? [[one.before.oid, one] as const] : [])));
  const renamed: Compared[] = [];
  const from = new Set<Entry>();
  for (const one of rest) {
    const source = one.before || !one.after ? undefined : deleted.get(one.after.oid);
    if (source === undefined) continue;
    deleted.delete(source.before?.oid ?? '');
    from.add(source).add(one);
    renamed.push({ path: one.path, oldPath: source.path, before: source.before, after: one.after });
  }
  return [...renamed, ...rest.filter((one) => !from.has(one))];
}
