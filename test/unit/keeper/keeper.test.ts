// Real keepers with real agents: what an agent says and is told survives the windows, once each.
import assert from 'node:assert/strict';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describeExit } from '../../../src/agents/agentProcess';
import { inEnglish } from '../../../src/base/localizable';
import { Heard, TestKeepers } from '../../support/keepers';
import { goneFrom, isGone } from '../../support/processes';
import { removeScratch } from '../../support/scratch';

/** Answers each line with a number of its own, and says what it got. */
const echo = `
let count = 0;
require('readline').createInterface({ input: process.stdin }).on('line', (line) => console.log(++count + ' ' + line));
console.log('ready');`;

describe('Keeper', function () {
  this.timeout(30_000);
  let keepers: TestKeepers;

  beforeEach(async () => {
    keepers = await TestKeepers.make();
  });

  afterEach(async () => {
    await keepers.end();
    await removeScratch();
  });

  it('carries what is written and said, as a process does', async () => {
    const kept = await keepers.start(echo);
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
    assert.deepEqual(await readdir(keepers.folder), []);
  });

  it('gives the next window what was said since the journal was stored, and nothing twice', async () => {
    const first = await keepers.start(echo);
    const before = Heard.from(first);
    for (const text of ['a', 'b', 'c']) await first.transport.write(text);
    await before.line((text) => text === '3 c');
    first.stored({ line: 2, open: [] });
    await first.transport.write('d');
    await first.detach();
    const second = await keepers.attach();
    assert.equal(second.ranBefore, true);
    assert.equal(second.pid, first.pid);
    const after = Heard.from(second);
    second.deliver({ line: 2, open: [] });
    await second.transport.write('e');
    await after.line((text) => text === '5 e');
    assert.deepEqual(
      after.lines.map(({ number, text }) => `${number}: ${text}`),
      ['3: 2 b', '4: 3 c', '5: 4 d', '6: 5 e'],
    );
  });

  it('hands the agent over to the window that attaches last', async () => {
    const first = await keepers.start(echo);
    Heard.from(first);
    await first.transport.write('a');
    const second = await keepers.attach();
    await first.lost;
    await assert.rejects(first.transport.write('lost'), { code: 'connection-closed' });
    const after = Heard.from(second);
    second.deliver({ line: 0, open: [] });
    await second.transport.write('b');
    await after.line((text) => text === '2 b');
    assert.ok(!after.texts.some((text) => text.includes('lost')));
  });

  it('keeps facts for the next window, in one piece with the message that they belong to', async () => {
    const first = await keepers.start(echo);
    const before = Heard.from(first);
    first.setFacts(Buffer.from('old'));
    first.setFacts(Buffer.from('new'));
    await first.transport.write('a');
    await before.line((text) => text === '1 a');
    first.setFacts(Buffer.from('alone'));
    await first.detach();
    const second = await keepers.attach();
    assert.equal(Buffer.from(second.facts ?? []).toString(), 'alone');
  });
  void [stat, readFile, join, goneFrom];
});
