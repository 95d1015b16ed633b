// Whether the prompt of a turn that failed can be sent again.
import { strict as assert } from 'node:assert';
import { failedTurn } from '../../../../src/client/conversation/sendAgain';
import type { StopReason } from '../../../../src/session/events/event';
import { SessionModel } from '../../../../src/session/model/model';
import { PromptQueue } from '../../../../src/session/queue/queue';

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

  it('is sent again only once while the repetition waits', () => {
    const queue = new PromptQueue(() => {});
    const other = queue.add('another message', []);
    assert.ok(failedTurn(turn('error').state, queue, 'q99'));
    assert.equal(failedTurn(turn('error').state, queue, other.id), undefined);
    queue.remove(other.id);
    queue.putFirst({ ...other, id: 'q7', repeats: 'q3' });
    assert.equal(failedTurn(turn('error').state, queue, undefined), undefined);
  });
});
