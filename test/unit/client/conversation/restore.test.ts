// What a conversation is after the end of its window, from what was kept.
import assert from 'node:assert/strict';
import type { KeptItem } from '../../../../src/client/conversation/persistence';
import { closingEvents, restoredQueue } from '../../../../src/client/conversation/restore';
import type { SessionEvent } from '../../../../src/session/events/event';
import { SessionModel } from '../../../../src/session/model/model';

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

const idsAndStates = (items: readonly KeptItem[]): string[] => items.map(({ id, state }) => `${id} ${state}`);

describe('a conversation whose window ended', () => {
  it('closes the turn and the questions that were open', () => {
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

  it('keeps queued messages in order', () => {
    const model = modelOf(started, sent, word);
    const kept = [item('q2'), item('q3', 'failed'), { ...item('q4'), held: true }];
    const items = restoredQueue(model.state, kept);
    assert.deepEqual(idsAndStates(items), ['q2 queued', 'q3 failed', 'q4 queued']);
    assert.ok(
      items.every(({ held }) => !held),
      'nobody edits it any more',
    );
  });

  it('does not send a message again that the agent has answered', () => {
    const model = modelOf(started, sent, word);
    assert.deepEqual(
      restoredQueue(model.state, [item('q1', 'sending'), item('q2')]).map(({ id }) => id),
      ['q2'],
    );
  });

  it('keeps a message that was on its way and stands nowhere else', () => {
    const [first, second] = restoredQueue(modelOf().state, [item('q1', 'sending'), item('q2')]);
    assert.deepEqual([first?.state, first?.doubtful, first?.repeats], ['failed', true, undefined]);
    assert.equal(first?.reason ?? '', 'in-doubt');
    assert.deepEqual([second?.state, second?.doubtful], ['queued', undefined]);
  });

  it('asks about a prompt that the agent may not have got', () => {
    const model = modelOf(started, sent);
    const items = restoredQueue(model.state, [item('q1', 'sending'), item('q2')]);
    assert.deepEqual(
      items.map(({ text, state, doubtful, repeats }) => ({ text, state, doubtful, repeats })),
      [
        { text: 'do it', state: 'failed', doubtful: true, repeats: 'q1' },
        { text: 'text of q2', state: 'queued', doubtful: undefined, repeats: undefined },
      ],
    );
  });

  it('asks once about a prompt where the window ended while it was put back', () => {
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
