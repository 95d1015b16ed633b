// Where in the transcript something stands that was found in the history.
import { strict as assert } from 'node:assert';
import { entryOf } from '../../../../src/client/view/timelineParts';
import type { TimedEvent } from '../../../../src/session/events/event';
import { modelOf, said, timed, turn } from '../../../support/store/journals';

describe('the entry of an event', () => {
  const call = { type: 'tool_call', toolCallId: 'c', patch: { title: 'Read a.ts' }, announced: true } as const;
  const done = { type: 'tool_call', toolCallId: 'c', patch: { status: 'completed' }, announced: false } as const;
  const events: TimedEvent[] = [...turn('t1', 1, 'first', 'answer'), ...timed(10, call, said('then', 'm'), done)];
  const model = modelOf(events);
  const kinds = events.map((event) => model.state.entries[entryOf(model, event) ?? -1]?.kind);

  it('is the message of a prompt or of a chunk, and the tool call of each of its updates', () => {
    assert.deepEqual([kinds[1], kinds[2]], ['user', 'agent']);
    assert.deepEqual(kinds.slice(-3), ['tool', 'agent', 'tool']);
  });

  it('is the first of a turn for its start', () => {
    const [started] = events;
    assert.equal(started?.event.type, 'turn_started');
    assert.equal(entryOf(model, { ...started, at: 0 }), 0);
  });

  it('is the last one before it where it has none of its own, and none before the first', () => {
    const event = said('gone');
    assert.equal(entryOf(model, { at: 11.5, event }), entryOf(model, events.at(-2)!));
    assert.equal(entryOf(model, { at: 0, event }), undefined);
  });
});
