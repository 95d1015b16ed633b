// The permission requests that were answered in a stored session, newest first. The session is read
// backwards in small parts, so that nothing else waits for it.
import type { PermissionAsk } from '../../acp/protocol/dialect';
import type { SessionEvent, TimedEvent } from '../../session/events/event';
import { SessionModel } from '../../session/model/model';
import type { ToolEntry } from '../../session/model/state';

/** Rows of the session that are read at once. */
const ROWS = 64;
/** Rows before a request in which its call is looked for. */
const MAX_BEFORE = 20 * ROWS;
/** Calls without a request that are kept, as one may come before them. */
const MAX_CALLS = 500;
/** How long is read before everything else has its turn, in ms. */
const SLICE_MS = 6;

const TYPES = ['permission_asked', 'permission_closed', 'tool_call'] as const;
type ToolCall = Extract<SessionEvent, { type: 'tool_call' }>;

/** A request that was answered, with what was known of its call then. */
export interface PastRequest {
  /** When it was asked, in ms since 1970. */
  readonly at: number;
  readonly asked: PermissionAsk;
}

/** The events of a stored session. */
export interface StoredEvents {
  /** The number of the newest one. */
  readonly lastSeq: number;
  read(from: number, to: number, types: readonly SessionEvent['type'][]): readonly TimedEvent[];
}

/** Returns a call as the request that asked for it. */
export function requestOf(entry: Readonly<ToolEntry>): PermissionAsk {
  const { toolCallId, title, toolKind, content, locations, rawInput } = entry;
  return { toolCallId, title, options: [], patch: { kind: toolKind, content, locations, rawInput } };
}

/** Returns whether the user or one of their rules has answered a request. */
export function isAnswered({ by }: { readonly by: string }): boolean {
  return by === 'user' || by === 'rule';
}

interface OpenRequest {
  readonly toolCallId: string;
  readonly at: number;
  /** The first row of the part in which it was found. */
  readonly from: number;
}

/**
 * Reads the answered requests of a session that are about a tool call.
 * @param maxRows rows that are read at most, from the end
 * @param signal ends the reading
 */
export async function* pastRequests(
  { lastSeq, read }: StoredEvents,
  maxRows: number,
  signal: AbortSignal,
): AsyncGenerator<PastRequest, void, undefined> {
  const answered = new Set<string>();
  /** By call, newest event first. */
  const calls = new Map<string, TimedEvent[]>();
  let open: OpenRequest[] = [];
  let until = performance.now() + SLICE_MS;
  const first = Math.max(1, lastSeq - maxRows + 1);
  for (let to = lastSeq; to >= first; to -= ROWS) {
    const from = Math.max(first, to - ROWS + 1);
    for (const timed of read(from, to, TYPES).toReversed()) {
      const { at, event } = timed;
      if (event.type === 'permission_closed') {
        if (isAnswered(event)) answered.add(event.permissionId);
      } else if (event.type === 'permission_asked') {
        const { permissionId, toolCallId } = event;
        if (answered.delete(permissionId) && toolCallId !== undefined) open.push({ toolCallId, at, from });
      } else if (event.type === 'tool_call') {
        const { toolCallId } = event;
        calls.set(toolCallId, [...(calls.get(toolCallId) ?? []), timed]);
        if (!event.announced) continue;
        // What is further back under this id is another call.
        yield* requestsOf(toolCallId, open, calls);
        open = open.filter((one) => one.toolCallId !== toolCallId);
        calls.delete(toolCallId);
      }
    }
    const isLast = from === first;
    for (const toolCallId of new Set(open.map((one) => one.toolCallId))) {
      if (!isLast && open.some((one) => one.toolCallId === toolCallId && one.from - from < MAX_BEFORE)) continue;
      yield* requestsOf(toolCallId, open, calls);
      open = open.filter((one) => one.toolCallId !== toolCallId);
    }
    const wanted = new Set(open.map(({ toolCallId }) => toolCallId));
    if (calls.size > MAX_CALLS) for (const id of calls.keys()) if (!wanted.has(id)) calls.delete(id);
    if (performance.now() < until) continue;
    await new Promise((resolve) => setImmediate(resolve));
    if (signal.aborted) return;
    until = performance.now() + SLICE_MS;
  }
}

/** Returns the open requests of a call. */
function requestsOf(
  toolCallId: string,
  open: readonly OpenRequest[],
  calls: ReadonlyMap<string, readonly TimedEvent[]>,
): PastRequest[] {
  const about = open.filter((one) => one.toolCallId === toolCallId);
  const [entry] = about.length === 0 ? [] : entriesOf(calls.get(toolCallId) ?? []);
  return entry?.kind === 'tool' ? about.map(({ at }) => ({ at, asked: requestOf(entry) })) : [];
}

function entriesOf(newestFirst: readonly TimedEvent[]): SessionModel['state']['entries'] {
  const model = new SessionModel();
  for (const { at, event } of newestFirst.toReversed()) model.apply(event as ToolCall, at);
  return model.state.entries;
}
