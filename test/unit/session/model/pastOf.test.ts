// A transcript copied to another session.
import { strict as assert } from 'node:assert';
import type { SessionEvent } from '../../../../src/session/events/event';
import { SessionModel } from '../../../../src/session/model/model';
import { pastOf } from '../../../../src/session/model/pastOf';
import { reconcile } from '../../../../src/session/reconcile/reconcile';

const text = (words: string) => ({ type: 'text', text: words }) as const;
const diff = { type: 'diff', path: '/w/a.ts', oldText: 'a', newText: 'b' } as const;

const EVENTS: readonly SessionEvent[] = [
  { type: 'turn_started', turnId: 't1', origin: 'user', at: 0 },
  { type: 'prompt_sent', promptId: 'q1', turnId: 't1', content: [text('one')] },
  { type: 'message_chunk', role: 'thought', block: text('hm') },
  { type: 'terminal', terminalId: 'term', command: 'ls', output: 'a.ts', truncated: false, exit: { exitCode: 0 } },
  {
    type: 'tool_call',
    toolCallId: '1',
    announced: true,
    patch: {
      title: 'Edit a.ts',
      name: 'Edit',
      kind: 'edit',
      status: 'in_progress',
      content: [diff],
      rawInput: { a: 1 },
    },
  },
  { type: 'message_chunk', role: 'agent', messageId: 's1', parent: '1', block: text('nested') },
  {
    type: 'tool_call',
    toolCallId: '1',
    announced: false,
    patch: { status: 'completed', content: [diff, { type: 'terminal', terminalId: 'term' }], rawOutput: 'done' },
  },
  { type: 'message_chunk', role: 'agent', messageId: 'm1', block: text('said') },
  { type: 'notice', severity: 'info', title: '', own: true, description: { key: 'Heard {0}', args: ['it'] } },
  { type: 'turn_ended', turnId: 't1', stopReason: 'end_turn', barrier: 'response', at: 900 },
  { type: 'turn_started', turnId: 't2', origin: 'user', at: 1000 },
  { type: 'prompt_sent', promptId: 'q2', turnId: 't2', content: [text('two')] },
  {
    type: 'tool_call',
    toolCallId: '1',
    announced: true,
    patch: { title: 'Read b.ts', kind: 'read', status: 'failed' },
  },
  { type: 'turn_ended', turnId: 't2', stopReason: 'cancelled', barrier: 'response', at: 1300 },
  { type: 'gap', gapId: 'past-1', text: 'lost', state: 'retryable' },
];

const OWN: readonly SessionEvent[] = [
  { type: 'turn_started', turnId: 't3', origin: 'user', at: 5000 },
  { type: 'prompt_sent', promptId: 'q3', turnId: 't3', content: [text('three')] },
  { type: 'message_chunk', role: 'agent', messageId: 'm3', block: text('last') },
  { type: 'turn_ended', turnId: 't3', stopReason: 'end_turn', barrier: 'response', at: 5000 },
];

function played(events: readonly { readonly at: number; readonly event: SessionEvent }[]): SessionModel {
  const model = new SessionModel();
  for (const { at, event } of events) model.apply(event, at);
  return model;
}

const origin = () => played(EVENTS.map((event, index) => ({ at: index * 100, event })));

/** A transcript as shown, without ids. */
function shown({ state }: SessionModel) {
  return state.entries.map((entry) => {
    const { kind, at } = entry;
    const turn = state.turns.find(({ id }) => id === entry.turnId)?.number;
    const depth = state.nests.pathOf(entry).length;
    const about = { kind, at, turn, depth };
    if (entry.kind === 'tool') {
      const { title, name, toolKind, status, content, rawInput, rawOutput, endedAt } = entry;
      return { ...about, title, name, toolKind, status, content, rawInput, rawOutput, endedAt };
    }
    if (entry.kind === 'notice' || entry.kind === 'gap') return { ...about, turn: undefined, text: entry.text };
    return { ...about, ...('content' in entry && { content: entry.content }) };
  });
}

describe('a transcript copied to another session', () => {
  it('shows the same changes, output, times, turns and ends', () => {
    const before = origin();
    const after = played(pastOf(before.state));
    assert.deepEqual(shown(after), shown(before));
    const ends = ({ state }: SessionModel) =>
      state.turns.map(({ number, startedAt, endedAt, stopReason, tools, files }) => [
        number,
        startedAt,
        endedAt,
        stopReason,
        tools,
        [...files],
      ]);
    assert.deepEqual(
      ends(after),
      ends(before).map(([number, at, ...rest]) => [number, Number(at) + 100, ...rest]),
    );
    assert.equal(after.state.replaying, false);
    assert.equal(after.state.terminals.get('term')?.output, 'a.ts');
    assert.deepEqual(shown(played(pastOf(after.state))), shown(before), 'and in one after that');
  });

  it('is unchanged by a shorter replay from the forked agent', () => {
    const after = played(pastOf(origin().state));
    for (const event of OWN) after.apply(event, 5000);
    const before = shown(after);
    const call = (toolCallId: string, title: string, kind: string): SessionEvent => ({
      type: 'tool_call',
      toolCallId,
      announced: true,
      patch: { title, kind, status: 'completed' },
    });
    const repeated = played(
      [
        { type: 'cleared', replay: true } as const,
        { type: 'message', role: 'user', messageId: 'u1', content: [text('one')] } as const,
        call('x1', 'Edit a.ts', 'edit'),
        { type: 'message_chunk', role: 'agent', messageId: 'm1', block: text('said') } as const,
        { type: 'message', role: 'user', messageId: 'u2', content: [text('two')] } as const,
        call('x2', 'Read b.ts', 'read'),
        { type: 'message', role: 'user', messageId: 'u3', content: [text('three')] } as const,
        { type: 'message_chunk', role: 'agent', messageId: 'm3', block: text('last') } as const,
      ].map((event) => ({ at: 9000, event })),
    );
    assert.deepEqual(reconcile(after.state, repeated.state), []);
    assert.deepEqual(shown(after), before);
  });

  it('ends before the message at which the other session starts', () => {
    const { state } = origin();
    const end = state.entries.findIndex((entry) => entry.turnId === 't2');
    assert.deepEqual(shown(played(pastOf(state, end))), shown(origin()).slice(0, end));
  });

  it('is not affected by questions of an agent that reuses its ids', () => {
    const model = played(pastOf(origin().state));
    const asked: readonly SessionEvent[] = [
      { type: 'turn_started', turnId: 't3', origin: 'user', at: 5000 },
      { type: 'tool_call', toolCallId: '1', announced: false, asks: true, patch: { title: 'Delete a.ts' } },
      { type: 'tool_call', toolCallId: '1', announced: true, patch: { kind: 'delete', status: 'in_progress' } },
    ];
    for (const event of asked) model.apply(event, 5000);
    const { entries } = model.state;
    assert.deepEqual(
      entries
        .map((entry) => entry.kind === 'tool' && [entry.title, entry.toolKind, entry.content.length])
        .filter(Boolean),
      [
        ['Edit a.ts', 'edit', 2],
        ['Read b.ts', 'read', 0],
        ['Delete a.ts', 'delete', 0],
      ],
    );
  });

  it('keeps links of notices, but no actions of the original session', () => {
    const events = ['show:key', 'undo-restore'].map(
      (id): SessionEvent => ({ type: 'notice', severity: 'info', title: 'x', own: true, action: { id } }),
    );
    const { state } = played(pastOf(played(events.map((event) => ({ at: 0, event }))).state));
    assert.deepEqual(
      state.entries.map((entry) => entry.kind === 'notice' && entry.action),
      [{ id: 'show:key' }, undefined],
    );
  });
});
