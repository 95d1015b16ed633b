// `npm run check-agent` with the reference agent as a process.
import { strict as assert } from 'node:assert';
import { type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { readRecording } from '../../../src/traffic/recording';
import { WHOLE } from '../../support/agents/reference/checkReference';
import type { ReferenceScript } from '../../support/agents/reference/referenceScript';

describe('npm run check-agent', function () {
  this.timeout(120_000);
  let folder: string;

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'parley-check-agent-'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  function run(args: readonly string[]): SpawnSyncReturns<string> {
    return spawnSync(process.execPath, ['scripts/bootstrap.mjs', 'checkAgent', ...args], { encoding: 'utf8' });
  }

  /** Returns the command of the reference agent, with a path relative to the caller's folder. */
  function reference(script: ReferenceScript): readonly string[] {
    const ready = { path: ['agentCapabilities', 'session', 'ready'] };
    return [process.execPath, 'out/support/agents/referenceAgent.js', JSON.stringify({ ready, ...script })];
  }

  const prompts = [
    'answer=say OK',
    'cancel=say busy\nwait',
    'permission=ask',
    'error=fail',
    'refusal=stop refusal',
  ].flatMap((text) => ['--prompt', text]);

  it('prints a table, writes a report and a recording, and exits with 0 if no rule is broken', async () => {
    const [report, recording] = [join(folder, 'report.md'), join(folder, 'recording.jsonl')];
    const { status, stdout, stderr } = run([
      '--protocol',
      '1',
      '--report',
      report,
      '--recording',
      recording,
      ...prompts,
      ...reference(WHOLE),
    ]);
    assert.equal(status, 0, stdout + stderr);
    assert.match(stdout, /Agent: Reference agent 1\.0\.0/);
    assert.match(stdout, /status\.same +conforms +20 equal answers/);
    assert.match(stdout, /, 0 breaks, /);
    assert.match(readFileSync(report, 'utf8'), /^# Conformance report/);
    const { messages, skipped } = await readRecording(readFileSync(recording));
    assert.equal(skipped, 0);
    assert.equal(messages[0]?.message.method, 'initialize');
    assert.ok(messages.length > 50);
  });

  it('prints JSON, and exits with 1 if a rule is broken', () => {
    const { status, stdout } = run([
      '--json',
      '--protocol=1',
      ...prompts,
      ...reference({ ...WHOLE, faults: ['early-update'] }),
    ]);
    assert.equal(status, 1);
    const report = JSON.parse(stdout) as {
      versions: { verdicts: { id: string; verdict: string; lines: { text: string }[] }[] }[];
    };
    const broken = report.versions[0]?.verdicts.filter(({ verdict }) => verdict === 'breaks') ?? [];
    assert.deepEqual(
      broken.map(({ id }) => id),
      ['ready.new'],
    );
    assert.ok(broken[0]?.lines.some(({ text }) => text.includes('session/ready')));
  });

  it('explains its options, and exits with 2 for invalid arguments', () => {
    for (const args of [
      [],
      ['--protocol', '3', 'agent'],
      ['--prompt', 'nonsense', 'agent'],
      ['--unknown', 'x', 'agent'],
    ]) {
      const { status, stderr } = run(args);
      assert.equal(status, 2, args.join(' '));
      assert.match(stderr, /Usage: npm run check-agent/);
    }
  });

  it('exits with 1 if the agent does not exist', () => {
    const { status, stdout } = run(['no-such-agent-here']);
    assert.equal(status, 1);
    assert.match(stdout, /could not be started/);
  });

  it('ends the agent and removes its folder on Ctrl+C, which all processes of the terminal get', async function () {
    if (process.platform === 'win32') return this.skip();
    const program = join(folder, 'silent.mjs');
    const started = join(folder, 'started');
    writeFileSync(
      program,
      `import { writeFileSync } from 'node:fs';
      writeFileSync(${JSON.stringify(started)}, JSON.stringify([process.pid, process.cwd()]));
      process.stdin.resume();`,
    );
    const check = spawn(process.execPath, ['scripts/bootstrap.mjs', 'checkAgent', process.execPath, program], {
      detached: true,
      stdio: 'ignore',
    });
    const ended = once(check, 'exit');
    const [pid, cwd] = JSON.parse(await whole(started)) as [number, string];
    process.kill(-(check.pid ?? 0), 'SIGINT');
    assert.deepEqual(await ended, [2, null]);
    assert.equal(existsSync(cwd), false);
    assert.throws(() => process.kill(pid, 0), /ESRCH/);
  });
});

async function whole(path: string): Promise<string> {
  for (;;) {
    const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
    if (text.endsWith(']')) return text;
    await setTimeout(20);
  }
}
