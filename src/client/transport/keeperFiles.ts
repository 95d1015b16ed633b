// The files by which windows find keepers. Other versions of the extension may have written them,
// so they are validated.
import { lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { KEEPER_FILE, type KeeperRest, REST_FILE } from '../../keeper/wire';

/** Written to the keeper's folder, so it contains no secrets. */
export interface KeeperAbout {
  readonly session: string;
  readonly agentId: string;
  readonly agentName: string;
  readonly folder: string;
}

const MAX_FILE_BYTES = 64 * 1024;
const MAX_REST_BYTES = 4 * 1024 * 1024;

const aboutSchema = z.object({
  session: z.string(),
  agentId: z.string(),
  agentName: z.string(),
  folder: z.string(),
});
const birthSchema = z.object({ pid: z.int().check(z.positive()), after: z.number(), before: z.number() });
const hostSchema = z.object({
  id: z.string().check(z.regex(/^host-[0-9a-f]+$/)),
  socket: z.string(),
  socketFolder: z.optional(z.string()),
  token: z.string(),
});
const keeperSchema = z.object({
  wire: z.number(),
  // 0 and negative numbers mean process groups.
  pid: z.int().check(z.positive()),
  identity: z.optional(z.string()),
  birth: z.optional(birthSchema),
  agent: z.optional(birthSchema),
  host: z.string(),
  mark: z.string().check(z.minLength(1)),
  socket: z.string(),
  socketFolder: z.optional(z.string()),
  token: z.string(),
  startedAt: z.number(),
  about: aboutSchema,
  /** The process keeps other agents too, and listens there. */
  shared: z.optional(hostSchema),
});
const count = z.int().check(z.nonnegative());
const restSchema = z.object({
  wire: z.number(),
  host: z.string(),
  startedAt: z.number(),
  about: aboutSchema,
  state: z.looseObject({ pid: z.number(), agentPid: z.number(), sent: count, storedLine: count }),
  spool: z.object({
    stored: z.object({ line: count, open: z.array(count) }),
    end: count,
    segments: z.array(
      z.object({ start: count, linesBefore: count, length: count, lines: count, endsLine: z.boolean() }),
    ),
  }),
});

export type KeeperFile = z.infer<typeof keeperSchema>;
export type RestFile = KeeperRest & { readonly about: KeeperAbout };

export function readKeeperFile(folder: string): KeeperFile | undefined {
  return keeperSchema.safeParse(readJson(join(folder, KEEPER_FILE), MAX_FILE_BYTES)).data;
}

export function readRestFile(folder: string): RestFile | undefined {
  const json = readJson(join(folder, REST_FILE), MAX_REST_BYTES);
  return restSchema.safeParse(json).success ? (json as RestFile) : undefined;
}

export function readHostFile(path: string): z.infer<typeof hostSchema> | undefined {
  return hostSchema.safeParse(readJson(path, MAX_FILE_BYTES)).data;
}

function readJson(path: string, maxBytes: number): unknown {
  try {
    const found = lstatSync(path);
    return found.isFile() && found.size <= maxBytes ? JSON.parse(readFileSync(path, 'utf8')) : undefined;
  } catch {
    return undefined;
  }
}
