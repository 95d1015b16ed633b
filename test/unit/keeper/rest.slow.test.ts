// The last output of an agent without a window is read from disk, without a process.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { KeptProcess } from '../../../src/client/transport/keptProcess';
import { Heard, someone, TestKeepers } from '../../support/keeper/keepers';
import { goneFrom } from '../../support/processes';

describe('the remaining data of an exited agent', function () {
  this.timeout(30_000);
  const keepers = TestKeepers.each();

  const asking = `
    for (const id of [1, 2, 3]) console.log(JSON.stringify({ id, method: 'ask' }));
    require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
      console.log('got ' + line);
      if (line !== 'go') return;
      console.error('fatal');
      process.stdout.write('x'.repeat(600000) + '\\nlast', () => process.exit(4));
    });`;

  async function endWithoutWindow(): Promise<KeptProcess> {
    const first = await keepers.start(asking);
    const heard = Heard.from(first);
    await heard.line((text) => text.includes('"id":3'));
    await first.transport.write('answer 2', 2);
    await heard.line((text) => text === 'got answer 2');
    first.stored({ line: 2, open: [1, 2] });
    first.setFacts(Buffer.from('facts'));
    await goodbye(first);
    return first;
  }

  const read = async (from: { line: number; open: number[] }): Promise<{ kept: KeptProcess; heard: Heard }> => {
    const both = await keepers.read(from);
    await both.heard.ended;
    return both;
  };

  const dying = `console.log('ready'); process.stdin.once('data', () => process.exit(0));`;

  async function goodbye(first: KeptProcess): Promise<void> {
    const { pid } = await keepers.place(first.id);
    await first.transport.write('go');
    await first.detach();
    await goneFrom(pid);
  }

  it('is complete for the next window, without a process, and removed once read', async () => {
    const first = await endWithoutWindow();
    assert.equal(keepers.all.find('one'), first.id);
    assert.deepEqual(await keepers.all.list(), []);
    const { kept, heard } = await read({ line: 2, open: [1, 2] });
    assert.deepEqual([kept.ranBefore, kept.pid, kept.id], [true, first.pid, first.id]);
    assert.equal(Buffer.from(kept.facts ?? []).toString(), 'facts');
    const said = heard.lines.map(({ number, text }) => `${number}: ${text.slice(0, 24)}`);
    assert.deepEqual(said, [
      '1: {"id":1,"method":"ask"}',
      '3: {"id":3,"method":"ask"}',
      '4: got answer 2',
      '5: got go',
      `6: ${'x'.repeat(24)}`,
      '7: last',
    ]);
    assert.deepEqual([(await kept.exited).code, (await kept.exited).stderr], [4, 'fatal']);
    await assert.rejects(kept.transport.write('hello'), { code: 'connection-closed' });
    await kept.close();
    assert.deepEqual(await readdir(keepers.folder), []);
  });

  it('is available again, with newer facts, if a window is killed while reading', async () => {
    await endWithoutWindow();
    const { kept } = await read({ line: 2, open: [] });
    kept.setFacts(Buffer.from('newer'), true);
    await kept.detach();
    const again = await read({ line: 5, open: [1] });
    assert.equal(Buffer.from(again.kept.facts ?? []).toString(), 'newer');
    assert.deepEqual(
      again.heard.lines.map(({ number }) => number),
      [1, 6, 7],
    );
  });

  it('includes the last output of its commands and how they ended', async () => {
    const first = await keepers.startReady(dying);
    const said: string[] = [];
    const script = `console.log('from the command'); setInterval(() => {}, 1e6)`;
    await keepers.command(first, script, { onChange: ({ append = '' }) => said.push(append) });
    while (said.join('') === '') await new Promise((resolve) => setTimeout(resolve, 5));
    await goodbye(first);
    const next = await keepers.attach();
    const [command] = next.commands?.earlier ?? [];
    const heard: string[] = [];
    const followed = command?.follow(5, { capacityBytes: 1000, onChange: ({ append = '' }) => heard.push(append) });
    assert.equal((await followed?.exited)?.signal, 'SIGTERM');
    assert.equal(heard.join(''), 'from the command\n'.slice(5));
  });

  it('is readable only by its user, and contains no environment', async () => {
    const first = await keepers.startReady(dying, {
      env: { PATH: process.env.PATH ?? '', API_KEY: 'sk-very-secret-value' },
    });
    const { token } = (await keepers.place(first.id)) as { token: string };
    await goodbye(first);
    const folder = join(keepers.folder, first.id);
    assert.equal((await stat(folder)).mode & 0o777, 0o700);
    for (const name of await readdir(folder)) {
      assert.equal((await stat(join(folder, name))).mode & 0o777, 0o600, name);
      const text = await readFile(join(folder, name), 'utf8');
      assert.ok(!text.includes('sk-very-secret-value') && !text.includes(token), name);
    }
  });

  it('does not exist if an idle agent exited after its window, whatever it responds to the goodbye', async () => {
    const first = await keepers.startReady(`
      console.log('ready');
      require('readline').createInterface({ input: process.stdin }).on('line', () => console.log('{"id":"goodbye"}'));`);
    first.stored({ line: 1, open: [] });
    const { pid } = await keepers.place(first.id);
    const second = await keepers.attachWith(first.id, { leaveAfterMs: 0, goodbye: '{"method":"bye"}\n' });
    await second.detach();
    await goneFrom(pid);
    assert.deepEqual(await readdir(keepers.folder), []);
  });

  it('is removed with its session, or after a month', async () => {
    const first = await endWithoutWindow();
    await keepers.all.collect((session) => session === 'one');
    assert.equal(keepers.all.find('one'), first.id);
    await keepers.all.collect((session) => session !== 'one');
    assert.deepEqual(await keepers.left(), []);

    const second = await endWithoutWindow();
    const path = join(keepers.folder, second.id, 'rest.json');
    const rest = JSON.parse(await readFile(path, 'utf8'));
    rest.state.ended.at -= 31 * 24 * 60 * 60 * 1000;
    await writeFile(path, JSON.stringify(rest));
    await keepers.all.list();
    assert.equal(existsSync(path), false);
  });

  it('is not read from a malformed file, and the next agent starts anyway', async () => {
    const first = await endWithoutWindow();
    await writeFile(join(keepers.folder, first.id, 'rest.json'), '{"wire":1,"about":{"session":"one"}}');
    assert.equal(keepers.all.find('one'), undefined);
    const next = await keepers.start(asking, { about: someone });
    assert.notEqual(next.id, first.id);
  });
});
