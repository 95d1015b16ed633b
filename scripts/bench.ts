// `npm run bench`: measures Parley beside a baseline in the same run. Prints a table and writes
// out/bench.json; at most 25 minutes on a quiet machine with 2 cores. `--quick`: each once, without
// the longest, at most 5 minutes · `--only NAME[,NAME]`: of the measurements below and the
// scenarios of test/bench/scenarios.ts · `--reps N` · `--beside FILE.vsix`: alternates the
// scenarios with another version of Parley · `--turns N`: of the day.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { askedFigures } from '../test/bench/askedFigures';
import { measureChanges } from '../test/bench/changesBench';
import { measureEntries } from '../test/bench/entriesBench';
import { meets, type Row, rounded } from '../test/bench/figures';
import { measureFind } from '../test/bench/findBench';
import { measureHostile } from '../test/bench/hostileBench';
import { measureJournal } from '../test/bench/journalBench';
import { measureJumps } from '../test/bench/jumpPaint';
import { measureKeeperMemory } from '../test/bench/keeperMemory';
import { measureMentions } from '../test/bench/mentionsBench';
import { table, writeReport } from '../test/bench/report';
import { runScenarios } from '../test/bench/runScenarios';
import { measureDay, measureIdle, measureSessions } from '../test/bench/scale';
import { type Scenario, scenarios } from '../test/bench/scenarios';
import { otherVersion, packFloor, parley } from '../test/bench/subjects';
import { measureWire } from '../test/bench/wireBench';
import { findChromium } from '../test/support/vscode/findChromium';
import { repository, vsixPath } from '../test/support/vscode/repository';

interface Measurement {
  readonly name: string;
  readonly isQuick?: boolean;
  /** Measures the package, usually in VS Code. */
  readonly isPackaged?: boolean;
  run(): Promise<readonly Row[]>;
}

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    reps: { type: 'string' },
    beside: { type: 'string' },
    turns: { type: 'string', default: '400' },
  },
});
const { quick } = options;

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** @param usual without `--reps` and `--quick` */
function repetitions(usual: number): number {
  return Number(options.reps ?? (quick ? 1 : usual));
}

const MEASUREMENTS: readonly Measurement[] = [
  { name: 'wire', isQuick: true, run: () => measureWire(quick ? 3 : 5) },
  { name: 'entries', isQuick: true, run: () => measureEntries(quick, say) },
  { name: 'journal', isQuick: true, run: () => measureJournal({ sessions: quick ? 50 : 300, say }) },
  { name: 'find', run: () => measureFind(say) },
  { name: 'mentions', run: () => measureMentions(say) },
  { name: 'changes', run: () => measureChanges(say) },
  { name: 'keepers', isQuick: true, run: () => measureKeeperMemory(say) },
  { name: 'hostile', run: () => measureHostile(say) },
  { name: 'size', isQuick: true, isPackaged: true, run: async () => [sizeOfPackage()] },
  { name: 'sessions', isPackaged: true, run: () => measureSessions(parley, say) },
  { name: 'day', isPackaged: true, run: () => measureDay(parley, { turns: Number(options.turns), say }) },
  { name: 'idle', isPackaged: true, run: () => measureIdle(parley, say) },
  { name: 'jumps', isPackaged: true, run: () => measureJumps(parley, say) },
];

function sizeOfPackage(): Row {
  const kilobytes = rounded(statSync(vsixPath).size / 1000);
  return { name: 'VSIX', value: kilobytes, unit: 'KB', target: 3000, better: 'lower' };
}

/** Measures Parley under load, the baseline, and the version to compare with, if any. */
async function measureScenarios(chosen: readonly Scenario[]): Promise<readonly Row[]> {
  const scratch = mkdtempSync(join(tmpdir(), 'parley-bench-'));
  try {
    const other = options.beside === undefined ? {} : { other: otherVersion(resolve(options.beside)) };
    const subjects = { parley, floor: packFloor(scratch), ...other };
    return askedFigures(await runScenarios(chosen, subjects, repetitions(3), say));
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function script(file: string, ...args: string[]): void {
  const run = spawnSync(process.execPath, [join(repository, 'scripts', file), ...args], { encoding: 'utf8' });
  if (run.status !== 0) throw new Error(`${file} failed:\n${run.stdout}${run.stderr}`);
}

const build: Measurement = {
  name: 'build',
  run: async () => {
    script('run.mjs', 'package');
    script('buildSupport.mjs');
    return [];
  },
};

/** Returns the selected measurements, preceded by a build if one needs the package. */
function plan(): readonly Measurement[] {
  const only = options.only?.split(',');
  const known = [...MEASUREMENTS, ...scenarios].map(({ name }) => name);
  const unknown = only?.filter((name) => !known.includes(name)) ?? [];
  if (unknown.length > 0) throw new Error(`There is no ${unknown.join(', ')}; there are ${known.join(', ')}.`);
  const chosen = MEASUREMENTS.filter(({ name, isQuick }) => (only ? only.includes(name) : isQuick || !quick));
  const loads = scenarios.filter(({ name }) => !only || only.includes(name));
  const underLoad: Measurement = { name: 'scenarios', isPackaged: true, run: () => measureScenarios(loads) };
  const all = loads.length > 0 ? [...chosen, underLoad] : chosen;
  const [packaged, others] = [true, false].map((is) => all.filter(({ isPackaged = false }) => isPackaged === is));
  return [...others!, ...(packaged!.length > 0 ? [build] : []), ...packaged!];
}

const rows: Row[] = [];
const times: string[] = [];
for (const { name, run } of plan()) {
  say(`${name} …`);
  const began = performance.now();
  rows.push(...(await run()));
  times.push(`${name} ${Math.round((performance.now() - began) / 1000)} s`);
}
const chromium = spawnSync(findChromium(say, 'browser'), ['--version'], { encoding: 'utf8' }).stdout?.trim() ?? '';
writeReport(join(repository, 'out/bench.json'), rows, { node: process.version, chromium });
say(`\n${table(rows)}\n\nout/bench.json`);
const missed = rows.filter((row) => meets(row) === false).length;
if (missed > 0) say(`${missed} of the targets missed`);
say(`${times.join(' · ')} · in all ${Math.round(performance.now() / 1000)} s`);
