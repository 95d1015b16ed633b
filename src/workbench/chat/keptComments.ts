// Comments for agents that outlive the window until they are sent, in the state of the workspace.
import type { Memento } from 'vscode';
import * as z from 'zod/mini';

const COMMENTS = 'parley.comments';
/** Threads that are kept, and characters of all of them as JSON: the newest. */
const MAX_THREADS = 200;
const MAX_CHARS = 256 * 1024;

/** Comments on some lines of a document. */
export interface KeptThread {
  /** The session that they are for. */
  readonly session: string;
  /** The address of the document. */
  readonly uri: string;
  /** The lines, from 0. */
  readonly first: number;
  readonly last: number;
  /** What stood there, from the first line on. */
  readonly lines: readonly string[];
  readonly comments: readonly string[];
}

const line = z.int().check(z.nonnegative());
const schema = z.array(
  z.object({
    session: z.string(),
    uri: z.string(),
    first: line,
    last: line,
    lines: z.array(z.string()),
    comments: z.array(z.string()),
  }),
);

/** Returns what was kept, the oldest first. */
export function readComments(memento: Pick<Memento, 'get'>): readonly KeptThread[] {
  const { data = [] } = schema.safeParse(memento.get<unknown>(COMMENTS));
  return data.filter(({ first, last }) => first <= last);
}

/** Keeps threads, the oldest first, in place of those before; as many of the newest as there is room for. */
export function keepComments(memento: Pick<Memento, 'update'>, threads: readonly KeptThread[]): void {
  let left = MAX_CHARS;
  const kept: KeptThread[] = [];
  for (const thread of threads.slice(-MAX_THREADS).reverse()) {
    const size = JSON.stringify(thread).length;
    if (size > left) continue;
    left -= size;
    kept.unshift(thread);
  }
  void memento.update(COMMENTS, kept.length > 0 ? kept : undefined);
}
