// Tests agents that number messages from one in each process, so that ids repeat after a restart.
import { strict as assert } from 'node:assert';
import type { SessionEvent } from '../../../../src/session/events/event';
import { SessionModel, type SessionView } from '../../../../src/session/model/model';
import {
  type FaultWindow,
  type KeepingScript,
  keepingAgent,
  useFaultWindows,
} from '../../../support/faults/faultWindow';
import { PlayedTurns } from '../../../support/turns';

/** Returns all messages by turn, marking late ones. */
function byTurn(model: SessionView): readonly string[] {
  return model.state.entries.flatMap((entry) => {
    if (entry.kind !== 'agent' && entry.kind !== 'user') return [];
    const text = entry.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
    return [`${entry.turnId}${entry.late ? ' late' : ''} ${entry.kind}: ${text}`];
  });
}

describe('an agent that restarts its message ids', () => {
  const windows = useFaultWindows({});

  const ready = ({ session }: FaultWindow): Promise<void> =>
    session.until((c) => c.connection.kind === 'ready' && !c.isBusy && c.queue.items.length === 0);

  const ways: readonly (readonly [string, KeepingScript['reopens'], number])[] = [
    ['begins a new session', undefined, 1],
    ['resumes it', 'resume', 1],
    ['loads it', 'load', 5],
  ];
  for (const [way, reopens, next] of ways) {
    it(`has its new answer in a new turn when it ${way}`, async () => {
      const agent = keepingAgent(windows.folder, { countsIds: true, ...(reopens && { reopens }) });
      const window = windows.start({ agent });
      for (const tag of ['one', 'two']) {
        window.type(tag);
        await ready(window);
      }
      // Set up early: the recovery may be over when the exit is noticed here.
      const recovering = window.session.until((c) => c.connection.kind === 'recovering');
      await window.killAgent();
      await recovering;
      await ready(window);
      window.type('three');
      await ready(window);
      const expected = ['one', 'two', 'three'].flatMap((tag, index) => [
        `t${index + 1} user: say <${tag}>`,
        `t${index + 1} agent: <${tag}>`,
      ]);
      assert.deepEqual(byTurn(window.conversation.model), expected);
      const last = window.conversation.model.state.entries.findLast(({ kind }) => kind === 'agent');
      assert.equal(last?.kind === 'agent' && last.messageId, `m${next}`, 'the agent did count so');
      await window.close();
      windows.forget(window);
      assert.deepEqual(byTurn(windows.start({ agent }).conversation.model), expected);
    });
  }
});

describe('a continued message after a restart', () => {
  const said = (role: 'user' | 'agent', messageId: string, text: string): SessionEvent => ({
    type: 'message',
    role,
    messageId,
    content: [{ type: 'text', text }],
  });
  const tool = (toolCallId: string, title: string, status: 'pending' | 'completed'): SessionEvent => ({
    type: 'tool_call',
    toolCallId,
    patch: { title, status },
    announced: false,
  });

  function stopped(): SessionModel {
    const model = new SessionModel();
    const events: SessionEvent[] = [
      { type: 'turn_started', turnId: 't1', origin: 'user', at: 0 },
      said('user', 'u1', 'Do it'),
      said('agent', 'm1', 'Well, '),
      tool('c1', 'Read', 'pending'),
      { type: 'turn_ended', turnId: 't1', stopReason: 'error', barrier: 'exit', at: 0 },
    ];
    for (const event of events) model.apply(event, 0);
    return model;
  }

  it('is shown once if its id is the same', () => {
    const model = stopped();
    model.apply({ type: 'ids_renewed', known: ['agent:m1', 'tool:c1'] }, 1);
    model.apply(said('agent', 'm1', 'Well, done'), 1);
    model.apply(tool('c1', 'Read', 'completed'), 1);
    assert.deepEqual(byTurn(model), ['t1 user: Do it', 't1 agent: Well, done']);
    assert.equal(model.state.entries.filter(({ kind }) => kind === 'tool').length, 1);
  });

  it("doesn't replace another message that had its id", () => {
    const model = stopped();
    model.apply({ type: 'ids_renewed' }, 1);
    model.apply({ type: 'turn_started', turnId: 't2', origin: 'user', at: 1 }, 1);
    model.apply(said('agent', 'm1', 'Another'), 1);
    model.apply(tool('c1', 'Write', 'completed'), 1);
    assert.deepEqual(byTurn(model), ['t1 user: Do it', 't1 agent: Well, ', 't2 agent: Another']);
    assert.deepEqual(
      model.state.entries.flatMap((entry) => (entry.kind === 'tool' ? [`${entry.title} ${entry.status}`] : [])),
      ['Read cancelled', 'Write completed'],
    );
  });

  it('ends its turn even if the user message has an earlier id', () => {
    const turns = new PlayedTurns();
    const ask = (text: string): string => {
      const id = turns.prompt({ text, endsBy: 'state', requestId: text });
      turns.hear(said('user', 'u1', text));
      turns.receipt(id, 'u1');
      turns.report('running');
      return id;
    };
    ask('Do it');
    turns.feed({ type: 'exited', note: 'the agent was killed', interrupted: false });
    const second = ask('Do it now');
    turns.report('idle', { stopReason: 'end_turn' });
    assert.deepEqual(turns.results.get(second), { turnId: 't2', stopReason: 'end_turn' });
  });
});
