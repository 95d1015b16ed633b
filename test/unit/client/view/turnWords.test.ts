// Describes a turn: who began it, and how its end was detected.
import { strict as assert } from 'node:assert';
import { projectItem } from '../../../../src/client/view/projectItem';
import { lineOfTurn } from '../../../../src/client/view/turnWords';
import type { Barrier, SessionEvent, StopReason } from '../../../../src/session/events/event';
import { SessionModel } from '../../../../src/session/model/model';
import type { Turn } from '../../../../src/session/model/state';

type Ending = Partial<Extract<SessionEvent, { type: 'turn_ended' }>>;

function modelOf(origin: 'user' | 'agent', ending: Ending, message?: SessionEvent): SessionModel {
  const model = new SessionModel();
  const events: SessionEvent[] = [
    { type: 'turn_started', turnId: 't', origin, at: 0 },
    ...(message ? [message] : []),
    { type: 'message_chunk', role: 'agent', block: { type: 'text', text: 'Done.' } },
    { type: 'turn_ended', turnId: 't', stopReason: 'end_turn', at: 1, ...ending },
  ];
  for (const event of events) model.apply(event, 0);
  return model;
}

const others: SessionEvent = {
  type: 'message',
  role: 'user',
  messageId: 'm',
  content: [{ type: 'text', text: 'Hello' }],
};
const line = (origin: 'user' | 'agent', ending: Ending, message?: SessionEvent): string | undefined =>
  lineOfTurn(modelOf(origin, ending, message).state.turns[0] as Turn);

describe('the description of a turn', () => {
  it('states how the end was detected, for each barrier', () => {
    const words: Readonly<Record<Barrier, string>> = {
      response: 'agent answered',
      turn_complete: 'agent sent turn_complete',
      state: 'agent became idle',
      timeout: 'timed out',
      exit: 'agent ended',
    };
    for (const [barrier, said] of Object.entries(words) as [Barrier, string][])
      assert.equal(line('user', { barrier }), `Turn 1 ended · ${said}`);
    assert.equal(line('user', {}), 'Turn 1 ended', 'an import that does not say');
  });

  it('states who began the turn, unless it was the user of this client', () => {
    const barrier = 'state';
    assert.equal(line('agent', { barrier }), 'Turn 1 ended · started by agent · agent became idle');
    assert.equal(line('agent', { barrier }, others), 'Turn 1 ended · started by another client · agent became idle');
  });

  it('includes the note on the end, which can replace the barrier', () => {
    assert.equal(
      line('user', { barrier: 'timeout', note: 'barrier-missed' }),
      "Turn 1 ended · timed out · the agent didn't send turn_complete",
    );
    const closed = { stopReason: 'error', barrier: 'exit', interrupted: true, note: 'window-ended' } as const;
    assert.equal(line('user', closed), 'Turn 1 interrupted · the window was closed or reloaded');
  });

  it('distinguishes errors from answers, and all reasons', () => {
    assert.equal(line('user', { stopReason: 'error', barrier: 'response' }), 'Turn 1 failed · agent returned an error');
    const reasons: readonly StopReason[] = ['cancelled', 'refusal', 'max_tokens', 'max_turn_requests', 'unknown'];
    assert.deepEqual(
      reasons.map((stopReason) => line('user', { stopReason })),
      [
        'Turn 1 stopped by you',
        'Turn 1 refused by agent',
        'Turn 1 stopped: length limit reached',
        'Turn 1 stopped: request limit reached',
        'Turn 1 ended: reason unknown',
      ],
    );
  });

  it('is sent to the panel with the end of the turn, and marks messages of other clients', () => {
    const { state } = modelOf('agent', { barrier: 'turn_complete' }, others);
    const context = { state, turn: () => state.turns[0], roots: [], isOpenable: () => false };
    const items = state.entries.map((entry) => projectItem(entry, context));
    const [message, , end] = items;
    assert.ok(message?.kind === 'user' && message.elsewhere);
    assert.ok(end?.kind === 'turn_end');
    assert.deepEqual([end.turn.starter, end.turn.ending], ['started by another client', 'agent sent turn_complete']);
  });
});
