// The text of a turn as it is copied.
import { strict as assert } from 'node:assert';
import type { ContentBlock } from '../../../../src/session/events/content';
import type { SessionEvent } from '../../../../src/session/events/event';
import { firstWordsOf, textOfTurn } from '../../../../src/session/model/entryText';
import { SessionModel } from '../../../../src/session/model/model';

const text = (words: string): ContentBlock => ({ type: 'text', text: words });
const says = (role: 'user' | 'agent' | 'thought', messageId: string, words: string): SessionEvent => ({
  type: 'message_chunk',
  role,
  messageId,
  block: text(words),
});

describe('the copied text of a turn', () => {
  it("has the agent's messages before and after any number of tool calls, and none of other turns", () => {
    const model = new SessionModel();
    const turn = (turnId: string, events: readonly SessionEvent[]): void => {
      model.apply({ type: 'turn_started', turnId, origin: 'user', at: 0 }, 0);
      for (const event of events) model.apply(event, 0);
      model.apply({ type: 'turn_ended', turnId, stopReason: 'end_turn', barrier: 'response', at: 1 }, 1);
    };
    const call = (id: number): SessionEvent => ({
      type: 'tool_call',
      toolCallId: `c${id}`,
      announced: true,
      patch: { title: `Call ${id}` },
    });
    turn('t1', [says('agent', 'a', 'Of another turn.')]);
    turn('t2', [
      says('user', 'u', 'What the user said.'),
      says('agent', 'b', 'First **words**'),
      says('agent', 'b', ', and more.'),
      says('thought', 'h', 'Hm.'),
      ...Array.from({ length: 300 }, (_, index) => call(index)),
      says('agent', 'c', 'Last words.'),
    ]);
    assert.equal(textOfTurn(model.state, 't2'), 'First **words**, and more.\n\nLast words.');
    assert.equal(textOfTurn(model.state, 'none'), '');
  });
});

describe('the first words of a session', () => {
  const firstOf = (events: readonly SessionEvent[], model = new SessionModel()): string | undefined => {
    for (const event of events) model.apply(event, 0);
    return firstWordsOf(model.state, 20);
  };

  it('are the first line of what the user said first, cut without half a character', () => {
    assert.equal(firstOf([says('agent', 'a', 'Welcome'), says('user', 'u', '\n  Fix it \nplease')]), 'Fix it');
    assert.equal(firstOf([says('user', 'u', `${'a'.repeat(19)}😀`)]), 'a'.repeat(19));
  });

  it('are absent where nothing was said near the beginning', () => {
    const agent = Array.from({ length: 100 }, (_, index) => says('agent', `a${index}`, 'Working'));
    assert.equal(firstOf([]), undefined);
    assert.equal(firstOf([...agent, says('user', 'u', 'Late')]), undefined);
  });

  it('are not those of a later message while the beginning is being read', () => {
    const model = SessionModel.after({ entries: 3, turns: 1 }, 0);
    assert.equal(firstOf([says('user', 'u', 'Later')], model), undefined);
  });
});
