// Permanent answers, which only the agent stores.
import { strict as assert } from 'node:assert';
import { keptAnswers } from '../../../../src/client/rules/pastRequests';
import type { SessionEvent, TimedEvent } from '../../../../src/session/events/event';

describe('permanent answers', () => {
  const options = [
    { optionId: 'once', name: 'Allow', kind: 'allow_once' },
    { optionId: 'always', name: 'Always allow', kind: 'allow_always' },
    { optionId: 'never', name: 'Never', kind: 'reject_always' },
  ] as const;
  const asked = (permissionId: string, line?: string): SessionEvent => ({
    type: 'permission_asked',
    permissionId,
    title: `Request ${permissionId}`,
    options,
    ...(line !== undefined && { command: { line } }),
  });
  const closed = (permissionId: string, optionId: string, by: 'user' | 'rule' = 'user'): SessionEvent => ({
    type: 'permission_closed',
    permissionId,
    outcome: 'selected',
    optionId,
    by,
  });

  async function found(events: readonly SessionEvent[], maxRows = 1_000_000): Promise<readonly string[]> {
    const read = (from: number, to: number): readonly TimedEvent[] =>
      events.slice(from - 1, to).map((event, index) => ({ at: from + index, event }));
    const all: string[] = [];
    const stored = { lastSeq: events.length, read };
    for await (const one of keptAnswers(stored, maxRows, new AbortController().signal))
      all.push(`${one.at} ${one.about}: ${one.answer}${one.isAllowed ? ' +' : ''}`);
    return all;
  }

  it('are those stored by the agent, newest first', async () => {
    const events = [
      ...[asked('a', 'npm test'), closed('a', 'always')],
      ...[asked('b'), closed('b', 'once')],
      ...[asked('c'), closed('c', 'always', 'rule')],
      ...[asked('d'), closed('d', 'never')],
      asked('e'),
    ];
    assert.deepEqual(await found(events), ['7 Request d: Never', '1 npm test: Always allow +']);
  });

  it('are found long after their question, up to a limit', async () => {
    const noise: SessionEvent[] = Array.from({ length: 5000 }, () => asked('noise'));
    const events = [asked('a'), ...noise, closed('a', 'always')];
    assert.deepEqual(await found(events), ['1 Request a: Always allow +']);
    assert.deepEqual(await found(events, 4000), []);
  });
});
