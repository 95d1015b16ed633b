// The state of a review as it is stored.
import * as z from 'zod/mini';
import { isPlainPath, type ReviewFile } from './reviewFile';
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

const REVIEW = z.object({
  version: z.literal(1),
  roots: z.array(z.string().check(z.maxLength(4096))).check(z.maxLength(1000)),
  files: z
    .array(
      z.object({
        root: ROOT,
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
      }),
    )
    .check(z.maxLength(MAX_WAITING)),
  settled: z.array(z.tuple([ROOT, FILE_PATH, z.enum(['kept', 'undone'])])).check(z.maxLength(MAX_SETTLED)),
});

export type KeptReview = z.infer<typeof REVIEW>;

export type Settled = 'kept' | 'undone';

export function toKept(files: readonly ReviewFile[], settled: ReadonlyMap<string, Settled>): KeptReview {
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
    roots,
  };
}

/** @param roots files elsewhere are left out @returns nothing waiting if invalid */
export function fromKept(
  kept: unknown,
  roots: readonly string[],
): { readonly files: readonly ReviewFile[]; readonly settled: Map<string, Settled> } {
  const read = REVIEW.safeParse(kept);
  if (!read.success) return { files: [], settled: new Map() };
  const { data } = read;
  const rootOf = (index: number): string | undefined => roots.find((root) => root === data.roots[index]);
  return {
    files: data.files.flatMap(({ root: index, ...file }) => {
      const root = rootOf(index);
      return root === undefined ? [] : [{ id: fileId(root, file.path), root, ...file } as ReviewFile];
    }),
    settled: new Map(
      data.settled.flatMap(([index, path, state]) => {
        const root = rootOf(index);
        return root === undefined ? [] : [[fileId(root, path), state] as const];
      }),
    ),
  };
}
