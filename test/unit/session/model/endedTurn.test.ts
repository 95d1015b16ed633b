// What readers of the model draw again when a turn ends.
import { strict as assert } from 'node:assert';
import { Changes } from '../../../../src/session/model/changes';
import { SessionModel } from '../../../../src/session/model/model';

describe('the end of a turn', () => {
  it('has the messages of the turn drawn again, and no others, though no file has changed', () => {
    const model = new SessionModel();
    const turn = (turnId: string, text: string): void => {
      model.apply({ type: 'turn_started', turnId, origin: 'user', at: 1 }, 1);
      model.apply({ type: 'message_chunk', role: 'user', block: { type: 'text', text } }, 1);
      model.apply({ type: 'message_chunk', role: 'agent', block: { type: 'text', text: 'Yes' } }, 1);
    };
    const end = (turnId: string): void =>
      model.apply(
        { type: 'turn_ended', turnId, at: 2, stopReason: 'end_turn', barrier: 'prompt_response' } as never,
        2,
      );
    turn('t1', 'First');
    end('t1');
    turn('t2', 'Second');
    const changes = new Changes(() => {});
    model.observe(changes);
    end('t2');
    const { entries } = model.state;
    const drawn = [...changes.entries.keys()].map((index) => [entries[index]?.kind, entries[index]?.turnId]);
    assert.deepEqual(drawn, [
      ['turn_end', 't2'],
      ['user', 't2'],
    ]);
  });
});
