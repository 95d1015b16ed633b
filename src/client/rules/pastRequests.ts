// Reads answered permission requests and permanent answers from a stored session, newest first:
// backwards and in small parts, so that other work doesn't wait.
import type { PermissionAsk } from '../../acp/protocol/dialect';
import type { SessionEvent, TimedEvent } from '../../session/events/event';
import { SessionModel } from '../../session/model/model';
import type { ToolEntry } from '../../session/model/state';

const ROWS = 64;
/** Rows before a request that are searched for its call. */
const MAX_BEFORE = 20 * ROWS;
/** Calls may come before their requests. */
const MAX_CALLS = 500;
const SLICE_MS = 6;

type ToolCall = Extract<SessionEvent, { type: 'tool_call' }>;

export interface PastRequest {
  readonly at: number;
  readonly asked: PermissionAsk;
}

export interface StoredEvents {
  readonly lastSeq: number;
  read(from: number, to: number, types: readonly SessionEvent['type'][]): readonly TimedEvent[];
}

export function requestOf(entry: Readonly<ToolEntry>): PermissionAsk {
  const { toolCallId, title, toolKind, content, locations, rawInput } = entry;
  return { toolCallId, title, options: [], patch: { kind: toolKind, content, locations, rawInput } };
}

export function isAnswered({ by }: { readonly by: string }): boolean {
  return by === 'user' || by === 'rule';
}

interface Rows {
  readonly from: number;
  readonly isLast: boolean;
  readonly events: readonly TimedEvent[];
}

/** @param maxRows rows read at most, from the end */
async function* rowsOf(
  { lastSeq, read }: StoredEvents,
  types: readonly SessionEvent['type'][],
  maxRows: number,
  signal: AbortSignal,
): AsyncGenerator<Rows, void, undefined> {
  let until = performance.now() + SLICE_MS;
  const first = Math.max(1, lastSeq - maxRows + 1);
  for (let to = lastSeq; to >= first && !signal.aborted; to -= ROWS) {
    const from = Math.max(first, to - ROWS + 1);
    yield { from, isLast: from === first, events: read(from, to, types).toReversed() };
    if (performance.now() < until) continue;
    await new Promise((resolve) => setImmediate(resolve));
    until = performance.now() + SLICE_MS;
  }
}

interface OpenRequest {
  readonly toolCallId: string;
  readonly at: number;
  readonly from: number;
}

export async function* pastRequests(
  stored: StoredEvents,
  maxRows: number,
  signal: AbortSignal,
): AsyncGenerator<PastRequest, void, undefined> {
  const answered = new Set<string>();
  const calls = new Map<string, TimedEvent[]>();
  let open: OpenRequest[] = [];
  const types = ['permission_asked', 'permission_closed', 'tool_call'] as const;
  for await (const { from, isLast, events } of rowsOf(stored, types, maxRows, signal)) {
    for (const timed of events) {
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
        // Earlier events with this id belong to another call.
        yield* requestsOf(toolCallId, open, calls);
        open = open.filter((each) => each.toolCallId !== toolCallId);
        calls.delete(toolCallId);
      }
    }
    for (const toolCallId of new Set(open.map((each) => each.toolCallId))) {
      if (!isLast && open.some((each) => each.toolCallId === toolCallId && each.from - from < MAX_BEFORE)) continue;
      yield* requestsOf(toolCallId, open, calls);
      open = open.filter((each) => each.toolCallId !== toolCallId);
    }
    const openIds = new Set(open.map(({ toolCallId }) => toolCallId));
    if (calls.size > MAX_CALLS) for (const id of calls.keys()) if (!openIds.has(id)) calls.delete(id);
  }
}

function requestsOf(
  toolCallId: string,
  open: readonly OpenRequest[],
  calls: ReadonlyMap<string, readonly TimedEvent[]>,
): PastRequest[] {
  const about = open.filter((each) => each.toolCallId === toolCallId);
  const [entry] = about.length === 0 ? [] : entriesOf(calls.get(toolCallId) ?? []);
  return entry?.kind === 'tool' ? about.map(({ at }) => ({ at, asked: requestOf(entry) })) : [];
}

function entriesOf(newestFirst: readonly TimedEvent[]): SessionModel['state']['entries'] {
  const model = new SessionModel();
  for (const { at, event } of newestFirst.toReversed()) model.apply(event as ToolCall, at);
  return model.state.entries;
}

export interface KeptAnswer {
  readonly at: number;
  /** The command, or the request's title. */
  readonly about: string;
  readonly answer: string;
  readonly isAllowed: boolean;
}

/** Returns the user's permanent answers: the agent keeps them, and they can't be revoked here. */
export async function* keptAnswers(
  stored: StoredEvents,
  maxRows: number,
  signal: AbortSignal,
): AsyncGenerator<KeptAnswer, void, undefined> {
  const chosen = new Map<string, string>();
  const types = ['permission_asked', 'permission_closed'] as const;
  for await (const { events } of rowsOf(stored, types, maxRows, signal)) {
    for (const { at, event } of events) {
      if (event.type === 'permission_closed') {
        if (event.by === 'user' && event.optionId !== undefined) chosen.set(event.permissionId, event.optionId);
      } else if (event.type === 'permission_asked') {
        const optionId = chosen.get(event.permissionId);
        chosen.delete(event.permissionId);
        const option = event.options.find((each) => each.optionId === optionId);
        if (!option?.kind.endsWith('_always')) continue;
        const about = event.command?.line ?? event.title;
        yield { at, about, answer: option.name, isAllowed: option.kind === 'allow_always' };
      }
    }
  }
}
