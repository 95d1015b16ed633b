// What the user has answered for good in a session. The agent keeps such an answer, and nothing here
// can take it back: all that can be done is to show it.
import type { SessionEvent } from '../../session/events/event';
import type { StoredEvents } from './pastRequests';

const ROWS = 512;
const TYPES: readonly SessionEvent['type'][] = ['permission_asked', 'permission_closed'];

export interface KeptAnswer {
  readonly at: number;
  /** The command, else the request's title. */
  readonly about: string;
  readonly answer: string;
  readonly isAllowed: boolean;
}

/**
 * Newest first.
 * @param maxRows rows read at most, from the end
 */
export async function* keptAnswers(
  { lastSeq, read }: StoredEvents,
  maxRows: number,
  signal: AbortSignal,
): AsyncGenerator<KeptAnswer, void, undefined> {
  const chosen = new Map<string, string>();
  const first = Math.max(1, lastSeq - maxRows + 1);
  for (let to = lastSeq; to >= first && !signal.aborted; to -= ROWS) {
    for (const { at, event } of read(Math.max(first, to - ROWS + 1), to, TYPES).toReversed()) {
      if (event.type === 'permission_closed') {
        if (event.by === 'user' && event.optionId !== undefined) chosen.set(event.permissionId, event.optionId);
      } else if (event.type === 'permission_asked') {
        const optionId = chosen.get(event.permissionId);
        chosen.delete(event.permissionId);
        const option = event.options.find((one) => one.optionId === optionId);
        if (!option?.kind.endsWith('_always')) continue;
        const about = event.command?.line ?? event.title;
        yield { at, about, answer: option.name, isAllowed: option.kind === 'allow_always' };
      }
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
}
