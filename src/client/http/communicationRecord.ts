// The stored state of a session with an HTTP agent, besides its transcript: the descriptor, the
// servers that have it, and an open question.
import * as z from 'zod/mini';
import { parsedJson } from '../../base/untrusted';
import { compareHistories, heldSchema, type KeptPast, type RunPosition } from '../ports/agentServers';
import { idSchema, MAX_HISTORY, type SessionDescriptor, sessionSchema, urlSchema } from '../ports/messages';

/** Stores one text per conversation. Without it, HTTP sessions end with their window. */
export interface DescriptorPort {
  read(key: string): Promise<string | undefined>;
  /** Resolves when the text is on disk. May reject. */
  write(key: string, text: string): Promise<void>;
}

export interface CommunicationRecord extends KeptPast {
  readonly visited: readonly string[];
  /** Other branches of the session found on servers, newest last. */
  readonly branches: readonly SessionDescriptor[];
  readonly place?: { readonly url: string; readonly agent: string };
  readonly question?: RunPosition;
  /** The run in progress, whose prompt is the last held message; `true` if it has no id. */
  readonly running?: RunPosition | true;
  readonly dead?: readonly string[];
}

const GROWN: ReadonlySet<string> = new Set(['same', 'extendedBy']);

const MAX_VISITED = 100;
const MAX_BRANCHES = 5;

const positionSchema = z.object({ runId: idSchema, taken: z.number().check(z.nonnegative()) });

const schema = z.object({
  descriptor: sessionSchema,
  visited: z.array(urlSchema).check(z.maxLength(MAX_VISITED)),
  branches: z.array(sessionSchema).check(z.maxLength(MAX_BRANCHES)),
  place: z.optional(z.object({ url: urlSchema.check(z.refine(isPlain)), agent: z.string() })),
  question: z.optional(positionSchema),
  held: z.optional(z.array(heldSchema).check(z.maxLength(MAX_HISTORY))),
  gone: z.optional(z.array(z.string()).check(z.maxLength(MAX_HISTORY))),
  copies: z.optional(z.array(urlSchema).check(z.maxLength(MAX_HISTORY))),
  running: z.optional(z.union([z.literal(true), positionSchema])),
  dead: z.optional(z.array(urlSchema).check(z.maxLength(MAX_HISTORY))),
});

export function readRecord(text: string): CommunicationRecord | undefined {
  return schema.safeParse(parsedJson(text)).data;
}

export function withBranch(
  branches: readonly SessionDescriptor[],
  found: SessionDescriptor,
): readonly SessionDescriptor[] {
  const others = branches.filter(({ history }) => !GROWN.has(compareHistories(history, found.history).relation));
  return [...others, found].slice(-MAX_BRANCHES);
}

export function writeRecord({ visited, branches, ...rest }: CommunicationRecord): string {
  return JSON.stringify({ ...rest, visited: visited.slice(-MAX_VISITED), branches: branches.slice(-MAX_BRANCHES) });
}

function isPlain(url: string): boolean {
  const { username, password, search, hash } = new URL(url);
  return username === '' && password === '' && search === '' && hash === '';
}
