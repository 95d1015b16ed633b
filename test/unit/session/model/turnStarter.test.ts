// Who started a turn: the user of this client, another client, or the agent.
import { strict as assert } from 'node:assert';
import type { SessionEvent } from '../../../../src/session/events/event';
import type { Entry } from '../../../../src/session/model/state';
import { began, ended as end, play, prompted, chunk as said, text } from '../../../support/sessionEvents';

const started = (turnId: string, origin: 'user' | 'agent' = 'agent') => began(turnId, origin);
const ended = (turnId: string) => end(turnId, 'end_turn', 'state');
const WORDS = 'Fix it.';
const message = (messageId: string): SessionEvent => ({
  type: 'message',
  role: 'user',
  messageId,
  content: [text(WORDS)],
});
const chunk = (messageId?: string) => said('user', WORDS, messageId);
const prompt = (turnId: string) => prompted(turnId, WORDS, 'p');
const output = said('agent', 'Well');

const starters = (...events: readonly SessionEvent[]): readonly string[] =>
  play(...events).state.turns.map(({ origin, elsewhere }) => (elsewhere ? 'elsewhere' : origin));

describe('the initiator of a turn', () => {
  it('is the user if it began with a prompt of this client', () => {
    assert.deepEqual(starters(started('t', 'user'), prompt('t'), message('m'), output), ['user']);
  });

  it('is the agent if there was no prompt', () => {
    assert.deepEqual(starters(started('t'), output, message('m')), ['agent']);
  });

  it('is another client if the turn begins with its message, whole or in chunks', () => {
    for (const one of [message('m'), chunk('m'), chunk()])
      assert.deepEqual(starters(started('t'), one, output), ['elsewhere']);
  });

  it('is the agent if the message of another client is from an earlier connection', () => {
    assert.deepEqual(starters(message('m'), { type: 'ids_renewed' }, started('t'), output), ['agent']);
    assert.deepEqual(starters(message('m'), started('t'), output), ['elsewhere']);
  });

  it('is the user if another client only adds a message to the turn', () => {
    const others = [message('m'), message('other'), output, message('third'), chunk()];
    const model = play(started('t', 'user'), prompt('t'), ...others);
    assert.equal(model.state.turns[0]?.elsewhere, undefined);
    const sent = model.state.entries.flatMap((entry) =>
      entry.kind === 'user' ? [[entry.promptId ?? entry.messageId, entry.elsewhere]] : [],
    );
    assert.deepEqual(sent, [
      ['p', undefined],
      ['other', true],
      ['third', true],
      [undefined, undefined],
    ]);
  });

  it('is the agent if a prompt of this client joined the turn before the message of another client', () => {
    assert.deepEqual(starters(started('t'), prompt('t'), message('other'), output), ['agent']);
  });

  it('is another client if its message came just before the turn, which then contains the message', () => {
    for (const first of [[], [started('t1', 'user'), prompt('t1'), output, ended('t1')]]) {
      const { state } = play(...first, message('m'), started('t2'), output, ended('t2'));
      assert.equal(state.turns.at(-1)?.elsewhere, true);
      const found = state.entries.find((entry) => entry.kind === 'user' && entry.messageId === 'm') as Entry;
      assert.deepEqual([found.turnId, found.late], ['t2', undefined]);
    }
  });

  it('is another client also if that message continues in the turn', () => {
    const { state } = play(chunk('m'), started('t'), chunk('m'));
    assert.deepEqual(
      state.entries.map((entry) => entry.kind === 'user' && entry.content),
      [[{ type: 'text', text: 'Fix it.Fix it.' }]],
    );
  });

  it('is the agent if the message before the turn is from a replay', () => {
    assert.deepEqual(starters({ type: 'cleared', replay: true }, message('m'), started('t'), output), [
      'user',
      'agent',
    ]);
  });
});
