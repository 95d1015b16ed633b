// Who began a turn: the user of this client, another client, or the agent by itself.
import { strict as assert } from 'node:assert';
import type { SessionEvent } from '../../../../src/session/events/event';
import { SessionModel } from '../../../../src/session/model/model';
import type { Entry } from '../../../../src/session/model/state';

const started = (turnId: string, origin: 'user' | 'agent' = 'agent'): SessionEvent => ({
  type: 'turn_started',
  turnId,
  origin,
  at: 0,
});
const ended = (turnId: string): SessionEvent => ({
  type: 'turn_ended',
  turnId,
  stopReason: 'end_turn',
  barrier: 'state',
  at: 0,
});
const content = [{ type: 'text', text: 'Fix it.' }] as const;
const message = (messageId: string): SessionEvent => ({ type: 'message', role: 'user', messageId, content });
const chunk = (messageId?: string): SessionEvent => ({
  type: 'message_chunk',
  role: 'user',
  block: content[0],
  ...(messageId !== undefined && { messageId }),
});
const prompt = (turnId: string): SessionEvent => ({ type: 'prompt_sent', turnId, promptId: 'p', content });
const output: SessionEvent = { type: 'message_chunk', role: 'agent', block: { type: 'text', text: 'Well' } };

function starters(...events: readonly SessionEvent[]): readonly string[] {
  const model = modelOf(events);
  return model.state.turns.map(({ origin, elsewhere }) => (elsewhere ? 'elsewhere' : origin));
}

function modelOf(events: readonly SessionEvent[]): SessionModel {
  const model = new SessionModel();
  for (const event of events) model.apply(event, 0);
  return model;
}

describe('who began a turn', () => {
  it('is the user if it began with a prompt of this client', () => {
    assert.deepEqual(starters(started('t', 'user'), prompt('t'), message('m'), output), ['user']);
  });

  it('is the agent if nothing was asked', () => {
    assert.deepEqual(starters(started('t'), output, message('m')), ['agent']);
  });

  it('is another client if the turn begins with its message, whole or in chunks', () => {
    for (const one of [message('m'), chunk('m'), chunk()])
      assert.deepEqual(starters(started('t'), one, output), ['elsewhere']);
  });

  it('is the agent if the message of another client is of an earlier connection', () => {
    assert.deepEqual(starters(message('m'), { type: 'ids_renewed' }, started('t'), output), ['agent']);
    assert.deepEqual(starters(message('m'), started('t'), output), ['elsewhere']);
  });

  it('is the user if another client writes in a turn of this client, and only that message is its', () => {
    const model = modelOf([
      started('t', 'user'),
      prompt('t'),
      message('m'),
      message('other'),
      output,
      message('third'),
      chunk(),
    ]);
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
      const { state } = modelOf([...first, message('m'), started('t2'), output, ended('t2')]);
      assert.equal(state.turns.at(-1)?.elsewhere, true);
      const found = state.entries.find((entry) => entry.kind === 'user' && entry.messageId === 'm') as Entry;
      assert.deepEqual([found.turnId, found.late], ['t2', undefined]);
    }
  });

  it('continues such a message in its turn', () => {
    const { state } = modelOf([chunk('m'), started('t'), chunk('m')]);
    assert.deepEqual(
      state.entries.map((entry) => entry.kind === 'user' && entry.content),
      [[{ type: 'text', text: 'Fix it.Fix it.' }]],
    );
  });

  it('is the agent if the message before the turn belongs to a repeated past', () => {
    assert.deepEqual(starters({ type: 'cleared', replay: true }, message('m'), started('t'), output), [
      'user',
      'agent',
    ]);
  });
});
