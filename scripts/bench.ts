// `npm run bench`: how fast Parley is, beside what it is measured against in the same run. Prints a table and writes out/bench.json; about half an hour.
// `-- --quick`: each once, without the longest · `-- --only NAME[,NAME]`: these (wire, entries, journal, keeper, carried, sessions, list, editorTools, day, jumps, hostile, changes, find, copy, timeline, mentions, size and the scenarios of test/bench/scenarios.ts) · `-- --reps N` · `-- --beside FILE.vsix`: the scenarios with another version of Parley by turns · `-- --turns N`: of the day.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { askedFigures } from '../test/bench/askedFigures';
import { measureCarriedPaint } from '../test/bench/carriedPaint';
import { measureChanges } from '../test/bench/changesBench';
import { measureCopy } from '../test/bench/copyBench';
import { measureEditorTools } from '../test/bench/editorToolsBench';
import { measureEntries } from '../test/bench/entriesBench';
import { meets, type Row, rounded } from '../test/bench/figures';
import { measureFind } from '../test/bench/findBench';
import { measureHostile } from '../test/bench/hostileBench';
import { measureJournal } from '../test/bench/journalBench';
import { measureJournalPaint } from '../test/bench/journalPaint';
import { measureJumps } from '../test/bench/jumpPaint';
import { measureKeeper } from '../test/bench/keeperBench';
import { measureList } from '../test/bench/listBench';
import { measureMentions } from '../test/bench/mentionsBench';
import { table, writeReport } from '../test/bench/report';
import { runScenarios } from '../test/bench/runScenarios';
import { measureDay, measureSessions } from '../test/bench/scale';
import { scenarios } from '../test/bench/scenarios';
import { otherVersion, packFloor, parley } from '../test/bench/subjects';
import { measureTimeline } from '../test/bench/timelineBench';
import { measureWire } from '../test/bench/wireBench';
import { findChromium } from '../test/support/vscode/findChromium';
import { repository, vsixPath } from '../test/support/vscode/repository';

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    reps: { type: 'string' },
    beside: { type: 'string' },
    turns: { type: 'string', default: '500' },
  },
});
const only = options.only?.split(',');

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function wanted(name: string, quick = true): boolean {
  return only ? only.includes(name) : quick || !options.quick;
}

/** Runs one of the project's scripts. @throws Error with its output where it fails */
function script(file: string, ...args: string[]): void {
  const run = spawnSync(process.execPath, [join(repository, 'scripts', file), ...args], { encoding: 'utf8' });
  if (run.status !== 0) throw new Error(`${file} failed:\n${run.stdout}${run.stderr}`);
}

async function main(): Promise<Row[]> {
  const known = [
    'wire',
    'entries',
    'journal',
    'keeper',
    'carried',
    'sessions',
    'list',
    'editorTools',
    'day',
    'jumps',
    'hostile',
    'changes',
    'find',
    'copy',
    'timeline',
    'mentions',
    'size',
    ...scenarios.map(({ name }) => name),
  ];
  const unknown = only?.filter((name) => !known.includes(name)) ?? [];
  if (unknown.length > 0) throw new Error(`There is no ${unknown.join(', ')}; there are ${known.join(', ')}.`);
  const rows: Row[] = [];
  if (wanted('wire')) {
    say('wire …');
    rows.push(...(await measureWire(options.quick ? 3 : 7)));
  }
  if (wanted('entries')) {
    say('entries …');
    const [counts, textMb, turns] = options.quick ? [[1000, 10_000], 10, 20] : [[1000, 10_000, 100_000], 100, 200];
    rows.push(...(await measureEntries({ counts, textMb, turns, say })));
  }
  if (wanted('journal')) {
    say('journal …');
    const scale = options.quick ? 10 : 1;
    rows.push(...(await measureJournal({ sessions: 1000 / scale, events: 1_000_000 / scale, say })));
  }
  if (wanted('hostile')) {
    say('hostile …');
    rows.push(...(await measureHostile({ fuzz: 60, sample: options.quick ? 20 : 1, say })));
  }
  if (wanted('changes')) {
    say('changes …');
    rows.push(...(await measureChanges({ counts: options.quick ? [1000, 10_000] : [1000, 10_000, 100_000], say })));
  }
  if (wanted('find')) {
    say('find …');
    rows.push(...(await measureFind(say)));
  }
  if (wanted('copy')) {
    say('copy …');
    rows.push(...(await measureCopy(say)));
  }
  if (wanted('timeline')) {
    say('timeline …');
    rows.push(...(await measureTimeline(say)));
  }
  if (wanted('mentions')) {
    say('mentions …');
    rows.push(...(await measureMentions(say)));
  }
  const chosen = scenarios.filter(({ name, quick }) => wanted(name, quick));
  const repetitions = Number(options.reps ?? (options.quick ? 1 : 3));
  const inVsCode =
    chosen.length > 0 ||
    wanted('journal') ||
    wanted('keeper') ||
    wanted('carried') ||
    wanted('sessions') ||
    wanted('list') ||
    wanted('editorTools') ||
    wanted('day') ||
    wanted('jumps');
  if (inVsCode || wanted('size')) script('run.mjs', 'package');
  if (inVsCode) script('buildSupport.mjs');
  if (wanted('journal')) {
    const turns = options.quick ? 20 : 120;
    rows.push(...(await measureJournalPaint(parley, { repetitions, turns, say })));
  }
  if (wanted('keeper')) rows.push(...(await measureKeeper(parley, { repetitions, say })));
  if (wanted('sessions'))
    rows.push(...(await measureSessions(parley, { counts: options.quick ? [1, 20] : [1, 5, 20, 50], say })));
  if (wanted('list')) rows.push(...(await measureList(parley, say)));
  if (wanted('editorTools')) rows.push(...(await measureEditorTools(say)));
  if (wanted('day', false)) rows.push(...(await measureDay(parley, { turns: Number(options.turns), say })));
  if (chosen.length > 0 || wanted('jumps', false) || wanted('carried')) {
    const scratch = mkdtempSync(join(tmpdir(), 'parley-bench-'));
    try {
      const other = options.beside === undefined ? {} : { other: otherVersion(resolve(options.beside)) };
      const subjects = { parley, floor: packFloor(scratch), ...other };
      if (wanted('carried')) rows.push(...(await measureCarriedPaint(subjects, { repetitions, say })));
      if (wanted('jumps', false)) rows.push(...(await measureJumps(subjects, { say })));
      rows.push(...askedFigures(await runScenarios(chosen, subjects, repetitions, say)));
    } finally {
      rmSync(scratch, { recursive: true, force: true });
    }
  }
  if (wanted('size'))
    rows.push({
      name: 'VSIX',
      value: rounded(statSync(vsixPath).size / 1000),
      unit: 'KB',
      target: 3_000,
      better: 'lower',
    });
  return rows;
}

const rows = await main();
const chromium = spawnSync(findChromium(say, 'browser'), ['--version'], { encoding: 'utf8' }).stdout?.trim() ?? '';
writeReport(join(repository, 'out/bench.json'), rows, { node: process.version, chromium });
say(`\n${table(rows)}\n\nout/bench.json`);
const missed = rows.filter((row) => meets(row) === false).length;
if (missed > 0) say(`${missed} of the targets missed`);
