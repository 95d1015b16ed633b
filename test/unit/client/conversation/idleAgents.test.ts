// Tests that idle agents are ended without losses.
import { strict as assert } from 'node:assert';
import { silentLog } from '../../../../src/base/log';
import type { Conversation } from '../../../../src/client/conversation/conversation';
import { IdleAgents } from '../../../../src/client/conversation/idleAgents';
import { phaseOf, statusOf } from '../../../../src/client/view/projectSession';
import { snapshotOf } from '../../../../src/client/view/snapshot';
import { goneFrom, isGone } from '../../../support/processes';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import { SessionAgents } from '../../../support/sessions/sessionAgents';

const LIMIT = 30 * 60_000;

describe('an idle agent', function () {
  this.timeout(30_000);
  let agents: SessionAgents;
  let now: number;
  let shown: boolean;
  let limit: number | undefined;
  let open: Conversation[];
  let idle: IdleAgents;
  let waitMs: number | undefined;

  beforeEach(async () => {
    agents = new SessionAgents(await scratchFolder());
    now = 0;
    waitMs = undefined;
    shown = false;
    limit = LIMIT;
    open = [];
    idle = new IdleAgents({
      conversations: () => open,
      isShown: () => shown,
      limitMs: () => limit,
      onCheck() {},
      now: () => now,
      schedule: (_run, ms) => {
        waitMs = ms;
        return { dispose() {} };
      },
      log: silentLog,
    });
  });
  afterEach(async () => {
    idle.dispose();
    const violations = await agents.close();
    await removeScratch();
    assert.deepEqual(violations, []);
  });

  async function begin(script: Parameters<SessionAgents['open']>[0]): Promise<ReturnType<SessionAgents['open']>> {
    const session = agents.open(script);
    open = [session.conversation];
    await session.conversation.start();
    await session.conversation.send('one').done;
    return session;
  }
  const pids = (): number[] => agents.lines.filter(({ ev }) => ev === 'start').map(({ pid }) => pid);
  async function pass(ms: number): Promise<void> {
    await idle.check();
    now += ms;
    await idle.check();
  }

  it('is ended after the idle time, and reopens the same session with the next message', async () => {
    const { conversation } = await begin({ offers: ['resume'] });
    const { sessionId } = conversation;
    await pass(LIMIT - 1);
    assert.equal(phaseOf(conversation), 'ready');
    now += 1;
    await idle.check();
    assert.equal(statusOf(conversation), 'Stopped while idle');
    await goneFrom(pids()[0] ?? 0);
    assert.equal((await conversation.send('two').done).stopReason, 'end_turn');
    assert.equal(conversation.sessionId, sessionId);
    assert.equal(agents.calls('session/resume').length, 1);
    assert.deepEqual(
      snapshotOf(conversation).entries.map(({ kind, text }) => `${kind}: ${text}`),
      ['user: one', 'agent: Heard one', 'user: two', 'agent: Heard two'],
    );
  });

  it('is checked at the end of its idle time, and no timer runs without one', async () => {
    await idle.check();
    assert.equal(waitMs, undefined);
    await begin({ load: true });
    await idle.check();
    assert.equal(waitMs, LIMIT);
    idle.changed('another');
    assert.equal(waitMs, 60_000);
  });

  it('keeps its process if it can’t reopen the session', async () => {
    const { conversation } = await begin({});
    await pass(LIMIT);
    assert.equal(phaseOf(conversation), 'ready');
  });

  it('keeps its process while the session is visible, or if so configured', async () => {
    const { conversation } = await begin({ load: true });
    shown = true;
    await pass(LIMIT);
    shown = false;
    await pass(LIMIT - 1);
    limit = undefined;
    await pass(LIMIT);
    assert.equal(phaseOf(conversation), 'ready');
    assert.equal(await isGone(pids()[0] ?? 0), false);
  });

  it('restarts its idle time on any activity in the session', async () => {
    const { conversation } = await begin({ load: true });
    await pass(LIMIT - 1);
    idle.changed(conversation.key);
    await pass(LIMIT - 1);
    assert.equal(phaseOf(conversation), 'ready');
  });

  it('keeps its process during background work, or while it waits for the user', async () => {
    const { conversation } = await begin({ load: true });
    const note = (event: Parameters<Conversation['note']>[0][number]['event']): void =>
      conversation.note([{ at: 0, event }]);
    const stays = async (): Promise<void> => {
      await pass(LIMIT);
      assert.equal(phaseOf(conversation), 'ready');
      assert.equal(conversation.isIdle, false);
    };
    note({ type: 'background', work: [{ type: 'tool_call', id: 'c1' }] });
    await stays();
    note({ type: 'background', work: [] });
    note({ type: 'terminal', terminalId: 't1', command: 'npm start' });
    await stays();
    note({ type: 'terminal', terminalId: 't1', exit: { exitCode: 0 } });
    conversation.queue.add('later', []);
    conversation.queue.pause('by-user');
    await stays();
    conversation.queueActions.remove();
    assert.equal(conversation.isIdle, true);
  });

  it('is never ended during a turn, however long it is silent', async () => {
    const { conversation } = agents.open({ load: true, mute: ['session/prompt'] });
    open = [conversation];
    await conversation.start();
    conversation.send('one').done.catch(() => {}); // the window ends first
    await pass(LIMIT);
    assert.equal(phaseOf(conversation), 'running');
  });
});
