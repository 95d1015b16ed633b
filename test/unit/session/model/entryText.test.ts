// The text of a turn as it is copied.
import { strict as assert } from 'node:assert';
import type { ContentBlock } from '../../../../src/session/events/content';
import type { SessionEvent } from '../../../../src/session/events/event';
import { textOfTurn } from '../../../../src/session/model/entryText';
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
