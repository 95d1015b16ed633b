// What a rule would have allowed so far: the latest requests of all sessions, those that are open
// in this window and those in the journal.
import { relative } from 'node:path';
import { oneLine } from '../../base/text';
import type { Conversation } from '../../client/conversation/conversation';
import { type JudgedSession, wouldAllow } from '../../client/rules/judge';
import { isAnswered, type PastRequest, pastRequests, requestOf } from '../../client/rules/pastRequests';
import type { PermissionRule } from '../../client/rules/permissionRule';
import { subjectOf } from '../../client/rules/requestSubject';
import type { Archive } from '../sessions/archive';

const MAX_PAST = 50;
const MAX_SESSIONS = 200;
const MAX_ROWS = 20_000;
/** Limit for reading the past while the dialog waits, in ms. */
const MAX_MS = 1500;
const MAX_EXAMPLE = 120;

export interface RulePast {
  readonly asked: number;
  /** Newest first. */
  readonly allowed: readonly string[];
}

type Kept = Pick<Archive, 'all' | 'eventsOf'>;

interface PlacedRequest extends PastRequest {
  readonly place: JudgedSession;
}

export async function pastOf(rule: PermissionRule, sessions: readonly Conversation[], kept: Kept): Promise<RulePast> {
  const found: PlacedRequest[] = sessions.flatMap(({ model, cwd, roots, agent }) =>
    model.state.entries.flatMap((entry) =>
      entry.kind === 'tool' && entry.decision && isAnswered(entry.decision)
        ? [{ at: entry.at, asked: requestOf(entry), place: { cwd, roots, agentId: agent.id } }]
        : [],
    ),
  );
  const open = new Set(sessions.map(({ key }) => key));
  for await (const one of storedRequests(kept, open, (at) => found.filter((other) => other.at > at).length))
    found.push(one);
  const latest = found.sort((a, b) => b.at - a.at).slice(0, MAX_PAST);
  const allowed: string[] = [];
  for (const { asked, place } of latest)
    if (await wouldAllow(rule, asked, place)) allowed.push(oneLine(labelOf({ asked, place }), MAX_EXAMPLE));
  return { asked: latest.length, allowed };
}

/** Never the title that the agent gave it. */
function labelOf({ asked, place }: Pick<PlacedRequest, 'asked' | 'place'>): string {
  const subject = subjectOf(asked, place);
  if (subject?.kind === 'execute') return subject.words.join(' ');
  return subject?.paths.map((path) => relative(place.cwd, path)).join(', ') ?? '';
}

async function* storedRequests(
  kept: Kept,
  open: ReadonlySet<string>,
  newer: (at: number) => number,
): AsyncGenerator<PlacedRequest, void, undefined> {
  const signal = AbortSignal.timeout(MAX_MS);
  let left = MAX_SESSIONS;
  for (const { key, cwd, roots, agentId, updatedAt, lastSeq } of kept.all()) {
    if (signal.aborted || left-- === 0 || newer(updatedAt) >= MAX_PAST) return;
    if (open.has(key)) continue;
    let count = 0;
    for await (const one of pastRequests({ lastSeq, read: kept.eventsOf(key) }, MAX_ROWS, signal)) {
      yield { ...one, place: { cwd, roots, agentId } };
      if (++count === MAX_PAST) break;
    }
  }
}
