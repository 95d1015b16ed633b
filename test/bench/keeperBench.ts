// What the keeper costs: the same loads in the packaged extension in a real VS Code with `parley.background` as it is by default and turned off, by turns, so that whatever the machine does
// meanwhile happens to both.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pssOf } from '../support/processes';
import { runningKeepers } from '../support/vscode/leftKeepers';
import { Chat } from './chat';
import { median, type Row, rounded } from './figures';
import { untilQuiet } from './procStat';
import type { Subject } from './subjects';

const POLICIES = ['off', 'finishTurn'] as const;
type Policy = (typeof POLICIES)[number];

/** Turns of each kind in one VS Code. */
const PACED = 6;
const FLOODS = 3;
const FLOOD_UPDATES = 20_000;

interface Measured {
  /** From the key that opens the chat until the agent's session is ready, in ms. */
  readonly ready: number;
  /** From the agent's last write until it is painted, in ms. */
  readonly lags: readonly number[];
  /** Updates per second, from Enter until the last is painted. */
  readonly rates: readonly number[];
  /** The memory of the keeper after all of it, in MB; undefined without one. */
  readonly memory: number | undefined;
}

/** Rows for the table. @param repetitions VS Codes of each kind */
export async function measureKeeper(
  subject: Subject,
  { repetitions, say }: { readonly repetitions: number; readonly say: (line: string) => void },
): Promise<readonly Row[]> {
  const all: Record<Policy, Measured[]> = { off: [], finishTurn: [] };
  for (let repetition = 0; repetition < repetitions; repetition++) {
    for (const policy of repetition % 2 === 0 ? POLICIES : [...POLICIES].reverse()) {
      const measured = await run(subject, policy, say);
      all[policy].push(measured);
      const { ready, lags, rates, memory } = measured;
      const told = `ready ${Math.round(ready)} ms, lags ${lags.map(Math.round).join('/')} ms`;
      const kept = memory === undefined ? '' : `, keeper ${rounded(memory)} MB`;
      say(
        `keeper ${repetition + 1}/${repetitions} ${policy}: ${told}, ${rates.map(Math.round).join('/')} updates/s${kept}`,
      );
    }
  }
  const [without, with_] = [all.off, all.finishTurn].map((some) => ({
    ready: median(some.map(({ ready }) => ready)),
    lag: median(some.flatMap(({ lags }) => lags)),
    rate: median(some.flatMap(({ rates }) => rates)),
    memory: Math.max(...some.map(({ memory }) => memory ?? Number.NaN)),
  }));
  if (!without || !with_) throw new Error('Nothing was measured');
  const row = (name: string, value: number, unit: string, better: Row['better'], target?: number): Row => ({
    name: `keeper: ${name}`,
    value: rounded(value),
    unit,
    better,
    ...(target !== undefined && { target }),
  });
  return [
    row('update to paint, with ÷ without', with_.lag / without.lag, '×', 'lower', 1.1),
    row('throughput, with ÷ without', with_.rate / without.rate, '×', 'higher', 0.9),
    row('agent ready, with − without', with_.ready - without.ready, 'ms', 'lower'),
    row('memory (PSS)', with_.memory, 'MB', 'lower', 60),
  ];
}

async function run(subject: Subject, policy: Policy, say: (line: string) => void): Promise<Measured> {
  const scratch = mkdtempSync(join(tmpdir(), 'parley-bench-'));
  const dataDir = join(scratch, 'data');
  const settings: Subject['settings'] = (agent) => ({ ...subject.settings(agent), 'parley.background': policy });
  try {
    const chat = await Chat.open({ ...subject, settings }, scratch, say, { dataDir });
    try {
      const lags: number[] = [];
      for (let turn = 1; turn <= PACED; turn++) {
        await untilQuiet();
        lags.push((await chat.turn('flood 200 200', `P${turn}x`)).lag);
      }
      const rates: number[] = [];
      for (let turn = 1; turn <= FLOODS; turn++) {
        await untilQuiet();
        rates.push((1000 * FLOOD_UPDATES) / (await chat.turn(`flood ${FLOOD_UPDATES} 0`, `F${turn}x`)).total);
      }
      const pids = runningKeepers(dataDir).map(({ pid }) => pid);
      const expected = policy === 'off' ? 0 : 1;
      if (pids.length !== expected) throw new Error(`${pids.length} keepers run with ${policy}`);
      const [pid] = pids;
      return { ready: chat.opened.ready, lags, rates, memory: pid === undefined ? undefined : await pssOf(pid) };
    } finally {
      await chat.close();
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
