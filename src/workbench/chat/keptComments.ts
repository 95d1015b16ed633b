// Stores unsent comments for agents in the workspace state, so that they outlive the window.
import type { Memento } from 'vscode';
import * as z from 'zod/mini';

const COMMENTS = 'parley.comments';
const MAX_THREADS = 200;
const MAX_CHARS = 256 * 1024;

export interface KeptThread {
  readonly session: string;
  readonly uri: string;
  /** 0-based. */
  readonly first: number;
  readonly last: number;
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

/** Oldest first. */
export function readComments(memento: Pick<Memento, 'get'>): readonly KeptThread[] {
  const { data = [] } = schema.safeParse(memento.get<unknown>(COMMENTS));
  return data.filter(({ first, last }) => first <= last);
}

/** Stores as many of the newest threads as fit. @param threads oldest first */
export function keepComments(memento: Pick<Memento, 'update'>, threads: readonly KeptThread[]): void {
  let left = MAX_CHARS;
  const stored: KeptThread[] = [];
  for (const thread of threads.slice(-MAX_THREADS).reverse()) {
    const size = JSON.stringify(thread).length;
    if (size > left) continue;
    left -= size;
    stored.unshift(thread);
  }
  void memento.update(COMMENTS, stored.length > 0 ? stored : undefined);
}

const MAX_AWAY = 5000;

export function findLines(
  lineAt: (line: number) => string | undefined,
  lines: readonly string[],
  first: number,
): number | undefined {
  if (lines.length === 0) return undefined;
  const isAt = (line: number): boolean => lines.every((text, index) => lineAt(line + index) === text);
  for (let away = 0; away <= MAX_AWAY; away++)
    for (const line of away === 0 ? [first] : [first - away, first + away]) if (isAt(line)) return line;
  return undefined;
}
