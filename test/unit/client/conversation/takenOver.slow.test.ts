// Tests a session that was taken over while its window slept: two windows on one journal, a leaping
// clock, real agents.

import { strict as assert } from 'node:assert';
import { ParleyError } from '../../../../src/base/errors';
import { projectSession } from '../../../../src/client/view/projectSession';
import { FaultWindow, type FaultWindowOptions, keepingAgent } from '../../../support/faults/faultWindow';
import { pluck } from '../../../support/pluck';
import { goneFrom } from '../../../support/processes';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import { textIn } from '../../../support/store/journals';

const LONG_MS = 11 * 60_000;

describe('a user whose window slept while another one took its session over', () => {
  let folder: string;
  let offset: number;
  const open: FaultWindow[] = [];

  beforeEach(async () => {
    folder = await scratchFolder();
    offset = 0;
  });

  afterEach(async () => {
    for (const window of open.splice(0)) await window.close();
    await removeScratch();
  });

  function start(options: Partial<FaultWindowOptions> = {}): FaultWindow {
    const now = (): number => Date.now() + offset;
    const agent = keepingAgent(folder, { reopens: 'load' });
    const window = new FaultWindow({
      folder,
      agent,
      services: { clock: { now } },
      journal: { now },
      slept: () => offset,
      ...options,
    });
    open.push(window);
    return window;
  }

  const idle = ({ session }: FaultWindow): Promise<void> =>
    session.until((c) => c.connection.kind === 'ready' && !c.isBusy && c.queue.items.length === 0);

  const isReadOnly = ({ session }: FaultWindow): Promise<void> =>
    session.until((c) => c.connection.kind === 'failed' && c.connection.error.code === 'session-held');

  const timesSent = (window: FaultWindow, tag: string): number =>
    window.log.filter(
      ({ dir, msg }) => dir === 'in' && msg?.method === 'session/prompt' && JSON.stringify(msg).includes(`<${tag}>`),
    ).length;

  async function takenOver(play = ''): Promise<{ slept: FaultWindow; awake: FaultWindow; pid: number }> {
    const slept = start();
    slept.type('one', play);
    if (play === '') await idle(slept);
    else await slept.session.until((c) => c.isBusy && c.model.state.entries.some(({ kind }) => kind === 'agent'));
    slept.journal.flush();
    slept.conversation.unsent.write({ text: 'half a thought', revision: 1 }, undefined);
    const pid = slept.agentPid;
    offset = LONG_MS;
    const awake = start();
    assert.equal(awake.isHeld, false, 'the other window has it now');
    return { slept, awake, pid };
  }

  it('has each message sent by one window, and keeps the text they have just typed', async () => {
    const { slept, awake, pid } = await takenOver();
    assert.throws(
      () => slept.conversation.send('say <late>'),
      (error) => error instanceof ParleyError && error.code === 'session-held',
      'the composer keeps what is not taken',
    );
    await isReadOnly(slept);
    await goneFrom(pid);
    assert.equal(timesSent(slept, 'late'), 0);
    assert.deepEqual(slept.conversation.queue.items, []);
    assert.equal(slept.conversation.unsent.draft.text, 'half a thought');
    assert.equal(projectSession(slept.conversation).error?.actions[0]?.id, 'takeOver');
    awake.type('two');
    await idle(awake);
    assert.equal(timesSent(awake, 'two'), 1);
  });

  it('has one running agent and one writing window', async () => {
    const { slept, awake, pid } = await takenOver('say I think\nwait');
    await awake.conversation.start();
    const { length } = awake.journal.events(awake.key).events;
    assert.deepEqual(slept.journal.heartbeat(), [slept.key], 'it is learned at the next heartbeat at the latest');
    await isReadOnly(slept);
    await goneFrom(pid);
    assert.equal(slept.conversation.model.state.turn, undefined, 'no turn is shown as running for ever');
    slept.conversation.unsent.write({ text: 'more of it', revision: 2 }, undefined);
    slept.conversation.queue.pause('by-user');
    await slept.conversation.restart();
    assert.equal(slept.conversation.connection.kind, 'failed', 'no agent comes back by itself');
    assert.equal(awake.journal.events(awake.key).events.length, length, 'nothing of it is kept');
    assert.equal(awake.journal.side.draft(awake.key)?.text, 'half a thought');
    assert.equal(awake.log.filter(({ ev }) => ev === 'start').length, 2);
  });

  it('can take it back with its transcript when the other window is closed', async () => {
    const { slept, awake } = await takenOver();
    slept.journal.heartbeat();
    await isReadOnly(slept);
    awake.type('two');
    await idle(awake);
    await awake.close();
    open.splice(open.indexOf(awake), 1);

    const again = start();
    assert.equal(again.isHeld, false);
    slept.conversation.unsent.write({ text: 'half a thought and the rest', revision: 3 }, undefined);
    assert.equal(again.conversation.unsent.takeOver(slept.conversation.unsent), '');
    assert.equal(again.conversation.unsent.draft.text, 'half a thought and the rest');
    again.type('three');
    await idle(again);
    const said = textIn(again.journal.events(again.key).events);
    assert.match(said, /<one>.*<two>.*<three>/s);
    assert.equal(slept.conversation.connection.kind, 'failed', 'whoever lost it does not write again by itself');
    assert.equal(again.journal.side.draft(again.key)?.text, 'half a thought and the rest');
  });

  it('keeps the draft of the other window in addition to their own', async () => {
    const { slept, awake } = await takenOver();
    slept.journal.heartbeat();
    await isReadOnly(slept);
    awake.conversation.unsent.write({ text: 'their words', revision: 4 }, undefined);
    await awake.close();
    open.splice(open.indexOf(awake), 1);
    const again = start();
    slept.conversation.unsent.attach({ id: 'a1', kind: 'file', label: 'x.ts', forms: [{ type: 'text', text: 'x' }] });
    assert.equal(again.conversation.unsent.takeOver(slept.conversation.unsent), 'their words');
    assert.equal(again.conversation.unsent.draft.text, 'half a thought');
    assert.deepEqual(pluck(again.conversation.unsent.attachments, 'label'), ['x.ts']);
  });
});
