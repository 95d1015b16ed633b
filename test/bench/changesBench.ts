// How fast the states of folders are: in repositories of 10,000 and 100,000 files.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '../../src/base/log';
import { openFolderStates } from '../../src/changes/folderStates';
import { median, type Row, rounded, rowsOf } from './figures';
import { LoopGaps } from './loopGaps';

const FILES_IN_FOLDER = 200;
const EDITED = 10;
const RUNS = 3;
/** The most that a state may take with a warm disk, in milliseconds, by the number of files. */
const TARGETS: readonly (readonly [count: number, ms: number])[] = [
  [10_000, 500],
  [100_000, 1500],
];

/** Times are in milliseconds, of the middle of three if it can be repeated. */
export async function measureChanges(say: (line: string) => void): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const [count, target] of TARGETS) {
    const base = realpathSync(mkdtempSync(join(tmpdir(), 'parley-changes-')));
    try {
      rows.push(...(await measure(base, count, target, say)));
    } finally {
      rmSync(base, { recursive: true, force: true });
    }
  }
  return rows;
}

async function measure(
  base: string,
  count: number,
  target: number,
  say: (line: string) => void,
): Promise<readonly Row[]> {
  const folder = join(base, 'folder');
  const files = makeRepository(folder, count);
  const storage = join(base, 'storage');
  const env = { PATH: process.env.PATH, HOME: base };
  const open = (at = storage) =>
    openFolderStates({ roots: [folder], storage: at, session: 'bench', env, log: silentLog });
  const gaps = new LoopGaps();
  const timed = async <T>(run: () => Promise<T>): Promise<readonly [ms: number, result: T]> => {
    const began = performance.now();
    const result = await run();
    return [performance.now() - began, result];
  };
  const firsts: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    const fresh = open(`${storage}-${run}`);
    const [ms, { gaps: missing }] = await timed(() => fresh.take());
    if (missing.length > 0) throw new Error(`no state: ${missing[0]?.why}`);
    firsts.push(ms);
    fresh.dispose();
    rmSync(`${storage}-${run}`, { recursive: true });
  }
  const first = median(firsts);
  const states = open();
  await states.take();
  const unchanged: number[] = [];
  const changed: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    const [same, before] = await timed(() => states.take());
    edit(files.slice(run * EDITED, (run + 1) * EDITED), `run ${run}`);
    const [other, after] = await timed(() => states.take());
    const changes = await states.changes(before, after);
    if (changes.length !== EDITED) throw new Error(`${changes.length} of ${EDITED} changes found`);
    unchanged.push(same);
    changed.push(other);
  }
  say(`  ${count} files: first ${rounded(first)} ms`);
  states.dispose();
  const again = open();
  const [window] = await timed(() => again.take());
  again.dispose();
  const row = rowsOf(`states of ${count.toLocaleString('en')} files`);
  return [
    row('first, from the index of the repository', first, 'ms', target),
    row('first of another window', window, 'ms', target),
    row('nothing changed', median(unchanged), 'ms', target),
    row(`${EDITED} files changed`, median(changed), 'ms', target),
    row('longest block of the event loop', gaps.end(), 'ms', 20),
  ];
}

/** Makes a repository with one commit. @returns its files, absolute */
function makeRepository(folder: string, count: number): readonly string[] {
  const files: string[] = [];
  for (let at = 0; at < count; at += FILES_IN_FOLDER) {
    const group = Math.floor(at / FILES_IN_FOLDER);
    const below = join(folder, `group${group % 25}`, `part${group}`);
    mkdirSync(below, { recursive: true });
    for (let index = at; index < Math.min(count, at + FILES_IN_FOLDER); index++) {
      const file = join(below, `file${index}.ts`);
      writeFileSync(file, `export const value${index} = ${index};\n`.repeat(20));
      files.push(file);
    }
  }
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@example.org', '-c', 'gc.auto=0', ...args], {
      cwd: folder,
    });
  git('init', '-q');
  git('add', '-A');
  git('commit', '-qm', 'first');
  git('gc', '-q');
  // A repository is older than the second in which its files were written.
  execFileSync('sleep', ['1.1']);
  git('status', '--porcelain');
  return files;
}

function edit(files: readonly string[], text: string): void {
  for (const file of files) writeFileSync(file, `// ${text}\n${'changed\n'.repeat(20)}`);
}
