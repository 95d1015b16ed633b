// Tests the restored state of a conversation after its window ended.

import { strict as assert } from 'node:assert';
import type { KeptItem } from '../../../../src/client/conversation/persistence';
import { closingEvents, restoredQueue } from '../../../../src/client/conversation/restore';
import { failedTurn } from '../../../../src/client/conversation/sendAgain';
import type { SessionEvent, StopReason } from '../../../../src/session/events/event';
import { SessionModel } from '../../../../src/session/model/model';
import { PromptQueue } from '../../../../src/session/queue/queue';
import { pluck } from '../../../support/pluck';

const started: SessionEvent = { type: 'turn_started', turnId: 't1', origin: 'user', at: 1 };
const sent: SessionEvent = {
  type: 'prompt_sent',
  turnId: 't1',
  promptId: 'q1',
  content: [{ type: 'text', text: 'do it' }],
};
const word: SessionEvent = { type: 'message_chunk', role: 'agent', block: { type: 'text', text: 'Well' } };

function modelOf(...events: readonly SessionEvent[]): SessionModel {
  const model = new SessionModel();
  for (const event of events) model.apply(event, 1);
  return model;
}

function item(id: string, state: KeptItem['state'] = 'queued'): KeptItem {
  return { id, text: `text of ${id}`, attachments: [], state, held: false };
}

describe('a conversation whose window ended', () => {
  it('closes open turns and questions', () => {
    const model = modelOf(
      started,
      sent,
      { type: 'tool_call', toolCallId: 'c1', patch: { title: 'Edit', status: 'in_progress' }, announced: true },
      { type: 'permission_asked', permissionId: 'p1', title: 'Edit', options: [], toolCallId: 'c1' },
      { type: 'terminal', terminalId: 'x1', output: 'one' },
    );
    for (const event of closingEvents(model.state, 9)) model.apply(event, 9);
    const { turn, turns, permissions, terminals, entries } = model.state;
    assert.equal(turn, undefined);
    assert.deepEqual([turns[0]?.barrier, turns[0]?.stopReason, turns[0]?.endedAt], ['exit', 'error', 9]);
    assert.equal(permissions.size, 0);
    assert.equal(terminals.get('x1')?.released, true);
    assert.deepEqual(
      entries.flatMap((entry) => (entry.kind === 'tool' ? [entry.status] : [])),
      ['cancelled'],
    );
    assert.deepEqual(closingEvents(model.state, 10), [], 'closing once is enough');
  });

  it('does not resend a message that the agent has answered', () => {
    const model = modelOf(started, sent, word);
    assert.deepEqual(pluck(restoredQueue(model.state, [item('q1', 'sending'), item('q2')]), 'id'), ['q2']);
  });

  it('keeps a message that was being sent and is stored nowhere else', () => {
    const [first, second] = restoredQueue(modelOf().state, [item('q1', 'sending'), item('q2')]);
    assert.deepEqual([first?.state, first?.doubtful, first?.repeats], ['failed', true, undefined]);
    assert.equal(first?.reason ?? '', 'in-doubt');
    assert.deepEqual([second?.state, second?.doubtful], ['queued', undefined]);
  });

  it('asks once about a prompt if the window ended while it was put back', () => {
    const model = modelOf(started, sent);
    const [again] = restoredQueue(model.state, []);
    assert.ok(again);
    assert.deepEqual(restoredQueue(model.state, [{ ...again, id: 'q1-again~' }, item('q2')]), [again, item('q2')]);
  });

  it('does not ask about a prompt that the agent has taken in', () => {
    const model = modelOf(started, sent, { type: 'prompt_inserted', promptId: 'q1', messageId: 'm1' });
    assert.deepEqual(restoredQueue(model.state, []), []);
  });
});

describe('a prompt that failed', () => {
  function turn(stopReason: StopReason, origin: 'user' | 'agent' = 'user'): SessionModel {
    const model = new SessionModel();
    model.apply({ type: 'turn_started', turnId: 't1', origin, at: 1 }, 1);
    model.apply({ type: 'turn_ended', turnId: 't1', stopReason, barrier: 'response', at: 2 }, 2);
    return model;
  }

  const empty = new PromptQueue(() => {});

  it('can be sent again while its turn is the newest one', () => {
    const model = turn('error');
    assert.equal(failedTurn(model.state, empty, undefined)?.id, 't1');
    model.apply({ type: 'turn_started', turnId: 't2', origin: 'user', at: 3 }, 3);
    assert.equal(failedTurn(model.state, empty, undefined), undefined);
    assert.equal(failedTurn(turn('end_turn').state, empty, undefined), undefined);
    assert.equal(failedTurn(turn('error', 'agent').state, empty, undefined), undefined);
  });
});
