// The system freezes the agent's process in the middle of a turn.
import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { AgentProcess } from '../../../../src/agents/agentProcess';
import { SessionFeed } from '../../../../src/client/view/feed';
import { projectSession } from '../../../../src/client/view/projectSession';
import { assertWhole } from '../../../support/faults/faultWindow';
import { useFaultWindows } from '../../../support/faults/useFaultWindows';
import { FEED_SOURCES } from '../../../support/sessions/feedSources';
import { HeldTimers } from '../../../support/store/journals';

function isStopped(pid: number): boolean {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  return stat.slice(stat.lastIndexOf(')') + 2).startsWith('T');
}

describe('a user whose agent is frozen', () => {
  const windows = useFaultWindows({ reopens: 'load' });

  it('sees that a frozen agent is silent, and keeps its turn', async () => {
    // Silence is measured by the clock and looked at by the feed's tick, and while a turn runs nothing else counts time: both are held here, so that a minute need not
    // pass. The agent is really stopped by the system.
    let offset = 0;
    const now = (): number => Date.now() + offset;
    const window = windows.start({ services: { clock: { now }, startProcess: AgentProcess.start }, journal: { now } });
    const { conversation } = window;
    const typed = ['one', 'two', 'three'];
    for (const [index, tag] of typed.entries()) window.type(tag, index === 0 ? 'say I think\nsleep 20' : '');
    await window.session.until((c) => c.model.state.entries.some(({ kind }) => kind === 'agent'));
    const pid = window.agentPid;
    process.kill(pid, 'SIGSTOP');
    while (process.platform === 'linux' && !isStopped(pid)) await sleep(5);
    const timers = new HeldTimers();
    const feed = new SessionFeed(conversation, FEED_SOURCES, () => {}, timers.schedule);
    feed.snapshot();
    for (let seconds = 0; seconds < 75; seconds += 5) {
      offset += 5000;
      timers.run();
    }
    const { status, queue } = projectSession(conversation);
    assert.equal(status, 'Silent for 1 min');
    assert.equal(queue[0]?.reason, 'Waiting: the agent has been silent for 1 min');
    feed.dispose();
    assert.equal(conversation.connection.kind, 'ready', 'nothing is ended for its silence');
    assert.ok(conversation.isBusy);
    assert.ok(process.platform !== 'linux' || isStopped(pid), 'it is left as it is');
    process.kill(pid, 'SIGCONT');
    await window.session.until((c) => c.connection.kind === 'ready' && !c.isBusy && c.queue.items.length === 0);
    assert.equal(window.log.filter(({ ev }) => ev === 'start').length, 1);
    assert.equal(conversation.model.state.turns[0]?.stopReason, 'end_turn');
    const row = window.account('agent frozen (SIGSTOP), then let go', typed);
    assert.deepEqual([row.received, row.lost, row.twice], [typed.length, 0, 0]);
    assertWhole(conversation.model.state, typed);
  });
});
