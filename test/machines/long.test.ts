// A session of 10,000 messages on another machine: opened, continued, handed out and read back.
// What it costs is counted in requests, not in time.
import { strict as assert } from 'node:assert';
import { Stage } from '../support/machines/stage';

const COUNT = 10_000;

describe('a session of 10,000 messages', function () {
  this.timeout(300_000);
  let stage: Stage;
  before(async () => {
    stage = await Stage.open();
  });
  after(() => stage.close());

  const gaps = async (window: Stage['here'], key: string): Promise<number> =>
    (await window.snapshot(key)).entries.filter(({ kind }) => kind === 'gap').length;
  const gets = (): Promise<number> => stage.original.call('gets');

  it('is opened with one request per message, continued, shared and read back', async () => {
    const { here, there } = stage;
    const history = await stage.original.call<readonly string[]>('fill', COUNT, await stage.originalHost());
    const descriptor = { id: '11111111-2222-4333-8444-555555555555', history };
    const key = await here.call<string>('import', descriptor, 'story');
    assert.deepEqual([await gets(), await gaps(here, key)], [COUNT, 0]);

    assert.equal((await here.call<{ stopReason: string }>('send', key, '[q1.1] plain')).stopReason, 'end_turn');
    const out = await here.descriptor(key);
    assert.equal(out.history.length, COUNT + 2);
    assert.deepEqual(out.history.slice(0, COUNT), history);

    const again = await here.call<string>('import', out, 'old');
    assert.deepEqual([await gets(), await gaps(here, again)], [COUNT, 0], 'what was read once is not asked for again');
    assert.equal((await here.call<{ stopReason: string }>('send', again, '[q1.2] plain')).stopReason, 'end_turn');
    assert.equal((await stage.original.call<readonly string[]>('lastSeen')).length, COUNT + 3);

    const before = await gets();
    const whole = await here.descriptor(again);
    const opened = await there.call<string>('import', whole, 'story');
    assert.deepEqual([whole.history.length, await gaps(there, opened)], [COUNT + 4, 0]);
    // Two of them lie in the bucket.
    assert.equal((await gets()) - before, COUNT + 2);
  });
});
