// Agents that reuse an id for messages of all turns, or for calls of a turn.
import { strict as assert } from 'node:assert';
import type { SessionEvent } from '../../../../src/session/events/event';
import {
  began as begin,
  call as callOf,
  ended as end,
  play,
  prompted,
  chunk as said,
  text,
} from '../../../support/sessionEvents';

const chunk = (messageId: string, words: string) => said('agent', words, messageId);

function shown(...events: SessionEvent[]): string[] {
  const model = play(...events);
  const said = model.state.entries.filter((entry) => 'content' in entry);
  return said.map((entry) => {
    const { content } = entry;
    const words = content.map((part) =>
      'text' in part ? part.text : 'block' in part && part.block.type === 'text' ? part.block.text : '',
    );
    return `${entry.turnId} ${entry.kind === 'tool' ? `${entry.title} ${entry.status} ` : ''}${words.join('')}`;
  });
}

describe('a reused id', () => {
  it('keeps each text in the turn in which it arrived', () => {
    const turn = (id: string) => [begin(id), chunk('m', `answer of ${id}`), chunk('m', '.'), end(id)];
    assert.deepEqual(shown(...turn('t1'), ...turn('t2'), ...turn('t3')), [
      't1 answer of t1.',
      't2 answer of t2.',
      't3 answer of t3.',
    ]);
    const late = [...turn('t1'), chunk('m', ' Late'), ...turn('t2')];
    assert.deepEqual(shown(...late), ['t1 answer of t1.', 't1  Late', 't2 answer of t2.']);
  });

  it('keeps messages of different turns separate in a replay', () => {
    const replay: SessionEvent = { type: 'cleared', replay: true };
    const asked = (words: string, id?: string) => said('user', words, id);
    const turns = (id?: string) =>
      ['1', '2'].flatMap((turn) => [asked(`ask ${turn}`, id), asked(' more', id), chunk('m', turn), chunk('m', '.')]);
    const expected = ['r1 ask 1 more', 'r1 1.', 'r2 ask 2 more', 'r2 2.'];
    assert.deepEqual(shown(replay, ...turns()), expected);
    assert.deepEqual(shown(replay, ...turns('m'), begin('t3'), chunk('m', 'live')), [...expected, 't3 live']);
  });

  it('keeps the text of earlier turns when a whole message arrives', () => {
    const whole = (role: 'user' | 'agent', words: string): SessionEvent => ({
      type: 'message',
      role,
      messageId: 'm',
      content: [text(words)],
    });
    const turn = (id: string) => [
      ...[begin(id), prompted(id, `ask ${id}`, id), whole('user', `ask ${id}`)],
      ...[whole('agent', 'one'), whole('agent', `answer of ${id}`), end(id)],
    ];
    const expected = ['t1 ask t1', 't1 answer of t1', 't2 ask t2', 't2 answer of t2'];
    assert.deepEqual(shown(...turn('t1'), ...turn('t2')), expected);
  });

  it('marks a chunk of an earlier turn as late if the running turn has its own messages', () => {
    const events = [begin('t1'), chunk('a', 'one'), end('t1'), begin('t2'), chunk('b', 'two')];
    assert.deepEqual(shown(...events, chunk('a', ' late'), chunk('a', ' more'), chunk('b', ' end')), [
      't1 one',
      't2 two end',
      't1  late more',
    ]);
  });

  it('keeps the output of the first of two calls in a turn', () => {
    const call = (announced: boolean, patch: object) => callOf('c', patch, announced);
    const output = (words: string) => ({ status: 'completed', content: [{ type: 'content', block: text(words) }] });
    const events = [
      begin('t1'),
      call(true, { title: 'Run a', status: 'in_progress', rawInput: { command: 'a' } }),
      call(false, output('of a')),
      call(true, { title: 'Run b', status: 'in_progress', rawInput: { command: 'b' } }),
      call(false, output('of b')),
    ];
    assert.deepEqual(shown(...events), ['t1 Run a completed of a', 't1 Run b completed of b']);
    const bare = [
      begin('t1'),
      call(true, { title: 'Run a', status: 'in_progress' }),
      call(false, output('of a')),
      call(true, { title: 'Run b', status: 'pending' }),
      call(false, output('of b')),
    ];
    assert.deepEqual(shown(...bare), ['t1 Run a completed of a', 't1 Run b completed of b']);
    const same = [begin('t1'), ...['of a', 'of b'].flatMap((words) => [bare[1]!, call(false, output(words))])];
    assert.deepEqual(shown(...same), ['t1 Run a completed of a', 't1 Run a completed of b']);
    const unseen = call(false, { ...output('of a'), title: 'Unseen' });
    const late = [begin('t1'), unseen, call(true, { title: 'Run a', status: 'pending' })];
    assert.deepEqual(shown(...late), ['t1 Run a completed of a']);
  });
});
