// The text of a turn as it is copied.
import { strict as assert } from 'node:assert';
import type { MessageRole, SessionEvent } from '../../../../src/session/events/event';
import { firstWordsOf, textOfTurn } from '../../../../src/session/model/entryText';
import { SessionModel } from '../../../../src/session/model/model';
import { began, call, chunk, ended, play } from '../../../support/sessionEvents';

const says = (role: MessageRole, messageId: string, words: string) => chunk(role, words, messageId);

describe('the copied text of a turn', () => {
  it("has the agent's messages before and after any number of tool calls, and none of other turns", () => {
    const model = play(
      began('t1'),
      says('agent', 'a', 'Of another turn.'),
      ended('t1'),
      began('t2'),
      says('user', 'u', 'What the user said.'),
      says('agent', 'b', 'First **words**'),
      says('agent', 'b', ', and more.'),
      says('thought', 'h', 'Hm.'),
      ...Array.from({ length: 300 }, (_, index) => call(`c${index}`, { title: `Call ${index}` })),
      says('agent', 'c', 'Last words.'),
      ended('t2'),
    );
    assert.equal(textOfTurn(model.state, 't2'), 'First **words**, and more.\n\nLast words.');
    assert.equal(textOfTurn(model.state, 'none'), '');
  });
});

describe('the first words of a session', () => {
  const firstOf = (events: readonly SessionEvent[], model = new SessionModel()): string | undefined => {
    for (const event of events) model.apply(event, 0);
    return firstWordsOf(model.state, 20);
  };

  it("are the first line of the user's first message, cut at a whole character", () => {
    assert.equal(firstOf([says('agent', 'a', 'Welcome'), says('user', 'u', '\n  Fix it \nplease')]), 'Fix it');
    assert.equal(firstOf([says('user', 'u', `${'a'.repeat(19)}😀`)]), 'a'.repeat(19));
  });

  it('are undefined if there is no message near the beginning', () => {
    const agent = Array.from({ length: 100 }, (_, index) => says('agent', `a${index}`, 'Working'));
    assert.equal(firstOf([]), undefined);
    assert.equal(firstOf([...agent, says('user', 'u', 'Late')]), undefined);
  });

  it('are not those of a later message while the beginning is being read', () => {
    const model = SessionModel.after({ entries: 3, turns: 1 }, 0);
    assert.equal(firstOf([says('user', 'u', 'Later')], model), undefined);
  });
});
