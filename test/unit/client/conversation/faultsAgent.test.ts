// Kills the agent at each point of a turn with queued messages, and checks prompts, output and
// transcript.
import { strict as assert } from 'node:assert';
import { faultPoints, TYPED, typeRest, typeUntil } from '../../../support/faults/faultPoints';
import { type FaultRow, writeFaults } from '../../../support/faults/faultTable';
import { assertKept, assertWhole, keepingAgent, useFaultWindows } from '../../../support/faults/faultWindow';

const AGENTS = [
  ['can load', { reopens: 'load' }],
  ['can resume', { reopens: 'resume' }],
  ['can do neither', {}],
] as const;

describe('a user whose agent is killed', () => {
  const windows = useFaultWindows();
  const rows: FaultRow[] = [];

  after(() => writeFaults('agent', rows));

  for (const [what, abilities] of AGENTS) {
    for (const point of faultPoints) {
      it(`has each message delivered once: ${point.name}, the agent ${what}`, async () => {
        const { folder } = windows;
        const agent = keepingAgent(folder, { ...abilities, turnComplete: true, onCancel: 'ignore' });
        const never = keepingAgent(folder, { opensAfterMs: 1_000_000_000 });
        const isFirst = point.name.startsWith('01');
        let starts = 0;
        const window = windows.start({
          agent,
          services: { currentAgent: () => (isFirst && starts++ === 0 ? never : agent) },
        });
        const { conversation, session } = window;
        await typeUntil(window, point);
        const noticed = session.until(({ connection: { kind } }) => kind === 'failed' || kind === 'recovering');
        await window.killAgent();
        await noticed;
        await session.until((c) => !c.isBusy && (c.connection.kind === 'ready' || isFirst));
        typeRest(window, point);
        assert.equal(
          conversation.queue.paused === undefined,
          isFirst || point.isOver === true,
          'nothing goes on by itself after a session was lost',
        );
        const asked = window.inDoubt.length;
        assert.equal(
          asked,
          point.name.startsWith('02') && what !== 'can load' ? 1 : 0,
          'the user is asked where nobody knows, not even the agent that repeats the session',
        );
        if (isFirst) void conversation.start();
        await window.goOn();
        const row = window.account(`agent killed: ${point.name} · ${what}`, TYPED, asked);
        rows.push(row);
        assert.deepEqual([row.received, row.lost, row.twice], [TYPED.length, 0, 0]);
        assertWhole(conversation.model.state, TYPED);
        assertKept(window);
        const barriers = conversation.model.state.turns.map(({ barrier }) => barrier);
        assert.ok(!barriers.includes('timeout'), `the new agent's ends are known as well: ${barriers}`);
        const broken = conversation.model.state.turns[0];
        if (!isFirst && !point.isOver)
          assert.equal(broken?.barrier, point.name.startsWith('09') ? 'turn_complete' : 'exit');
      });
    }
  }
});
