// Tests other failures around a turn: unresponsive agents, a failing disk, a clock that jumps, a
// second window.

import { strict as assert } from 'node:assert';
import { ParleyError } from '../../../../src/base/errors';
import { projectSession } from '../../../../src/client/view/projectSession';
import { type FaultRow, writeFaults } from '../../../support/faults/faultTable';
import {
  assertKept,
  assertWhole,
  type FaultWindow,
  keepingAgent,
  useFaultWindows,
} from '../../../support/faults/faultWindow';
import { kill } from '../../../support/processes';
import { queuedTexts } from '../../../support/sessions/conversation';
import { skipTime } from '../../../support/skipTime';

const TYPED = ['one', 'two', 'three'];

describe('a user whose machine fails', () => {
  const windows = useFaultWindows({ reopens: 'load' });
  const rows: FaultRow[] = [];

  after(() => writeFaults('else', rows));

  function typeAll(window: FaultWindow, play: string): void {
    for (const [index, tag] of TYPED.entries()) window.type(tag, index === 0 ? play : '');
  }

  const says = (text: string) => (window: FaultWindow) =>
    window.session.until((c) =>
      c.model.state.entries.some(
        (entry) =>
          entry.kind === 'agent' && entry.content.some((block) => block.type === 'text' && block.text.includes(text)),
      ),
    );

  const quiet = ({ session }: FaultWindow): Promise<void> =>
    session.until((c) => c.connection.kind === 'ready' && !c.isBusy && c.queue.items.length === 0);

  function settle(window: FaultWindow, fault: string, asked = 0): void {
    const row = window.account(fault, TYPED, asked);
    rows.push(row);
    assert.deepEqual([row.received, row.lost, row.twice], [TYPED.length, 0, 0]);
    assertWhole(window.conversation.model.state, TYPED);
  }

  const firstTurn = (window: FaultWindow) => window.conversation.model.state.turns[0];

  for (const [fault, play] of [
    ['agent closes its output and lives on', 'deaf'],
    ['agent dies after half a line', 'say I think\nhalf-line'],
  ] as const) {
    it(`keeps their text: ${fault}`, async () => {
      const window = windows.start();
      await window.conversation.start();
      await skipTime(async () => {
        typeAll(window, play);
        await window.session.until((c) => c.connection.kind === 'recovering');
        await window.session.until((c) => c.connection.kind === 'ready');
      });
      assert.deepEqual([firstTurn(window)?.stopReason, firstTurn(window)?.barrier], ['error', 'exit']);
      await window.goOn();
      settle(window, fault);
    });
  }

  it('keeps a message that was typed into a broken pipe', async () => {
    const window = windows.start();
    window.type('one');
    await quiet(window);
    kill(window.agentPid);
    for (const tag of TYPED.slice(1)) window.type(tag);
    await window.session.until((c) => c.connection.kind === 'recovering');
    await window.session.until((c) => c.connection.kind === 'ready' && !c.isBusy);
    const asked = window.inDoubt.length;
    await window.goOn();
    settle(window, 'message typed in the moment in which the agent dies', asked);
  });

  it('keeps the order of messages after a loss', async () => {
    const window = windows.start();
    window.type('one', 'say I think\nwait');
    await says('I think')(window);
    window.type('later');
    await window.killAgent();
    await window.session.until((c) => c.queue.paused !== undefined);
    for (const tag of TYPED.slice(1)) window.type(tag);
    await window.session.until((c) => c.model.state.turns.length === TYPED.length && !c.isBusy);
    assert.deepEqual(queuedTexts(window.conversation), ['say <later>'], 'what waited before waits on');
    await window.goOn();
    assertWhole(window.conversation.model.state, [...TYPED, 'later']);
  });

  it('can leave a turn that never ends', async () => {
    const window = windows.start({ agent: keepingAgent(windows.folder, { onCancel: 'ignore' }) });
    const { conversation, session } = window;
    typeAll(window, 'say I think\nwait');
    await says('I think')(window);
    await skipTime(async () => {
      conversation.cancel();
      await session.until((c) => c.turns.ignoresStop);
    });
    const offered = projectSession(conversation).error?.actions.map(({ id }) => id);
    assert.ok(offered?.includes('restart'));
    await conversation.restart();
    assert.equal(firstTurn(window)?.stopReason, 'cancelled');
    await window.goOn();
    settle(window, 'agent never ends its turn, not even when stopped');
  });

  for (const [name, leap] of [
    ['forwards', 3_600_000],
    ['backwards', -3_600_000],
  ] as const) {
    it(`keeps the turn and its session when the clock is moved ${name}`, async () => {
      let offset = 0;
      const now = (): number => Date.now() + offset;
      const window = windows.start({ services: { clock: { now } }, journal: { now } });
      typeAll(window, 'say I think\npermission');
      await window.session.until((c) => c.model.state.permissions.size === 1);
      offset = leap;
      window.journal.heartbeat();
      const [asked] = window.conversation.model.state.permissions.keys();
      assert.ok(window.conversation.answerPermission(asked ?? '', 'allow'));
      await quiet(window);
      assert.ok(window.journal.owner(window.key));
      settle(window, `clock moved an hour ${name} in mid-turn`);
      assertKept(window, 'the order is that of the turn');
    });
  }

  it('has only one window at a time connected to the agent of a session', async () => {
    const first = windows.start();
    first.type('one', 'say I think\nwait');
    await says('I think')(first);
    const before = first.journal.events(first.key).events;
    const second = windows.start();
    second.conversation.unsent.write({ text: 'not ours', revision: 1 }, undefined);
    assert.deepEqual(first.journal.events(first.key).events, before, 'whoever reads writes nothing');
    assert.equal(second.isHeld, true);
    assert.throws(
      () => second.conversation.send('no'),
      (error) => error instanceof ParleyError && error.code === 'session-held',
    );
    await second.conversation.start();
    assert.equal(projectSession(second.conversation).error?.actions[0]?.id, 'takeOver');
    assert.equal(second.conversation.model.state.turn, undefined, 'what is read elsewhere runs only there');
    first.type('two');
    first.lose();
    windows.forget(first);
    const third = windows.start();
    assert.equal(third.isHeld, false);
    assert.equal(third.conversation.unsent.draft.text, '');
    third.type('three');
    await third.session.until((c) => c.model.state.turns.length === 2 && !c.isBusy);
    assert.deepEqual(queuedTexts(third.conversation), ['say <two>'], 'what waited goes on when the user says so');
    await third.goOn();
    const row = third.account('two windows on one session, the first is lost', TYPED);
    rows.push(row);
    assert.deepEqual([row.received, row.lost, row.twice], [TYPED.length, 0, 0]);
  });
});
