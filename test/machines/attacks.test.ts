// What the network, clocks and other servers do to a session between machines: each word that was
// said is still there once.
import { strict as assert } from 'node:assert';
import { setTimeout as sleep } from 'node:timers/promises';
import { Stage, type StageWindow } from '../support/machines/stage';
import { marksIn, promptOf } from '../support/machines/story';

const MINUTE = 60_000;

describe('a session between machines', function () {
  this.timeout(120_000);
  let stage: Stage;
  before(async () => {
    stage = await Stage.open();
  });
  after(() => stage.close());

  const say = async (window: StageWindow, key: string, mark: string): Promise<string> =>
    (await window.call<{ stopReason: string }>('send', key, promptOf(mark, 'plain'))).stopReason;
  const marks = async (window: StageWindow, key: string): Promise<readonly string[]> => {
    const read = await stage.read(await window.descriptor(key));
    return read.flatMap(({ role, text }) => (role === 'gap' ? [text] : marksIn(text)));
  };
  const move = (key: string, agent: string): Promise<string> =>
    stage.here.call('run', 'parley.continueWith', { session: key, agent });

  it('continues when the other machine is cut off during the handover', async () => {
    const { here } = stage;
    const first = await here.call<string>('openSession', 'story');
    await say(here, first, '1.1');
    const far = stage.network.machines[1];
    const key = await move(first, 'far');
    await far?.setConnected(false);
    const sent = say(here, key, '1.2');
    await sleep(1000);
    await far?.setConnected(true);
    assert.equal(await sent, 'end_turn');
    assert.deepEqual(await marks(here, key), ['q1.1', 'a1.1', 'q1.2', 'a1.2']);
  });

  it('keeps the messages of two simultaneous clients on a server that records only one of them', async () => {
    const { here, there } = stage;
    const ours = await here.call<string>('openSession', 'old');
    await say(here, ours, '2.1');
    const theirs = await there.call<string>('import', await here.descriptor(ours), 'old');
    await Promise.all([say(here, ours, '2.2'), say(there, theirs, '2.3')]);
    await Promise.all([say(here, ours, '2.4'), say(there, theirs, '2.5')]);
    const found = [await marks(here, ours), await marks(there, theirs)];
    for (const [index, said] of [
      ['2.1', '2.2', '2.4'],
      ['2.1', '2.3', '2.5'],
    ].entries())
      for (const mark of said)
        for (const word of [`q${mark}`, `a${mark}`])
          assert.equal(found[index]?.filter((one) => one === word).length, 1, `${word} in ${found[index]?.join(' ')}`);
  });

  it('survives a server that lost its data', async () => {
    const { here } = stage;
    const key = await here.call<string>('openSession', 'old');
    await say(here, key, '3.1');
    await stage.original.call('forget');
    assert.equal(await say(here, key, '3.2'), 'error');
    await here.call('press', key, 'continue:transcript');
    await here.call('shows', key, '[a3.2]');
    assert.equal(await say(here, key, '3.3'), 'end_turn');
    assert.deepEqual(await marks(here, key), ['q3.1', 'a3.1', 'q3.2', 'a3.2', 'q3.3', 'a3.3']);
  });

  it('is shared and opened with a clock that is 20 minutes off, or the window says why not', async () => {
    const { here, there } = stage;
    for (const minutes of [20, -20]) {
      await here.setClock(minutes * MINUTE);
      const key = await here.call<string>('openSession', 'story');
      const mark = `4.${minutes + 20}`;
      await say(here, key, mark);
      const out = await here.descriptor(key).catch((error: Error) => error.message);
      if (typeof out === 'string') assert.match(out, /clock/i);
      else {
        const opened = await there.call<string>('import', out, 'story');
        const { entries } = await there.snapshot(opened);
        assert.ok(
          entries.some(({ text }) => text?.includes(`[a${mark}]`)),
          'the message is read there',
        );
      }
    }
    await here.setClock(0);
  });
});
