// The state of a review as it is stored.
import * as z from 'zod/mini';
import { isPlainPath, type ReviewFile, type Settled } from './reviewFile';
import type { Change } from './takeBack';
import { MAX_UNDONE, type Standing, type UndoneFile } from './undoneFiles';
import { fileId, MAX_WAITING } from './waitingFiles';

export const MAX_SETTLED = 5000;

const COUNT = z.int().check(z.nonnegative());
export const FILE_VERSION = z.object({
  oid: z.string().check(z.regex(/^[0-9a-f]{7,128}$/)),
  mode: z.enum(['100644', '100755', '120000']),
  size: COUNT,
  isHashOnly: z.optional(z.literal(true)),
});
export const FILE_PATH = z.string().check(z.maxLength(4096), z.refine(isPlainPath));
const ROOT = COUNT;

const SETTLED = z.enum(['kept', 'undone']);
const FILE = {
  path: FILE_PATH,
  oldPath: z.optional(FILE_PATH),
  base: z.optional(FILE_VERSION),
  left: z.optional(FILE_VERSION),
  added: COUNT,
  removed: COUNT,
  isBinary: z.optional(z.literal(true)),
  alsoYours: z.optional(z.literal(true)),
  isUnnamed: z.optional(z.literal(true)),
  state: z.enum(['unreviewed', 'conflict']),
};
const STANDING = z.object({ file: z.optional(z.object(FILE)), settled: z.optional(SETTLED) });
const UNDONE = z.object({
  root: ROOT,
  path: FILE_PATH,
  before: STANDING,
  after: STANDING,
  undo: z.object({
    path: FILE_PATH,
    oldPath: z.optional(FILE_PATH),
    before: z.optional(FILE_VERSION),
    after: z.optional(FILE_VERSION),
  }),
  turnId: z.optional(z.string()),
  isLast: z.optional(z.literal(true)),
});

const REVIEW = z.object({
  version: z.literal(1),
  roots: z.array(z.string().check(z.maxLength(4096))).check(z.maxLength(1000)),
  files: z.array(z.object({ root: ROOT, ...FILE })).check(z.maxLength(MAX_WAITING)),
  settled: z.array(z.tuple([ROOT, FILE_PATH, SETTLED])).check(z.maxLength(MAX_SETTLED)),
  // Earlier versions don't write it.
  undone: z.optional(z.array(UNDONE).check(z.maxLength(MAX_UNDONE))),
});

export type KeptReview = z.infer<typeof REVIEW>;

export function toKept(
  files: readonly ReviewFile[],
  settled: ReadonlyMap<string, Settled>,
  undone: readonly UndoneFile[],
): KeptReview {
  const roots: string[] = [];
  const known = new Map<string, number>();
  const rootOf = (root: string): number => {
    const index = known.get(root) ?? roots.push(root) - 1;
    known.set(root, index);
    return index;
  };
  return {
    version: 1,
    files: files.map(({ id: _id, root, ...file }) => ({ root: rootOf(root), ...file })),
    settled: [...settled].map(([id, state]) => {
      const split = id.indexOf('\0');
      return [rootOf(id.slice(0, split)), id.slice(split + 1), state];
    }),
    undone: undone.map(({ root, before, after, undo: { root: _root, ...undo }, ...one }) => ({
      ...one,
      root: rootOf(root),
      before: toStanding(before),
      after: toStanding(after),
      undo,
    })),
    roots,
  };
}

function toStanding({ file, settled }: Standing): z.infer<typeof STANDING> {
  const { id: _id, root: _root, ...rest } = file ?? {};
  return { file: file && (rest as z.infer<typeof STANDING>['file']), settled };
}

function fromStanding(root: string, { file, settled }: z.infer<typeof STANDING>): Standing {
  return { file: file && fileIn(root, file), settled };
}

function fileIn(root: string, file: Omit<ReviewFile, 'id' | 'root'>): ReviewFile {
  return { ...file, id: fileId(root, file.path), root };
}

/** @param roots files elsewhere are left out @returns nothing waiting if invalid */
export function fromKept(
  kept: unknown,
  roots: readonly string[],
): {
  readonly files: readonly ReviewFile[];
  readonly settled: Map<string, Settled>;
  readonly undone: readonly UndoneFile[];
} {
  const read = REVIEW.safeParse(kept);
  if (!read.success) return { files: [], settled: new Map(), undone: [] };
  const { data } = read;
  const rootOf = (index: number): string | undefined => roots.find((root) => root === data.roots[index]);
  return {
    files: data.files.flatMap(({ root: index, ...file }) => {
      const root = rootOf(index);
      return root === undefined ? [] : [fileIn(root, file as ReviewFile)];
    }),
    settled: new Map(
      data.settled.flatMap(([index, path, state]) => {
        const root = rootOf(index);
        return root === undefined ? [] : [[fileId(root, path), state] as const];
      }),
    ),
    undone: (data.undone ?? []).flatMap(({ root: index, before, after, undo, ...one }) => {
      const root = rootOf(index);
      if (root === undefined) return [];
      const standings = { before: fromStanding(root, before), after: fromStanding(root, after) };
      return [{ ...one, ...standings, root, undo: { ...undo, root } as Change }];
    }),
  };
}
