// What keepers take of memory: those of idle sessions, of busy ones, and of sessions whose agents
// have ended.
import { setTimeout as delay } from 'node:timers/promises';
import type { KeptProcess } from '../../src/client/transport/keptProcess';
import { Heard, someone, TestKeepers } from '../support/keeper/keepers';
import { isGone, pssOf } from '../support/processes';
import { removeScratch } from '../support/scratch';
import { type Row, rounded, rowsOf } from './figures';

const IDLE = 4;
const BUSY = 20;
/**
 * How long busy agents talk, and how often the keepers are sampled, in milliseconds.
 */
const BUSY_MS = 10_000;
const LOOK_MS = 500;

/** Says 25 lines of 2 KB twenty times a second, once it gets a line. */
const talker = `
const lines = (JSON.stringify({ jsonrpc: '2.0', method: 'session/update', params: 'x'.repeat(1950) }) + '\\n').repeat(25);
console.log('ready');
process.stdin.once('data', () => setInterval(() => process.stdout.write(lines), 50));`;

/** Rows for the table: the sum over all keepers (PSS), at its highest while the agents talk. */
export async function measureKeeperMemory(say: (line: string) => void): Promise<readonly Row[]> {
  const idle = await idleKeepers(say);
  const busy = await busyKeepers(say);
  const row = rowsOf('keepers');
  return [
    row(`${IDLE} idle sessions without a window`, idle.alive, 'MB', 50),
    row(`${IDLE} sessions whose agents have ended`, idle.ended, 'MB', 0),
    row(`${BUSY} busy sessions`, busy, 'MB', 350),
  ];
}

async function idleKeepers(say: (line: string) => void): Promise<{ alive: number; ended: number }> {
  const keepers = await TestKeepers.make();
  try {
    const started = await start(keepers, IDLE);
    const pids = await pidsOf(keepers);
    for (const kept of started) await kept.detach();
    await delay(LOOK_MS);
    const alive = await memoryOf(pids);
    for (const kept of started) process.kill(kept.pid, 'SIGTERM');
    await delay(5_000);
    const ended = await memoryOf(pids);
    say(`keepers of ${IDLE} idle sessions: ${rounded(alive)} MB, after their agents ended ${rounded(ended)} MB`);
    return { alive, ended };
  } finally {
    await keepers.end();
    await removeScratch();
  }
}

async function busyKeepers(say: (line: string) => void): Promise<number> {
  const keepers = await TestKeepers.make();
  try {
    const started = await start(keepers, BUSY);
    const pids = await pidsOf(keepers);
    await Promise.all(started.map((kept) => kept.transport.write('go')));
    let most = 0;
    for (const end = performance.now() + BUSY_MS; performance.now() < end; await delay(LOOK_MS))
      most = Math.max(most, await memoryOf(pids));
    say(`keepers of ${BUSY} busy sessions: ${rounded(most)} MB in ${pids.length} processes`);
    return most;
  } finally {
    await keepers.end();
    await removeScratch();
  }
}

/** Starts agents whose windows store what they say. */
async function start(keepers: TestKeepers, count: number): Promise<readonly KeptProcess[]> {
  const started: KeptProcess[] = [];
  for (let n = 0; n < count; n++) {
    const kept = await keepers.start(talker, { about: { ...someone, session: `${n}` } });
    const heard = Heard.from(kept);
    await heard.line((text) => text === 'ready');
    setInterval(() => {
      const last = heard.lines.at(-1)?.number ?? 0;
      heard.lines.length = 0;
      if (last > 0) kept.stored({ line: last, open: [] });
    }, LOOK_MS).unref();
    started.push(kept);
  }
  return started;
}

async function pidsOf(keepers: TestKeepers): Promise<readonly number[]> {
  return [...new Set((await keepers.all.list()).map(({ state }) => state?.pid ?? 0))];
}

async function memoryOf(pids: readonly number[]): Promise<number> {
  let sum = 0;
  for (const pid of pids) if (!(await isGone(pid))) sum += await pssOf(pid);
  return sum;
}
