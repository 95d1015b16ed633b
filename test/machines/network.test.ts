// The machines that the stories play on are apart: each has its own network, and the
// original's server behaves as it was seen to.
import { strict as assert } from 'node:assert';
import { Stage } from '../support/machines/stage';

describe('the machines of the tests', function () {
  this.timeout(60_000);
  let stage: Stage;

  before(async () => {
    stage = await Stage.open();
    const { whyNot } = stage.network;
    if (whyNot !== undefined)
      process.stdout.write(`    No network namespaces here (${whyNot}): addresses of the loopback.\n`);
  });

  after(() => stage.close());

  it("reach each other, but not each other's loopback", async function () {
    if (stage.network.whyNot !== undefined) this.skip();
    const key = await stage.there.call<string>('openSession', 'story');
    await stage.there.call('send', key, '[q0.1] plain');
    const { history } = await stage.there.descriptor(key);
    const [mine = ''] = history;
    const read = await stage.read({
      id: key,
      history: [mine, (await stage.there.call<string[]>('log')).join().match(/http:\/\/127\.0\.0\.1:\d+/)?.[0] ?? ''],
    });
    assert.deepEqual(
      read.map(({ role, text }) => (role === 'gap' ? text.split(': ').at(-1) : text)),
      ['[q0.1] plain', 'All connection attempts failed'],
    );
  });
});
