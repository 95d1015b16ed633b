// Commands run by keepers, with real processes: they survive windows, and no output is repeated.
import assert from 'node:assert/strict';
import { appendFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RpcError } from '../../../src/acp/jsonrpc/rpcError';
import { hostEnvironment } from '../../../src/agents/agentEnvironment';
import { Deferred } from '../../../src/base/deferred';
import { silentLog } from '../../../src/base/log';
import { type TerminalChange, Terminals } from '../../../src/client/terminals/terminals';
import type { KeptProcess } from '../../../src/client/transport/keptProcess';
import { Heard, TestKeepers } from '../../support/keeper/keepers';
import { goneFrom } from '../../support/processes';
import { removeScratch, scratchFolder } from '../../support/scratch';

const never = new AbortController().signal;
const silent = 'process.stdin.resume()';
const follower = (file: string): string => `
const { readFileSync } = require('fs');
let from = 0;
const look = () => {
  const text = readFileSync(${JSON.stringify(file)}, 'utf8');
  process.stdout.write(text.slice(from));
  from = text.length;
  if (text.endsWith('end')) process.exitCode = 7;
  else setTimeout(look, 10);
};
look();`;

class Window {
  readonly terminals = new Terminals({
    log: silentLog,
    env: async () => hostEnvironment(process.env),
    isTrusted: () => true,
  });
  readonly created: string[] = [];
  readonly changes: TerminalChange[] = [];
  readonly #waiting = new Set<() => void>();

  constructor() {
    this.terminals.onDidCreate(({ terminalId }) => this.created.push(terminalId));
    this.terminals.onDidChange((change) => {
      this.changes.push(change);
      for (const look of [...this.#waiting]) look();
    });
  }

  get text(): string {
    return this.changes.map(({ append = '' }) => append).join('');
  }

  until(holds: () => boolean): Promise<void> {
    const done = new Deferred<void>();
    const look = (): void => {
      if (holds()) done.resolve();
    };
    this.#waiting.add(look);
    look();
    return done.promise;
  }

  create(kept: KeptProcess, request: number, program: string): Promise<{ terminalId: string }> {
    const { commands } = kept;
    if (!commands) throw new Error('the keeper runs no commands');
    const params = { command: process.execPath, args: ['-e', program] };
    return this.terminals.create('s', params, [tmpdir()], { commands, request });
  }
}

describe('a command of a kept agent', function () {
  this.timeout(30_000);
  let keepers: TestKeepers;
  let file: string;

  beforeEach(async () => {
    keepers = await TestKeepers.make();
    file = join(await scratchFolder(), 'said');
    writeFileSync(file, '');
  });

  afterEach(async () => {
    await keepers.end();
    await removeScratch();
  });

  async function reopen(heard: Readonly<Record<string, number>>): Promise<{ agent: KeptProcess; window: Window }> {
    const agent = await keepers.attach();
    const window = new Window();
    assert.ok(agent.commands);
    window.terminals.resume('s', agent.commands, heard);
    return { agent, window };
  }

  it('keeps running without a window, and the next window gets exactly the missing output', async () => {
    const agent = await keepers.start(silent);
    Heard.from(agent);
    const one = new Window();
    const { terminalId } = await one.create(agent, 1, follower(file));
    appendFileSync(file, 'first €\n');
    await one.until(() => one.text === 'first €\n');
    const heard = one.terminals.heardOf('s');
    assert.deepEqual(heard, { [terminalId]: 8 });
    await agent.detach();
    one.terminals.dispose();
    appendFileSync(file, 'second\n');

    const { agent: again, window: two } = await reopen(heard);
    assert.deepEqual(two.created, [terminalId]);
    await two.until(() => two.text === 'second\n');
    appendFileSync(file, 'third\nend');
    const exit = await two.terminals.waitForExit('s', { terminalId }, never);
    assert.deepEqual(exit, { exitCode: 7 });
    assert.equal(two.text, 'second\nthird\nend');
    const whole = { output: 'first €\nsecond\nthird\nend', truncated: false, exitStatus: { exitCode: 7 } };
    assert.deepEqual(two.terminals.output('s', { terminalId }), whole);
    await two.terminals.release('s', { terminalId });
    await again.detach();
    const third = await keepers.attach();
    assert.deepEqual(third.commands?.earlier, []);
  });

  it('counts output as delivered from the first moment of the next window', async () => {
    const agent = await keepers.start(silent);
    const one = new Window();
    for (const request of [1, 2]) await one.create(agent, request, `console.log("done ${request}")`);
    await one.until(() => one.text.length === 14);
    const heard = one.terminals.heardOf('s');
    assert.deepEqual(Object.values(heard), [7, 7]);
    await agent.detach();
    const again = await keepers.attach();
    const two = new Window();
    assert.ok(again.commands);
    assert.deepEqual(two.terminals.heardOf('s', heard), heard);
    // A window that dies now leaves what it stored with its events.
    const kept: unknown[] = [];
    two.terminals.onDidCreate(() => kept.push(two.terminals.heardOf('s', heard)));
    two.terminals.resume('s', again.commands, heard);
    assert.deepEqual(kept, [heard, heard]);
    assert.deepEqual(two.terminals.heardOf('s'), heard);
  });

  it('reports its exit to the next window if it ended without one', async () => {
    const agent = await keepers.start(silent);
    const one = new Window();
    const { terminalId } = await one.create(agent, 1, 'console.log("done")');
    const heard = one.terminals.heardOf('s');
    const before = one.text;
    await agent.detach();
    const { window: two } = await reopen(heard);
    assert.deepEqual(await two.terminals.waitForExit('s', { terminalId }, never), { exitCode: 0 });
    assert.equal(before + two.text, 'done\n');
  });

  it('loses and repeats no output, whenever a window dies and however old its journal is', async () => {
    const lines = 3_000;
    const program = `let line = 0;
const write = () => { for (let left = 1 + line % 7; left > 0 && line < ${lines}; left--) console.log('line ' + ++line);
  if (line < ${lines}) setTimeout(write, 1); };
write();`;
    const agent = await keepers.start(silent);
    let window = new Window();
    const { terminalId } = await window.create(agent, 1, program);
    let journal = '';
    for (let round = 1; round <= 20; round++) {
      const stored = window.text;
      const heard = window.terminals.heardOf('s');
      journal += stored;
      // Output arrives that is never stored, and the window closes silently.
      await window.until(() => window.text.length > stored.length || window.changes.some(({ exit }) => exit));
      ({ window } = await reopen(heard));
      if (round % 3 > 0) await window.until(() => window.text !== '' || window.changes.some(({ exit }) => exit));
    }
    await window.terminals.waitForExit('s', { terminalId }, never);
    const whole = Array.from({ length: lines }, (_, index) => `line ${index + 1}\n`).join('');
    assert.equal(journal + window.text, whole);
  });

  it('runs once, even if the window closed before the response', async () => {
    const agent = await keepers.start(silent);
    const one = new Window();
    const { terminalId } = await one.create(agent, 5, follower(file));
    await agent.detach();
    const { agent: again, window: two } = await reopen({});
    assert.deepEqual(await two.create(again, 5, follower(file)), { terminalId });
    const other = await two.create(again, 5, follower(file));
    assert.notEqual(other.terminalId, terminalId, 'an id that is used again is another request');
    assert.equal(two.created.length, 2);
  });

  it('ends with its agent, and when killed', async () => {
    const agent = await keepers.start(silent);
    const window = new Window();
    const first = await window.create(agent, 1, 'console.log(process.pid); setInterval(() => {}, 60000)');
    await window.until(() => window.text.includes('\n'));
    const pid = Number(window.text);
    await window.terminals.kill('s', first);
    await goneFrom(pid);
    window.changes.length = 0;
    const { terminalId } = await window.create(agent, 2, 'console.log(process.pid); setInterval(() => {}, 60000)');
    await window.until(() => window.text.includes('\n'));
    const last = Number(window.text);
    const closed = window.terminals.closeSession('s');
    await Promise.all([agent.close(), closed]);
    await goneFrom(last);
    const ends = window.changes.filter((one) => one.terminalId === terminalId && (one.exit ?? one.released));
    assert.deepEqual(
      ends.map(({ exit }) => exit !== undefined),
      [true, false],
      'how it ended is told before it is let go of',
    );
  });

  it('fails with a readable error if it does not start', async () => {
    const { commands } = await keepers.start(silent);
    assert.ok(commands);
    const { terminals } = new Window();
    await assert.rejects(
      terminals.create('s', { command: 'there-is-no-such-program-7f3a', args: ['x'] }, [tmpdir()], {
        commands,
        request: 1,
      }),
      (error: unknown) => error instanceof RpcError && /did not start/.test(error.message),
    );
    await assert.rejects(
      terminals.create('s', { command: process.execPath, args: ['-e', ''] }, [join(tmpdir(), 'no-such-folder-7f3a')], {
        commands,
        request: 2,
      }),
      /does not exist/,
    );
  });

  it('keeps the end of excessive output, and counts the rest', async () => {
    const agent = await keepers.start(silent);
    const window = new Window();
    const size = 40 * 1024 * 1024;
    const program = `const line = 'x'.repeat(1023) + '\\n';
const write = (left) => left > 0 ? process.stdout.write(line.repeat(64), () => write(left - 64)) : undefined;
write(${size / 1024});`;
    const { terminalId } = await window.create(agent, 1, program);
    await window.terminals.waitForExit('s', { terminalId }, never);
    assert.deepEqual(window.terminals.heardOf('s'), { [terminalId]: size });
    assert.equal(window.terminals.outputOf(terminalId).length, 1024 * 1024);
  });
});
