// Kills the window at each point of a turn with three queued messages, and reopens the session in
// another one.
import { strict as assert } from 'node:assert';
import { faultPoints, TYPED, typeRest } from '../../../support/faults/faultPoints';
import { type FaultRow, writeFaults } from '../../../support/faults/faultTable';
import { assertWhole, keepingAgent, useFaultWindows } from '../../../support/faults/faultWindow';
import { goneFrom } from '../../../support/processes';
import { WorkerProgram } from '../../../support/store/spawnWorker';

const AGENTS = [
  ['can load', { reopens: 'load' }],
  ['can do neither', {}],
] as const;

describe('a user whose window is killed', () => {
  let program: WorkerProgram;
  const windows = useFaultWindows();
  const rows: FaultRow[] = [];

  before(async () => {
    program = await WorkerProgram.make('test/support/faults/faultWindowProcess.ts');
  });

  after(async () => {
    await program.dispose();
    writeFaults('window', rows);
  });

  for (const [what, abilities] of AGENTS) {
    for (const point of faultPoints) {
      it(`has each message delivered once: ${point.name}, the agent ${what}`, async () => {
        const { folder } = windows;
        const script = { ...abilities, turnComplete: true, onCancel: 'ignore' } as const;
        const isFirst = point.name.startsWith('01');
        const killed = program.start([
          folder,
          point.name,
          JSON.stringify({ ...script, ...(isFirst && { opensAfterMs: 1_000_000_000 }) }),
        ]);
        const there = (await killed.next()) as { readonly agent: number; readonly entries: number };
        await killed.kill();
        await goneFrom(there.agent);

        const window = windows.start({ agent: keepingAgent(folder, script) });
        const { conversation } = window;
        assert.equal(window.isHeld, false, 'a session whose window is gone is free');
        assert.equal(conversation.unsent.draft.text, 'half a sentence');
        assert.ok(conversation.model.state.entries.length >= there.entries, 'what was seen is there');
        assert.equal(conversation.queue.paused === undefined, point.isOver === true, 'nothing goes by itself');
        const asked = window.inDoubt.length;
        assert.equal(asked, point.name.startsWith('02') ? 1 : 0);
        typeRest(window, point);
        await window.goOn();
        const row = window.account(`window killed: ${point.name} · ${what}`, TYPED, asked);
        rows.push(row);
        assert.deepEqual([row.received, row.lost, row.twice], [TYPED.length, 0, 0]);
        assertWhole(conversation.model.state, TYPED);
      });
    }
  }
});
