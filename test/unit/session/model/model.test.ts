// The session model: whatever the order of updates, the transcript has what was said.
import { strict as assert } from 'node:assert';
import * as fc from 'fast-check';
import type { ToolStatus } from '../../../../src/session/events/content';
import type { SessionEvent } from '../../../../src/session/events/event';
import { ownText } from '../../../../src/session/events/ownText';
import { Changes } from '../../../../src/session/model/changes';
import { SessionModel } from '../../../../src/session/model/model';

function play(events: readonly SessionEvent[]): SessionModel {
  const model = new SessionModel();
  events.forEach((event, index) => {
    model.apply(event, 1000 + index);
  });
  return model;
}

const text = (role: 'user' | 'agent' | 'thought', value: string, messageId?: string): SessionEvent => ({
  type: 'message_chunk',
  role,
  block: { type: 'text', text: value },
  ...(messageId !== undefined && { messageId }),
});
const start = (turnId: string): SessionEvent => ({ type: 'turn_started', turnId, origin: 'user', at: 1 });
const end = (turnId: string, stopReason: 'end_turn' | 'cancelled' = 'end_turn'): SessionEvent => ({
  type: 'turn_ended',
  turnId,
  stopReason,
  barrier: 'response',
  at: 2,
});
const prompt = (turnId: string, value: string): SessionEvent => ({
  type: 'prompt_sent',
  turnId,
  promptId: 'q1',
  content: [{ type: 'text', text: value }],
});

function lines(model: SessionModel): string[] {
  return model.state.entries.map((entry) => {
    const late = entry.late ? ' late' : '';
    const turn = entry.turnId ? ` ${entry.turnId}` : '';
    switch (entry.kind) {
      case 'user':
      case 'agent':
      case 'thought':
        return `${entry.kind}${turn}${late}: ${entry.content.map((block) => (block.type === 'text' ? block.text : `[${block.type}]`)).join('')}`;
      case 'tool':
        return `tool${turn}${late}: ${entry.toolCallId} ${entry.status} ${entry.title}`;
      case 'turn_end':
        return `end ${entry.turnId}: ${model.turn(entry.turnId)?.stopReason}`;
      default:
        return entry.kind;
    }
  });
}

describe('session model', () => {
  it('offers to undo only the last restore of files, and once', () => {
    const restored: SessionEvent = {
      type: 'notice',
      own: true,
      severity: 'info',
      title: '',
      said: ownText('files-restored', 1),
      action: { id: 'undoRestore' },
    };
    const undone: SessionEvent = { type: 'notice', severity: 'info', title: '', said: ownText('restore-undone', 1) };
    const partly: SessionEvent = { ...undone, action: { id: 'undoRestore' } };
    const offers = (...events: SessionEvent[]): boolean[] =>
      play(events).state.entries.map((entry) => entry.kind === 'notice' && entry.action !== undefined);
    assert.deepEqual(offers(restored, text('agent', 'x'), restored), [false, false, true]);
    assert.deepEqual(offers(restored, restored, undone), [false, false, false]);
    assert.deepEqual(offers(restored, partly), [false, true]);
  });

  it('joins many chunks to one message', () => {
    const model = play([start('t1'), prompt('t1', 'hi'), text('agent', 'Hel'), text('agent', 'lo'), end('t1')]);
    assert.deepEqual(lines(model), ['user t1: hi', 'agent t1: Hello', 'end t1: end_turn']);
  });

  it('starts a new message for chunks without an id after another entry', () => {
    const model = play([
      start('t1'),
      text('thought', 'hm'),
      text('agent', 'a'),
      text('thought', 'hm again'),
      text('agent', 'b'),
    ]);
    assert.deepEqual(lines(model), ['thought t1: hm', 'agent t1: a', 'thought t1: hm again', 'agent t1: b']);
  });

  it('adds chunks to the message with their id in any order', () => {
    const model = play([
      start('t1'),
      text('agent', 'a', '1'),
      text('agent', 'b', '2'),
      text('agent', 'A', '1'),
      text('thought', 't', '1'),
    ]);
    assert.deepEqual(lines(model), ['agent t1: aA', 'agent t1: b', 'thought t1: t']);
  });

  it('shows what follows the end of a turn below it as late, with or without an id', () => {
    const model = play([
      start('t1'),
      text('agent', 'a', '1'),
      end('t1'),
      text('agent', 'b', '1'),
      text('agent', 'c', '1'),
      text('agent', 'd'),
    ]);
    assert.deepEqual(lines(model), ['agent t1: a', 'end t1: end_turn', 'agent t1 late: bc', 'agent t1 late: d']);
  });

  it('adds a late chunk to its own turn while the next one runs', () => {
    const model = play([
      start('t1'),
      text('agent', 'a', '1'),
      end('t1'),
      start('t2'),
      text('agent', 'x', '2'),
      text('agent', 'b', '1'),
    ]);
    assert.deepEqual(lines(model), ['agent t1: a', 'end t1: end_turn', 'agent t2: x', 'agent t1 late: b']);
  });

  it('shows a prompt once if the agent echoes it', () => {
    const model = play([
      start('t1'),
      prompt('t1', 'hello there'),
      text('user', 'hello '),
      text('user', 'there'),
      text('agent', 'hi'),
    ]);
    assert.deepEqual(lines(model), ['user t1: hello there', 'agent t1: hi']);
  });

  it('keeps a tool call that is only updated, and one announced after its updates', () => {
    const update = (toolCallId: string, patch: object): SessionEvent => ({
      type: 'tool_call',
      toolCallId,
      patch,
      announced: false,
    });
    const announce = (toolCallId: string, patch: object): SessionEvent => ({
      type: 'tool_call',
      toolCallId,
      patch,
      announced: true,
    });
    const model = play([
      start('t1'),
      update('a', { status: 'completed', title: 'Wrote a' }),
      update('b', { status: 'in_progress', content: [{ type: 'content', block: { type: 'text', text: 'kept' } }] }),
      announce('b', { title: 'Run b', status: 'pending', content: [] }),
    ]);
    assert.deepEqual(lines(model), ['tool t1: a completed Wrote a', 'tool t1: b in_progress Run b']);
    const entry = model.state.entries[1];
    assert.equal(entry?.kind === 'tool' && entry.content.length, 1, 'an empty announcement must not wipe content');
  });

  it('never reopens a finished tool call, and completes a cancelled one only if the agent says so', () => {
    const call = (status: 'in_progress' | 'completed'): SessionEvent => ({
      type: 'tool_call',
      toolCallId: 'a',
      patch: { status },
      announced: false,
    });
    const model = play([start('t1'), call('in_progress'), { type: 'cancel_requested', turnId: 't1' }]);
    assert.deepEqual(lines(model), ['tool t1: a cancelled ']);
    model.apply(call('in_progress'), 5);
    assert.deepEqual(lines(model), ['tool t1: a cancelled ']);
    model.apply(call('completed'), 6);
    assert.deepEqual(lines(model), ['tool t1: a completed '], 'the agent knows better: it did complete');
  });

  for (const ended of ['completed', 'failed'] as const)
    it(`keeps a ${ended} tool call ended when "in progress" or "pending" arrives late`, () => {
      const call = (status: ToolStatus, announced = false): SessionEvent => ({
        type: 'tool_call',
        toolCallId: 'a',
        patch: { status },
        announced,
      });
      const model = play([start('t1'), call('in_progress'), call(ended)]);
      for (const late of [call('in_progress'), call('pending'), call('in_progress', true)]) model.apply(late, 5);
      assert.deepEqual(lines(model), [`tool t1: a ${ended} `]);
    });

  it('marks open tool calls as cancelled when the turn ends', () => {
    const model = play([start('t1'), { type: 'tool_call', toolCallId: 'a', patch: {}, announced: true }, end('t1')]);
    assert.deepEqual(lines(model), ['tool t1: a cancelled ', 'end t1: end_turn']);
  });

  it('adds a new call when an id is announced again in the next turn', () => {
    const announce: SessionEvent = {
      type: 'tool_call',
      toolCallId: 'call_0',
      patch: { title: 'x', status: 'completed' },
      announced: true,
    };
    const model = play([start('t1'), announce, end('t1'), start('t2'), announce]);
    assert.deepEqual(lines(model), ['tool t1: call_0 completed x', 'end t1: end_turn', 'tool t2: call_0 completed x']);
  });

  it('ends a turn once', () => {
    const model = play([start('t1'), end('t1'), end('t1', 'cancelled')]);
    assert.deepEqual(lines(model), ['end t1: end_turn']);
  });

  it('corrects the stop reason when the response arrives after the barrier', () => {
    const model = play([
      start('t1'),
      end('t1'),
      { type: 'turn_reason', turnId: 't1', stopReason: 'refusal', tokens: 7 },
    ]);
    assert.deepEqual(lines(model), ['end t1: refusal']);
    assert.equal(model.turn('t1')?.tokens, 7);
  });

  it("shows an error once if the agent's last message says the same", () => {
    const failed = (said: string, error: { message: string; hint?: string }): (string | undefined)[] => {
      const model = new SessionModel();
      model.apply({ type: 'turn_started', turnId: 't1', origin: 'user', at: 1 }, 1);
      model.apply({ type: 'message_chunk', role: 'agent', block: { type: 'text', text: said } }, 2);
      model.apply({ type: 'error', code: 'agent-error', ...error }, 3);
      return model.state.entries.map(({ kind }) => kind);
    };
    assert.deepEqual(failed('Reading.\nusage limit\n\n', { message: 'usage limit' }), ['agent']);
    assert.deepEqual(failed('usage limit? No.', { message: 'usage limit' }), ['agent', 'error']);
    assert.deepEqual(failed('usage limit', { message: 'usage limit', hint: 'Sign in' }), ['agent', 'error']);
    assert.deepEqual(failed('Reading.', { message: '' }), ['agent', 'error']);
  });

  it('keeps an unknown update whole', () => {
    const raw = { sessionUpdate: 'from_the_future', answer: 42 };
    const model = play([{ type: 'unknown_update', name: 'from_the_future', raw }]);
    const [entry] = model.state.entries;
    assert.deepEqual(entry?.kind === 'notice' && entry.raw, raw);
  });

  it('shows output of a terminal that was not announced', () => {
    const model = play([
      {
        type: 'tool_call',
        toolCallId: 'a',
        patch: { content: [{ type: 'terminal', terminalId: 'x' }] },
        announced: true,
      },
      { type: 'terminal', terminalId: 'x', append: 'one\n' },
      { type: 'terminal', terminalId: 'x', append: 'two\n', exit: { exitCode: 3 } },
    ]);
    assert.equal(model.state.terminals.get('x')?.output, 'one\ntwo\n');
    assert.deepEqual(model.state.terminals.get('x')?.exit, { exitCode: 3 });
  });

  it('tells a reader only what changed, and appended text as such', () => {
    const model = play([start('t1'), text('agent', 'a')]);
    let woken = 0;
    const changes = new Changes(() => woken++);
    model.observe(changes);
    model.apply(text('agent', 'b'), 1);
    model.apply(text('agent', 'c'), 1);
    assert.deepEqual([...changes.entries], [[0, 'bc']]);
    assert.equal(woken, 2);
    changes.reset();
    model.apply({ type: 'usage', usage: { used: 1, size: 2 } }, 1);
    assert.deepEqual([...changes.parts], ['usage']);
    assert.equal(changes.entries.size, 0);
  });

  it('neither loses nor invents text in any interleaving', () => {
    const event = fc.oneof(
      fc.record({
        type: fc.constant('message_chunk' as const),
        role: fc.constantFrom('agent' as const, 'thought' as const),
        block: fc.record({ type: fc.constant('text' as const), text: fc.string({ minLength: 1, maxLength: 5 }) }),
        messageId: fc.option(fc.constantFrom('1', '2'), { nil: undefined }),
      }),
      fc.constantFrom(start('t1'), end('t1'), start('t2'), end('t2', 'cancelled'), {
        type: 'tool_call',
        toolCallId: 'a',
        patch: {},
        announced: true,
      } as SessionEvent),
    );
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60 }), (events) => {
        const model = play(events as SessionEvent[]);
        const sum = (role: string): number =>
          events.reduce(
            (count, item) =>
              count +
              (item.type === 'message_chunk' && item.role === role && item.block.type === 'text'
                ? item.block.text.length
                : 0),
            0,
          );
        for (const role of ['agent', 'thought'] as const) {
          const shown = model.state.entries.reduce(
            (count, entry) =>
              count +
              (entry.kind === role
                ? entry.content.reduce((n, block) => n + (block.type === 'text' ? block.text.length : 0), 0)
                : 0),
            0,
          );
          assert.equal(shown, sum(role));
        }
        model.state.entries.forEach((entry, index) => {
          assert.equal(entry.index, index);
        });
        const ends = model.state.entries.filter((entry) => entry.kind === 'turn_end').length;
        assert.equal(ends, model.state.turns.filter((turn) => turn.endedAt !== undefined).length);
      }),
    );
  });
});
