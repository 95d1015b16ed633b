// Reads and writes the entries of a git index (gitformat-index, versions 2 to 4). No git command
// copies stat data between indexes, and `update-index --index-info` would read every unchanged file
// again. Files that git converts (filters, `ident`, line ends, encodings) are excluded in
// warmIndex.ts, so that states have the bytes on disk: see `hostileFolder.slow.test.ts`.
import { createHash } from 'node:crypto';
import { open, readFile, stat } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { Slices } from '../lines/slices';

const MAX_INDEX = 1024 * 1024 * 1024;
const STAT_BYTES = 40;
const HEADER_BYTES = 12;
const HASH_STEP = 1024 * 1024;
const CTIME_AT = 0;
const MTIME_AT = 8;
const INODE_AT = 20;
const MODE_AT = 24;
const SIZE_AT = 36;

const STAGES = 0x3000;
const EXTENDED = 0x4000;
const NAME_LENGTH = 0x0fff;
const SKIP_WORKTREE = 0x4000;
const INTENT_TO_ADD = 0x2000;
const FILE_TYPE = 0o170000;
const REGULAR = 0o100000;
const LINK = 0o120000;

export interface IndexEntry {
  /** Bytes as Latin-1. */
  readonly path: string;
  readonly source: Buffer;
  /** Offset of the stat data and the id. Separate buffers would stall the garbage collector. */
  readonly at: number;
  /** Written in the second of the file's change, so the file may have changed again. */
  readonly isRacy: boolean;
}

/** In seconds. Of two entries for a file, the later one is current. */
export function changedAt({ source, at }: IndexEntry): number {
  return source.readUInt32BE(at + CTIME_AT);
}

/** Bytes modulo 4 GB; 0 if the file must be read again. */
export function sizeOnDisk({ source, at, isRacy }: IndexEntry): number {
  return isRacy ? 0 : source.readUInt32BE(at + SIZE_AT);
}

export function inodeOf({ source, at }: IndexEntry): number {
  return source.readUInt32BE(at + INODE_AT);
}

export function contentId({ source, at }: IndexEntry, oidBytes: number): string {
  return source.toString('hex', at + STAT_BYTES, at + STAT_BYTES + oidBytes);
}

export function isWithoutStat({ source, at }: IndexEntry): boolean {
  return source.readUInt32BE(at + CTIME_AT) === 0 && source.readUInt32BE(at + MTIME_AT) === 0;
}

/**
 * Plain files only, sorted: no conflicts, submodules, files outside of a sparse checkout or without
 * content. Undefined if the index is missing, split, sparse or corrupt.
 */
export async function readIndex(file: string, oidBytes: number, prefix: Buffer): Promise<IndexEntry[] | undefined> {
  try {
    const stats = await stat(file);
    if (!stats.isFile() || stats.size > MAX_INDEX) return undefined;
    return await entriesOf(await readFile(file), oidBytes, prefix, Math.floor(stats.mtimeMs / 1000));
  } catch {
    return undefined;
  }
}

async function entriesOf(
  index: Buffer,
  oidBytes: number,
  prefix: Buffer,
  writtenAt: number,
): Promise<IndexEntry[] | undefined> {
  const version = index.readUInt32BE(4);
  if (index.toString('latin1', 0, 4) !== 'DIRC' || version < 2 || version > 4) return undefined;
  const entries: IndexEntry[] = [];
  const slices = new Slices();
  const flagsAt = STAT_BYTES + oidBytes;
  let previous: Buffer = Buffer.alloc(0);
  let at = HEADER_BYTES;
  for (let left = index.readUInt32BE(8); left > 0; left--) {
    const flags = index.readUInt16BE(at + flagsAt);
    const extended = flags & EXTENDED ? index.readUInt16BE(at + flagsAt + 2) : 0;
    let nameAt = at + flagsAt + (flags & EXTENDED ? 4 : 2);
    let path: Buffer;
    if (version === 4) {
      const dropped = varint(index, nameAt);
      nameAt = dropped.end;
      const end = endOfName(index, nameAt);
      path = Buffer.concat([previous.subarray(0, previous.length - dropped.value), index.subarray(nameAt, end)]);
      previous = path;
      nameAt = end + 1;
    } else {
      const nameLength = flags & NAME_LENGTH;
      const end = nameLength < NAME_LENGTH ? nameAt + nameLength : endOfName(index, nameAt);
      path = index.subarray(nameAt, end);
      // Padded with 1 to 8 NUL to a multiple of 8.
      nameAt = at + ((end - at + 8) & ~7);
    }
    const isPlain = (flags & STAGES) === 0 && (extended & (SKIP_WORKTREE | INTENT_TO_ADD)) === 0;
    const type = index.readUInt32BE(at + MODE_AT) & FILE_TYPE;
    if (isPlain && (type === REGULAR || type === LINK) && path.subarray(0, prefix.length).equals(prefix)) {
      const isRacy = index.readUInt32BE(at + MTIME_AT) >= writtenAt;
      entries.push({ path: path.toString('latin1'), source: index, at, isRacy });
    }
    at = nameAt;
    await slices.step();
  }
  while (at + 8 + oidBytes <= index.length) {
    const name = index.toString('latin1', at, at + 4);
    if (name === 'link' || name === 'sdir') return undefined;
    at += 8 + index.readUInt32BE(at + 4);
  }
  return entries;
}

function endOfName(index: Buffer, from: number): number {
  const end = index.indexOf(0, from);
  if (end < 0) throw new RangeError('The index ends in a name.');
  return end;
}

/** Variable-width number of version 4, as in pack offsets. */
function varint(index: Buffer, from: number): { readonly value: number; readonly end: number } {
  let at = from;
  let byte = index.readUInt8(at++);
  let value = byte & 0x7f;
  while (byte & 0x80) {
    byte = index.readUInt8(at++);
    value = (value + 1) * 128 + (byte & 0x7f);
  }
  return { value, end: at };
}

/** Writes version 2. `file` must not exist; `entries` are sorted by path. */
export async function writeIndex(file: string, entries: readonly IndexEntry[], oidBytes: number): Promise<void> {
  const slices = new Slices();
  const fixed = STAT_BYTES + oidBytes + 2;
  const length = entries.reduce((sum, { path }) => sum + ((fixed + path.length + 8) & ~7), HEADER_BYTES);
  const index = Buffer.alloc(length + oidBytes);
  index.write('DIRC', 'latin1');
  index.writeUInt32BE(2, 4);
  index.writeUInt32BE(entries.length, 8);
  let at = HEADER_BYTES;
  for (const { path, source, at: from, isRacy } of entries) {
    source.copy(index, at, from, from + STAT_BYTES + oidBytes);
    if (isRacy) index.writeUInt32BE(0, at + SIZE_AT);
    index.writeUInt16BE(Math.min(path.length, NAME_LENGTH), at + STAT_BYTES + oidBytes);
    index.write(path, at + fixed, 'latin1');
    at += (fixed + path.length + 8) & ~7;
    await slices.step();
  }
  const hash = createHash(oidBytes === 20 ? 'sha1' : 'sha256');
  for (let from = 0; from < length; from += HASH_STEP) {
    hash.update(index.subarray(from, Math.min(length, from + HASH_STEP)));
    await setImmediate();
  }
  hash.digest().copy(index, length);
  const handle = await open(file, 'wx', 0o600);
  try {
    await handle.writeFile(index);
  } finally {
    await handle.close();
  }
}
