// The session model: the transcript is complete whatever the order of updates.
import { strict as assert } from 'node:assert';
import * as fc from 'fast-check';
import type { ToolStatus } from '../../../../src/session/events/content';
import type { SessionEvent } from '../../../../src/session/events/event';
import { ownText } from '../../../../src/session/events/ownText';
import { Changes } from '../../../../src/session/model/changes';
import { textOf } from '../../../../src/session/model/entryText';
import type { SessionModel } from '../../../../src/session/model/model';
import { call, ended as end, play, began as start, chunk as text } from '../../../support/sessionEvents';

const status = (word: ToolStatus, announced = false) => call('a', { status: word }, announced);

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
      play(...events).state.entries.map((entry) => entry.kind === 'notice' && entry.action !== undefined);
    assert.deepEqual(offers(restored, text('agent', 'x'), restored), [false, false, true]);
    assert.deepEqual(offers(restored, restored, undone), [false, false, false]);
    assert.deepEqual(offers(restored, partly), [false, true]);
  });

  it('starts a new message for chunks without an id after another entry', () => {
    const model = play(
      start('t1'),
      text('thought', 'hm'),
      text('agent', 'a'),
      text('thought', 'so'),
      text('agent', 'b'),
    );
    assert.deepEqual(lines(model), ['thought t1: hm', 'agent t1: a', 'thought t1: so', 'agent t1: b']);
  });

  it('adds chunks to the message with their id in any order', () => {
    const agent = (words: string, id: string) => text('agent', words, id);
    const model = play(start('t1'), agent('a', '1'), agent('b', '2'), agent('A', '1'), text('thought', 't', '1'));
    assert.deepEqual(lines(model), ['agent t1: aA', 'agent t1: b', 'thought t1: t']);
  });

  it('shows messages after the end of a turn below it as late, with or without an id', () => {
    const late = [text('agent', 'b', '1'), text('agent', 'c', '1'), text('agent', 'd')];
    const model = play(start('t1'), text('agent', 'a', '1'), end('t1'), ...late);
    assert.deepEqual(lines(model), ['agent t1: a', 'end t1: end_turn', 'agent t1 late: bc', 'agent t1 late: d']);
  });

  it('keeps a tool call that is only updated, or announced after its updates', () => {
    const kept = [{ type: 'content', block: { type: 'text', text: 'kept' } }] as const;
    const model = play(
      start('t1'),
      call('a', { status: 'completed', title: 'Wrote a' }, false),
      call('b', { status: 'in_progress', content: kept }, false),
      call('b', { title: 'Run b', status: 'pending', content: [] }),
    );
    assert.deepEqual(lines(model), ['tool t1: a completed Wrote a', 'tool t1: b in_progress Run b']);
    const entry = model.state.entries[1];
    assert.equal(entry?.kind === 'tool' && entry.content.length, 1, 'an empty announcement must not wipe content');
  });

  it('keeps the details of a call that is announced again with fewer', () => {
    const rawInput = { command: 'npm test' };
    const known = call('c', { title: 'npm test', kind: 'execute', status: 'in_progress', rawInput });
    const bare = (status: ToolStatus): SessionEvent =>
      call('c', { title: 'Tool call', kind: 'other', status, rawInput: {} });
    for (const events of [
      [start('t1'), known, bare('failed')],
      [start('t1'), known, end('t1', 'cancelled'), bare('pending')],
      [start('t1'), known, call('c', { title: 'Tool call' })],
    ]) {
      const calls = play(...events).state.entries.filter(({ kind }) => kind === 'tool');
      const [one] = calls;
      assert.equal(calls.length, 1);
      assert.ok(one?.kind === 'tool');
      assert.deepEqual([one.title, one.toolKind, one.rawInput], ['npm test', 'execute', rawInput]);
    }
    const richer = play(known, call('c', { title: 'Run', kind: 'execute' })).state.entries[0];
    assert.equal(richer?.kind === 'tool' && richer.title, 'Run');
  });

  it('never reopens a finished tool call, and completes a cancelled one only if the agent says so', () => {
    const model = play(start('t1'), status('in_progress'), { type: 'cancel_requested', turnId: 't1' });
    for (const [late, shown] of [
      ['in_progress', 'cancelled'],
      ['completed', 'completed'],
    ] as const) {
      model.apply(status(late), 5);
      assert.deepEqual(lines(model), [`tool t1: a ${shown} `]);
    }
  });

  for (const ended of ['completed', 'failed'] as const)
    it(`keeps a ${ended} tool call ended when "in progress" or "pending" arrives late`, () => {
      const late = [status('in_progress'), status('pending'), status('in_progress', true)];
      const model = play(start('t1'), status('in_progress'), status(ended), ...late);
      assert.deepEqual(lines(model), [`tool t1: a ${ended} `]);
    });

  it("shows an error once if the agent's last message says the same", () => {
    const failed = (said: string, error: { message: string; hint?: string }): (string | undefined)[] => {
      const model = play(start('t1'), text('agent', said), { type: 'error', code: 'agent-error', ...error });
      return model.state.entries.map(({ kind }) => kind);
    };
    assert.deepEqual(failed('Reading.\nusage limit\n\n', { message: 'usage limit' }), ['agent']);
    assert.deepEqual(failed('usage limit? No.', { message: 'usage limit' }), ['agent', 'error']);
    assert.deepEqual(failed('usage limit', { message: 'usage limit', hint: 'Sign in' }), ['agent', 'error']);
    assert.deepEqual(failed('Reading.', { message: '' }), ['agent', 'error']);
  });

  it('keeps an unknown update whole', () => {
    const raw = { sessionUpdate: 'from_the_future', answer: 42 };
    const model = play({ type: 'unknown_update', name: 'from_the_future', raw });
    const [entry] = model.state.entries;
    assert.deepEqual(entry?.kind === 'notice' && entry.raw, raw);
  });

  it('shows output of a terminal that was not announced', () => {
    const model = play(
      call('a', { content: [{ type: 'terminal', terminalId: 'x' }] }),
      { type: 'terminal', terminalId: 'x', append: 'one\n' },
      { type: 'terminal', terminalId: 'x', append: 'two\n', exit: { exitCode: 3 } },
    );
    assert.equal(model.state.terminals.get('x')?.output, 'one\ntwo\n');
    assert.deepEqual(model.state.terminals.get('x')?.exit, { exitCode: 3 });
  });

  it('reports only changes to a reader, with appended text as such', () => {
    const model = play(start('t1'), text('agent', 'a'));
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

  it('drops a suggested message when the next turn starts or the transcript is cleared', () => {
    const suggested = { type: 'prompt_suggestion', text: 'Run the tests' } as const;
    const model = play(start('t1'), suggested);
    assert.equal(model.state.suggestion, 'Run the tests');
    for (const over of [start('t2'), { type: 'cleared' } as const]) {
      model.apply(suggested, 1);
      model.apply(over, 1);
      assert.equal(model.state.suggestion, undefined);
    }
  });

  it('keeps the cost of the session if an agent reports only the context', () => {
    const model = play(start('t1'), {
      type: 'usage',
      usage: { used: 1, size: 9, cost: { amount: 2, currency: 'USD' } },
    });
    model.apply({ type: 'usage', usage: { used: 3, size: 9 } }, 1);
    assert.deepEqual(model.state.usage, { used: 3, size: 9, cost: { amount: 2, currency: 'USD' } });
  });

  it('ignores a negative token count', () => {
    const model = play({ type: 'usage', usage: { used: -5, size: 100 } });
    assert.equal(model.state.usage?.used, 0);
  });

  it('reports the messages of a turn to readers when it ends, and no others', () => {
    const turn = (id: string) => [start(id), text('user', id), text('agent', 'Yes')];
    const model = play(...turn('t1'), end('t1'), ...turn('t2'));
    const changes = new Changes(() => {});
    model.observe(changes);
    model.apply(end('t2'), 2);
    const { entries } = model.state;
    assert.deepEqual(
      [...changes.entries.keys()].map((index) => [entries[index]?.kind, entries[index]?.turnId]),
      [
        ['turn_end', 't2'],
        ['user', 't2'],
      ],
    );
  });

  it('neither loses nor invents text in any interleaving', () => {
    const event = fc.oneof(
      fc.record({
        type: fc.constant('message_chunk' as const),
        role: fc.constantFrom('agent' as const, 'thought' as const),
        block: fc.record({ type: fc.constant('text' as const), text: fc.string({ minLength: 1, maxLength: 5 }) }),
        messageId: fc.option(fc.constantFrom('1', '2'), { nil: undefined }),
      }),
      fc.constantFrom(start('t1'), end('t1'), start('t2'), end('t2', 'cancelled'), call('a')),
    );
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60 }), (events) => {
        const model = play(...(events as SessionEvent[]));
        const sum = (role: string): number =>
          events
            .map((item) => (item.type === 'message_chunk' && item.role === role ? item.block : undefined))
            .reduce((count, block) => count + (block?.type === 'text' ? block.text.length : 0), 0);
        for (const role of ['agent', 'thought'] as const) {
          const shown = model.state.entries.reduce(
            (count, entry) => count + (entry.kind === role ? textOf(entry).length : 0),
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
