// Real keepers with real agents: messages in both directions survive windows, each exactly once.
import assert from 'node:assert/strict';
import { describeExit } from '../../../src/agents/agentProcess';
import { inEnglish } from '../../../src/base/localizable';
import { ECHO, Heard, TestKeepers } from '../../support/keeper/keepers';
import { isAlive, isGone } from '../../support/processes';

describe('a kept agent', function () {
  this.timeout(30_000);
  const keepers = TestKeepers.each();

  it('behaves like a process, and leaves nothing behind when closed', async () => {
    const kept = await keepers.start(ECHO);
    const heard = Heard.from(kept);
    await kept.transport.write('hello €');
    await heard.line((text) => text === '1 hello €');
    assert.deepEqual(heard.lines, [
      { number: 1, text: 'ready' },
      { number: 2, text: '1 hello €' },
    ]);
    const exit = await kept.close();
    assert.equal(inEnglish(describeExit(exit)), 'exited with code 0');
    assert.ok(await isGone(kept.pid));
    assert.deepEqual(await keepers.left(), []);
    await heard.ended;
  });

  it('reports its exit code and output if it exits immediately', async () => {
    const kept = await keepers.start(`console.log('last'); console.error('no key'); process.exitCode = 3;`);
    const heard = Heard.from(kept);
    const exit = await kept.exited;
    assert.deepEqual([exit.code, exit.stderr, heard.texts], [3, 'no key', ['last']]);
    await kept.close();
  });

  it('shares its keeper process with agents of other sessions', async () => {
    const two = { session: 'two', agentId: 'agent', agentName: 'Agent', folder: '/' };
    const kept = await Promise.all([keepers.start(ECHO), keepers.start(ECHO, { about: two })]);
    const [one, other] = await Promise.all(kept.map(({ id }) => keepers.place(id)));
    assert.equal(one?.pid, other?.pid);
    await kept[0].close();
    await kept[1].transport.write('hello');
    await Heard.from(kept[1]).line((text) => text === '1 hello');
  });

  it('is read from disk if it exited without a window, with nothing running', async () => {
    const first = await keepers.startReady(`
      console.log('ready');
      process.stdin.once('data', () => process.stdout.write('last', () => process.exit(4)));`);
    await first.transport.write('go');
    await first.detach();
    while ((await keepers.all.list()).length > 0);
    const { kept: next, heard } = await keepers.read({ line: 1, open: [] });
    assert.equal((await next.exited).code, 4);
    assert.deepEqual(heard.lines, [{ number: 2, text: 'last' }]);
    await next.close();
    assert.deepEqual(await keepers.left(), []);
  });

  describe('and its windows', () => {
    it('sends the next window all output since the journal was stored, and nothing twice', async () => {
      const first = await keepers.start(ECHO);
      const before = Heard.from(first);
      for (const text of ['a', 'b', 'c']) await first.transport.write(text);
      await before.line((text) => text === '3 c');
      first.stored({ line: 2, open: [] });
      await first.transport.write('d');
      await first.detach();
      const { kept: second, heard: after } = await keepers.read({ line: 2, open: [] });
      assert.deepEqual([second.ranBefore, second.pid], [true, first.pid]);
      await second.transport.write('e');
      await after.line((text) => text === '5 e');
      const said = after.lines.map(({ number, text }) => `${number}: ${text}`);
      assert.deepEqual(said, ['3: 2 b', '4: 3 c', '5: 4 d', '6: 5 e']);
    });

    it('belongs to the last attached window, and notifies the previous one', async () => {
      const first = await keepers.start(ECHO);
      Heard.from(first);
      await first.transport.write('a');
      const second = await keepers.attach();
      await first.lost;
      await assert.rejects(first.transport.write('of the first'), { code: 'connection-closed' });
      const after = Heard.from(second);
      second.deliver({ line: 0, open: [] });
      await second.transport.write('b');
      await after.line((text) => text === '2 b');
      assert.deepEqual(after.texts, ['ready', '1 a', '2 b']);
      await first.close();
      assert.ok(isAlive(second.pid));
    });

    it('repeats open requests, but not answered ones', async () => {
      const asking = `
        for (const id of [1, 2, 3, 4]) console.log(JSON.stringify({ id, method: 'ask' }));
        require('readline').createInterface({ input: process.stdin }).on('line', (line) => console.log('got ' + line));`;
      const first = await keepers.start(asking);
      const heard = Heard.from(first);
      await heard.line((text) => text.includes('"id":4'));
      await first.transport.write('answer 2', 2);
      await first.transport.write('answer 3', 3);
      await heard.line((text) => text === 'got answer 3');
      first.stored({ line: 2, open: [1, 2] });
      await first.detach();
      const { heard: after } = await keepers.read({ line: 2, open: [1, 2] });
      await after.line((text) => text === 'got answer 3');
      const said = after.lines.map(({ number, text }) => `${number}: ${text}`);
      assert.deepEqual(said, [
        '1: {"id":1,"method":"ask"}',
        '4: {"id":4,"method":"ask"}',
        '5: got answer 2',
        '6: got answer 3',
      ]);
    });
  });
});
