// Sample timelines: a session of a few turns, and large ones.
import type { ItemView, TimelineCall, TimelineTurn, TimelineView } from '../../../src/panel/contract';
import type { Panel } from './browser';
import { message, tool } from './samples';

const AT = Date.UTC(2026, 10, 21, 9, 0, 0);
const HOUR = 3_600_000;
const S = 1000;

const KINDS = ['read', 'search', 'edit', 'execute', 'fetch', 'think', 'other'];

/** Three turns with an hour between them, parallel calls, a subagent, a failure and waits. */
export function timeline(): TimelineView {
  const turns: TimelineTurn[] = [
    { number: 1, at: AT, endedAt: AT + 95 * S, index: 0, tokens: 8100, context: 0.18 },
    {
      number: 2,
      at: AT + HOUR,
      endedAt: AT + HOUR + 180 * S,
      index: 8,
      waits: [{ from: AT + HOUR + 60 * S, until: AT + HOUR + 92 * S }],
      tokens: 24_500,
      context: 0.46,
      cost: { amount: 0.21, currency: 'USD' },
    },
    { number: 3, at: AT + 2 * HOUR, index: 13 },
  ];
  const call = (
    index: number,
    turn: number,
    from: number,
    until: number | undefined,
    kind: string,
    title: string,
    patch: Partial<TimelineCall> = {},
  ): TimelineCall => {
    const start = turns[turn - 1]!.at;
    return {
      index,
      at: start + from * S,
      ...(until !== undefined && { endedAt: start + until * S }),
      kind,
      status: until === undefined ? 'in_progress' : 'completed',
      title,
      turn,
      ...patch,
    };
  };
  const calls = [
    call(1, 1, 4, 9, 'read', 'Read src/server.ts'),
    call(2, 1, 5, 12, 'read', 'src/upload/uploadQueue.ts'),
    call(3, 1, 6, 8, 'search', 'Search for listening'),
    call(4, 1, 15, 85, 'subagent', 'Look for flaky tests'),
    call(5, 1, 16, 40, 'execute', 'npm test -- upload', { status: 'failed' }),
    call(6, 1, 41, 80, 'fetch', 'https://example.com/docs'),
    call(9, 2, 10, 14, 'read', 'test/upload.test.ts'),
    call(10, 2, 20, 58, 'think', 'Plan'),
    call(11, 2, 60, 95, 'edit', 'Edit test/upload.test.ts', { waitedMs: 32 * S }),
    call(12, 2, 100, 170, 'execute', 'npm test'),
    call(14, 3, 5, undefined, 'execute', 'npm run build'),
  ];
  return { from: 0, turns, calls, now: AT + 2 * HOUR + 40 * S, isDone: true };
}

export function timelineItems(): ItemView[] {
  const { calls } = timeline();
  return Array.from({ length: 15 }, (_, index) => {
    const call = calls.find((candidate) => candidate.index === index);
    if (call) return tool(`c${index}`, { title: call.title, toolKind: call.kind, turnId: `t${call.turn}` });
    return message(`m${index}`, index % 2 === 0 ? 'user' : 'agent', `Message ${index}.`);
  });
}

export function longTimeline(count: number): TimelineView {
  const calls: TimelineCall[] = [];
  const turns: TimelineTurn[] = [];
  let at = AT;
  for (let index = 0; index < count; index++) {
    if (index % 20 === 0) {
      at += HOUR / 4;
      turns.push({ number: turns.length + 1, at, endedAt: at, index });
    }
    const length = 200 + ((index * 7919) % 30) * 400;
    const kind = KINDS[index % KINDS.length]!;
    const turn = turns.length;
    calls.push({ index, at, endedAt: at + length, kind, status: 'completed', title: `src/file${index}.ts`, turn });
    at += index % 3 === 0 ? 100 : length + 300;
    turns[turn - 1] = { ...turns[turn - 1]!, endedAt: at + 12_000 };
  }
  return { from: 0, turns, calls, now: at + 20_000, isDone: true };
}

export async function openTimeline(panel: Panel, view: TimelineView): Promise<void> {
  await panel.send({ type: 'focus', on: 'timeline' });
  const { id } = await panel.next('timeline');
  await panel.send({ type: 'timeline', id, ...view });
  await panel.page.locator('.timeline-row').first().waitFor();
}
