// Runs git in a store of our own, with only the objects and settings passed here.

import { createHash } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { deflate } from 'node:zlib';
import { Slices } from '../lines/slices';
import { type ObjectFormat, put } from './bareStore';
import { type Git, type GitResult, mustRunGit, runGit } from './gitProcess';
import { type Outside, writeOutside } from './outside';

export interface Store {
  readonly git: Git;
  readonly folder: string;
  readonly format: ObjectFormat;
  readonly indexes: string;
  /** Object folders of the user's repositories that the states refer to. Grows. */
  readonly alternates: Set<string>;
}

export interface StoreRun {
  readonly args: readonly string[];
  readonly input?: Buffer;
  readonly cwd?: string;
  readonly workTree?: string;
  readonly index?: string;
  /**
   * Also reads the user's repositories. Never for writes: git would omit and touch existing
   * objects.
   */
  readonly borrow?: true;
  /** Paths in `args` are patterns instead of literal. */
  readonly magic?: true;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs: number;
  readonly maxOutput?: number;
}

export function run(store: Store, options: StoreRun): Promise<Buffer> {
  return mustRunGit(store.git, spawnOptions(store, options));
}

export function tryRun(store: Store, options: StoreRun): Promise<GitResult> {
  return runGit(store.git, spawnOptions(store, options));
}

function spawnOptions(store: Store, options: StoreRun): Parameters<typeof runGit>[1] {
  const { args, input, signal, timeoutMs, maxOutput } = options;
  return {
    args,
    cwd: options.cwd ?? store.folder,
    env: storeEnvironment(store, options),
    signal,
    timeoutMs,
    ...(input && { input }),
    ...(maxOutput !== undefined && { maxOutput }),
  };
}

export function storeEnvironment(
  store: Store,
  { workTree, index, borrow, magic }: Pick<StoreRun, 'workTree' | 'index' | 'borrow' | 'magic'>,
): Record<string, string> {
  return {
    GIT_DIR: store.folder,
    GIT_WORK_TREE: workTree ?? store.folder,
    GIT_INDEX_FILE: index ?? join(store.folder, 'no-index'),
    ...(magic && { GIT_LITERAL_PATHSPECS: '0' }),
    ...(borrow && { GIT_ALTERNATE_OBJECT_DIRECTORIES: [...store.alternates].map(quoted).join(delimiter) }),
  };
}

/** The path may contain the separator of the list. */
function quoted(path: string): string {
  return `"${path.replace(/["\\]/g, '\\$&')}"`;
}

export async function blobSizes(
  store: Store,
  oids: readonly string[],
  from: Pick<StoreRun, 'borrow'>,
  limits: Pick<StoreRun, 'signal' | 'timeoutMs'>,
): Promise<Map<string, number>> {
  const sizes = new Map<string, number>();
  if (oids.length === 0) return sizes;
  const output = await run(store, {
    args: ['cat-file', '--batch-check=%(objectname) %(objectsize)', '--buffer'],
    input: Buffer.from(`${oids.join('\n')}\n`),
    ...from,
    ...limits,
  });
  const slices = new Slices();
  for (let at = 0; at < output.length; await slices.step()) {
    const end = output.indexOf(0x0a, at);
    const [oid = '', size = ''] = output.toString('latin1', at, end).split(' ');
    if (/^\d+$/.test(size)) sizes.set(oid, Number(size));
    at = end + 1;
  }
  return sizes;
}

const compress = promisify(deflate);

/** The folder itself. Other names are encoded and never contain this. */
const SELF = '=';
export const OUTSIDE = '=outside';

/** Without git: a process would take longer than a whole scan that finds no changes. */
export async function writeState(
  store: Pick<Store, 'folder' | 'format'>,
  self: string,
  nested: ReadonlyMap<string, string>,
  outside: Outside,
): Promise<string> {
  const about = writeOutside(outside);
  const folders = [
    [SELF, self] as const,
    ...[...nested].map(([path, tree]) => [encodeURIComponent(path), tree] as const),
  ];
  // Git sorts folders as if their names ended with a slash.
  const entries = folders.map(([name, id]) => ({ name, sorted: `${name}/`, mode: '40000', id }));
  if (about.length > 0) {
    const id = await writeObject(store, 'blob', about);
    entries.push({ name: OUTSIDE, sorted: OUTSIDE, mode: '100644', id });
  }
  entries.sort((one, two) => (one.sorted < two.sorted ? -1 : 1));
  const content = entries.flatMap(({ mode, name, id }) => [Buffer.from(`${mode} ${name}\0`), Buffer.from(id, 'hex')]);
  return writeObject(store, 'tree', Buffer.concat(content));
}

export async function writeObject(
  { folder, format }: Pick<Store, 'folder' | 'format'>,
  type: 'tree' | 'blob',
  content: Buffer,
): Promise<string> {
  const object = Buffer.concat([Buffer.from(`${type} ${content.length}\0`), content]);
  const id = createHash(format).update(object).digest('hex');
  const below = join(folder, 'objects', id.slice(0, 2));
  const compressed = await compress(object);
  await mkdir(below, { recursive: true, mode: 0o700 });
  await put(join(below, id.slice(2)), compressed);
  return id;
}

export function folderPath(path: string): string {
  const slash = path.indexOf('/');
  const owner = path.slice(0, slash);
  return owner === SELF ? path.slice(slash + 1) : `${decodeURIComponent(owner)}${path.slice(slash)}`;
}
