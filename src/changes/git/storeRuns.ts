// Runs of git in a store of our own: which objects a run sees, and nothing of the user's repository
// but what is passed here.
import { delimiter, join } from 'node:path';
import { Slices } from '../lines/slices';
import type { ObjectFormat } from './bareStore';
import { type Git, type GitResult, mustRunGit, runGit } from './gitProcess';

/** A store, and where else objects may lie. */
export interface Store {
  readonly git: Git;
  /** Absolute; the bare repository. */
  readonly folder: string;
  readonly format: ObjectFormat;
  /** Absolute; the folder of this window's indexes. */
  readonly indexes: string;
  /** Object folders of the user's repositories that the states refer to; absolute. Grows. */
  readonly alternates: Set<string>;
}

export interface StoreRun {
  readonly args: readonly string[];
  readonly input?: Buffer;
  /** Default: the store. */
  readonly cwd?: string;
  /** Absolute; for what looks at files. */
  readonly workTree?: string;
  /** Absolute. */
  readonly index?: string;
  /**
   * Reads objects of the user's repositories too. Never for runs that write: git would leave out
   * what is there already, which is not ours to keep, and touch it.
   */
  readonly borrow?: true;
  /** The paths in `args` are patterns of git. Default: they are taken literally. */
  readonly magic?: true;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs: number;
  /** Bytes. */
  readonly maxOutput?: number;
}

/** See `mustRunGit`. */
export function run(store: Store, options: StoreRun): Promise<Buffer> {
  return mustRunGit(store.git, spawnOptions(store, options));
}

/** See `runGit`. */
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

/** What points git at a store. */
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

/** Git reads a quoted path where one contains the separator of the list. */
function quoted(path: string): string {
  return `"${path.replace(/["\\]/g, '\\$&')}"`;
}

/** The sizes in bytes of those contents that are there. */
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
