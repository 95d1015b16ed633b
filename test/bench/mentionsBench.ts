// Mentions in a workspace of 100,000 files: how soon the first files are offered, cold and warm,
// and how long the event loop stands still.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FileList } from '../../src/mentions/fileList';
import { gitFiles } from '../../src/mentions/gitFiles';
import { median, type Row, rounded, rowsOf } from './figures';
import { LoopGaps } from './loopGaps';

const FILES = 100_000;
const FILES_IN_FOLDER = 200;
const WORDS = ['chat', 'surface', 'session', 'view', 'model', 'event', 'queue', 'store', 'agent', 'index'];
/** The queries, from loose to close. */
const QUERIES = ['e', 'ch', 'view', 'chatview', 'cvie', 'queuestore99', 'agent/view', 'nowhere'];
const RUNS = 5;

/** Times are in milliseconds, of the middle of five. */
export async function measureMentions(say: (line: string) => void): Promise<readonly Row[]> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'parley-mentions-')));
  try {
    makeRepository(folder);
    const { signal } = new AbortController();
    const cold: number[] = [];
    let list = await FileList.of([]);
    for (let run = 0; run < RUNS; run++) {
      const began = performance.now();
      const files = await gitFiles(folder, signal);
      list = await FileList.of(files ?? []);
      await list.search('view', 20, signal);
      cold.push(performance.now() - began);
    }
    if (list.size < FILES) throw new Error(`${list.size} paths`);
    const gaps = new LoopGaps();
    const warm: { query: string; ms: number }[] = [];
    for (const query of QUERIES) {
      const times: number[] = [];
      for (let run = 0; run < RUNS; run++) times.push(await timeOf(list, query));
      warm.push({ query, ms: median(times) });
    }
    say(warm.map(({ query, ms }) => `${query} ${rounded(ms)}`).join(', '));
    const row = rowsOf(`mentions in ${FILES} files`);
    return [
      row('first files, cold', median(cold), 'ms', 300),
      row('first files, warm, slowest of the queries', Math.max(...warm.map(({ ms }) => ms)), 'ms', 50),
      row('longest block of the event loop', gaps.end(), 'ms', 20),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function timeOf(list: FileList, query: string): Promise<number> {
  const began = performance.now();
  await list.search(query, 20, new AbortController().signal);
  return performance.now() - began;
}

function makeRepository(folder: string): void {
  const word = (index: number): string => WORDS[index % WORDS.length] ?? '';
  for (let at = 0; at < FILES; at += FILES_IN_FOLDER) {
    const group = at / FILES_IN_FOLDER;
    const below = join(folder, word(group), `${word(group >> 3)}${group % 25}`, `part${group}`);
    mkdirSync(below, { recursive: true });
    for (let index = at; index < at + FILES_IN_FOLDER; index++)
      writeFileSync(join(below, `${word(index)}${word(index >> 4)}${index}.ts`), '');
  }
  const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: folder });
  git('init', '-q');
  git('add', '-A');
}
