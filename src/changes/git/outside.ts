// What a state says of files that it does not have: a file that is not in a state need not have been
// missing then.

/** Paths that are noted one by one; of more, only their folders are. */
const MAX_PATHS = 10_000;

/** Paths are relative to the folder of the state. */
export interface Outside {
  /**
   * What was there and was not read: ignored files, files without the right to read them, repositories
   * beyond the limit. A slash at the end: a folder with all that is in it.
   */
  readonly unread: readonly string[];
  /**
   * Files of the state that are older than the scan before the one that read them first: they were not
   * made in between, but came from elsewhere or were ignored until then.
   */
  readonly arrived: readonly string[];
}

export const NOTHING_OUTSIDE: Outside = { unread: [], arrived: [] };

/** Returns both, sorted and without duplicates. */
export function joinOutside(all: readonly Outside[]): Outside {
  const join = (key: keyof Outside): readonly string[] => [...new Set(all.flatMap((one) => one[key]))].sort();
  return { unread: bounded(join('unread')), arrived: join('arrived') };
}

/** Returns what lies below a folder, as seen from above it. @param path of the folder; empty: itself */
export function outsideOf({ unread, arrived }: Outside, path: string): Outside {
  if (path === '') return { unread, arrived };
  return { unread: unread.map((one) => `${path}/${one}`), arrived: arrived.map((one) => `${path}/${one}`) };
}

/** As bytes for the store; empty where there is nothing to say. */
export function writeOutside(outside: Outside): Buffer {
  const { unread, arrived } = outside;
  return unread.length + arrived.length === 0 ? Buffer.alloc(0) : Buffer.from(JSON.stringify({ unread, arrived }));
}

export function readOutside(content: Buffer | undefined): Outside {
  if (!content || content.length === 0) return NOTHING_OUTSIDE;
  const read: Partial<Record<keyof Outside, unknown>> = JSON.parse(content.toString('utf8'));
  const texts = (value: unknown): readonly string[] =>
    Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
  return { unread: texts(read.unread), arrived: texts(read.arrived) };
}

/** Finds paths in a list in which a slash at the end means a folder with all that is in it. */
export class PathSet {
  readonly #paths: ReadonlySet<string>;

  constructor(paths: readonly string[]) {
    this.#paths = new Set(paths.map(folded));
  }

  /** Returns whether a path is in the list, or below a folder of it, however it is spelled. */
  has(path: string): boolean {
    if (this.#paths.size === 0) return false;
    const wanted = folded(path);
    if (this.#paths.has(wanted) || this.#paths.has('')) return true;
    for (let slash = wanted.indexOf('/'); slash >= 0; slash = wanted.indexOf('/', slash + 1))
      if (this.#paths.has(wanted.slice(0, slash + 1))) return true;
    return false;
  }
}

/** File systems may find a file by another spelling of its name. */
function folded(path: string): string {
  return path.normalize('NFC').toLowerCase();
}

/** Names the folders of the paths where there are too many: that says too much, never too little. */
function bounded(paths: readonly string[]): readonly string[] {
  let list = paths;
  while (list.length > MAX_PATHS)
    list = [...new Set(list.map((path) => path.slice(0, path.replace(/\/$/, '').lastIndexOf('/') + 1)))];
  return list;
}
