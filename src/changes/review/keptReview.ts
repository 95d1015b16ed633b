// The state of a review in storage.
import * as z from 'zod/mini';
import { isPlainPath, type ReviewFile, type Settled } from './reviewFile';
import type { Change } from './takeBack';
import { type FileState, MAX_UNDONE, type UndoneFile } from './undoneFiles';
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
const FILE_STATE = z.object({ file: z.optional(z.object(FILE)), settled: z.optional(SETTLED) });
const UNDONE = z.object({
  root: ROOT,
  path: FILE_PATH,
  before: FILE_STATE,
  after: FILE_STATE,
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
  // Absent in states of earlier versions.
  undone: z.optional(z.array(UNDONE).check(z.maxLength(MAX_UNDONE))),
});

export type StoredReview = z.infer<typeof REVIEW>;

export function toStored(
  files: readonly ReviewFile[],
  settled: ReadonlyMap<string, Settled>,
  undone: readonly UndoneFile[],
): StoredReview {
  const roots: string[] = [];
  const indexes = new Map<string, number>();
  const rootOf = (root: string): number => {
    const index = indexes.get(root) ?? roots.push(root) - 1;
    indexes.set(root, index);
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
      before: toStoredState(before),
      after: toStoredState(after),
      undo,
    })),
    roots,
  };
}

function toStoredState({ file, settled }: FileState): z.infer<typeof FILE_STATE> {
  const { id: _id, root: _root, ...rest } = file ?? {};
  return { file: file && (rest as z.infer<typeof FILE_STATE>['file']), settled };
}

function fromStoredState(root: string, { file, settled }: z.infer<typeof FILE_STATE>): FileState {
  return { file: file && fileIn(root, file), settled };
}

function fileIn(root: string, file: Omit<ReviewFile, 'id' | 'root'>): ReviewFile {
  return { ...file, id: fileId(root, file.path), root };
}

/** Returns nothing to review if invalid. Drops files outside of `roots`. */
export function fromStored(
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
      const states = { before: fromStoredState(root, before), after: fromStoredState(root, after) };
      return [{ ...one, ...states, root, undo: { ...undo, root } as Change }];
    }),
  };
}
