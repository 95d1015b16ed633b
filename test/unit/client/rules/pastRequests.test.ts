// The answered permission requests of a stored session.
import { strict as assert } from 'node:assert';
import { type PastRequest, pastRequests } from '../../../../src/client/rules/pastRequests';
import type { SessionEvent, TimedEvent } from '../../../../src/session/events/event';
import type { Journal } from '../../../../src/store/journal';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import { newSession, openJournal, said } from '../../../support/store/journals';

describe('past requests', () => {
  let journal: Journal;
  let at = 0;
  const never = new AbortController().signal;

  beforeEach(async () => {
    at = 0;
    journal = openJournal(await scratchFolder());
    journal.saveSession(newSession('a'));
  });

  afterEach(async () => {
    journal.dispose();
    await removeScratch();
  });

  const add = (...events: SessionEvent[]): void =>
    journal.append(
      'a',
      events.map((event): TimedEvent => ({ at: ++at, event })),
    );
  const call = (toolCallId: string, command: string, announced = true): SessionEvent => ({
    type: 'tool_call',
    toolCallId,
    patch: { title: command, kind: 'execute', rawInput: { command } },
    announced,
  });
  const asks = (toolCallId: string, permissionId = toolCallId): SessionEvent => ({
    type: 'permission_asked',
    permissionId,
    toolCallId,
    title: 'Run',
    options: [],
  });
  const closed = (permissionId: string, by: 'user' | 'rule' | 'turn' = 'user'): SessionEvent => ({
    type: 'permission_closed',
    permissionId,
    outcome: 'selected',
    by,
  });
  const noise = (count: number): SessionEvent[] =>
    Array.from({ length: count }, (_, index) => said(`word ${index}`, `m${index}`));

  async function all(maxRows = 100_000, signal = never): Promise<string[]> {
    const found: PastRequest[] = [];
    const { lastSeq } = journal.session('a') ?? assert.fail();
    const read = (from: number, to: number, types: readonly SessionEvent['type'][]): readonly TimedEvent[] =>
      journal.events('a', { from, to, types }).events;
    for await (const one of pastRequests({ lastSeq, read }, maxRows, signal)) found.push(one);
    return found.map(({ asked }) => String((asked.patch?.rawInput as { command?: string })?.command));
  }

  it('are those answered by the user or a rule, newest first, with their calls', async () => {
    add(call('1', 'one'), asks('1'), closed('1'));
    add(call('2', 'two'), asks('2'), closed('2', 'rule'));
    add(call('3', 'three'), asks('3'), closed('3', 'turn'), call('4', 'four'), asks('4'));
    assert.deepEqual(await all(), ['two', 'one']);
  });

  it('are found with calls far before them, among many other events', async () => {
    add(call('1', 'one'), ...noise(300), asks('1'), ...noise(300), closed('1'), ...noise(300));
    assert.deepEqual(await all(), ['one']);
  });

  it('are distinguished if an agent reuses an id', async () => {
    add(call('x', 'one'), asks('x', 'p1'), closed('p1'), call('x', 'two'), asks('x', 'p2'), closed('p2'));
    assert.deepEqual(await all(), ['two', 'one']);
  });

  it('are described by the call that the question itself contains', async () => {
    add({ type: 'tool_call', toolCallId: '1', patch: { title: 'Run' }, announced: true });
    add(call('1', 'one', false), asks('1'), closed('1'));
    assert.deepEqual(await all(), ['one']);
  });

  it('are read up to a number of rows, in parts, until the reading is aborted', async () => {
    for (let index = 0; index < 500; index++) add(call(`${index}`, `${index}`), asks(`${index}`), closed(`${index}`));
    assert.equal((await all()).length, 500);
    assert.equal((await all(90)).length, 30);
    const reading = new AbortController();
    reading.abort();
    assert.ok((await all(100_000, reading.signal)).length <= 500);
  });
});
