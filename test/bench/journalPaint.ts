// What the journal costs on the screen: how soon a long session of earlier is painted, and what keeping a session adds between an update and its paint. Both in the
// packaged extension in a real VS Code. Without the journal means in memory: a file of a version that Parley does not know is left alone, and nothing is written.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { silentLog } from '../../src/base/log';
import { Journal } from '../../src/store/journal';
import { JournalPersistence } from '../../src/workbench/sessions/journalPersistence';
import { newSession, said } from '../support/store/journals';
import { seeded } from '../support/store/random';
import { Chat } from './chat';
import { median, percentile, type Row, rounded } from './figures';
import { conversation } from './journalBench';
import { untilQuiet } from './procStat';
import { record } from './recordEvents';
import type { Subject } from './subjects';

const ENTRIES = 10_000;
/** Titles of the long sessions; none is found when another one is looked for. */
export const TITLES = ['Heron', 'Quarry', 'Lantern'] as const;
/** Each turn is a small flood, over in a fifth of a second: its last words are painted while its events are written, and its end is on the disk at once. */
const LOAD = 'flood 40 200';
/** How long ago the long sessions were held, in ms: what is too old is forgotten after a while. */
const AGO_MS = 3_600_000;

export interface JournalPaintOptions {
  readonly repetitions: number;
  /** Turns of one repetition, with the journal and as many without it. */
  readonly turns: number;
  readonly say: (line: string) => void;
}

interface Figures {
  /** From Enter in the list of sessions to the last page painted, per long session. */
  readonly pages: readonly number[];
  /** From the agent's last write of a turn to its paint, per turn. */
  readonly lags: readonly number[];
}

/** Rows for the table; times in ms. @param subject Parley, packaged */
export async function measureJournalPaint(subject: Subject, options: JournalPaintOptions): Promise<readonly Row[]> {
  const { repetitions, turns, say } = options;
  const all = { kept: [] as number[], unkept: [] as number[], pages: [] as number[] };
  for (let repetition = 0; repetition < repetitions; repetition++) {
    // Neither is always the one that finds the machine warm.
    for (const isKept of repetition % 2 === 0 ? [true, false] : [false, true]) {
      const { pages, lags } = await run(subject, isKept, turns, say);
      all.pages.push(...pages);
      all[isKept ? 'kept' : 'unkept'].push(...lags);
      const told = [`update to paint p50 ${rounded(median(lags))}, p95 ${rounded(percentile(lags, 95))}`];
      if (pages.length > 0) told.push(`last page ${pages.map(rounded).join('/')}`);
      say(`journal ${isKept ? 'on the disk' : 'in memory'} ${repetition + 1}/${repetitions}: ${told.join(', ')}`);
    }
  }
  const row = (name: string, value: number, target?: number): Row => ({
    name: `journal: ${name}`,
    value: rounded(value),
    unit: 'ms',
    better: 'lower',
    ...(target !== undefined && { target }),
  });
  const p95 = { kept: percentile(all.kept, 95), unkept: percentile(all.unkept, 95) };
  return [
    row(`a ${ENTRIES.toLocaleString('en')}-entry session, chosen to last page painted`, median(all.pages), 200),
    row('what it adds to update to paint, p95', p95.kept - p95.unkept, 2),
    row('update to paint with it, p95', p95.kept),
    row('update to paint without it, p95', p95.unkept),
    row('update to paint with it, p50', median(all.kept)),
    row('update to paint without it, p50', median(all.unkept)),
  ];
}

async function run(subject: Subject, isKept: boolean, turns: number, say: (line: string) => void): Promise<Figures> {
  const scratch = mkdtempSync(join(tmpdir(), 'parley-bench-'));
  try {
    const dataDir = join(scratch, 'data');
    const folder = join(scratch, 'workspace');
    const storage = join(dataDir, 'data/User/globalStorage/parley.parley');
    for (const each of [folder, storage]) mkdirSync(each, { recursive: true });
    if (isKept) await writeSessions(storage, folder, TITLES, ENTRIES);
    else writeForeign(storage);
    const chat = await Chat.open(subject, scratch, say, { dataDir, folder });
    try {
      const lags: number[] = [];
      for (let turn = 0; turn < turns; turn++) lags.push((await chat.turn(LOAD, `P${turn}x`)).lag);
      const pages: number[] = [];
      for (const title of isKept ? TITLES : []) {
        await untilQuiet();
        pages.push((await chat.recall(title, markerOf(title))).painted);
      }
      return { pages, lags };
    } finally {
      await chat.close();
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Among the last words of a session. */
export const markerOf = (title: string): string => `END-OF-${title.toUpperCase()}`;

/** Sessions of earlier. @param folder that they worked in */
export async function writeSessions(
  storage: string,
  folder: string,
  titles: readonly string[],
  entries: number,
): Promise<void> {
  const then = Date.now() - AGO_MS;
  const journal = Journal.open({ folder: storage, log: silentLog, now: () => then });
  for (const [index, title] of titles.entries()) {
    const key = `long-${index}`;
    journal.saveSession(newSession(key, { agentId: 'load', title, cwd: folder, roots: [folder] }));
    const list = conversation(seeded(index + 1), entries, then);
    list.splice(-1, 0, { at: then, event: said(` ${markerOf(title)}`) });
    const session = { key, agentId: 'load', cwd: folder, roots: [folder] };
    await record(new JournalPersistence({ journal, log: silentLog, windowId: 'bench', session }, true), list);
    journal.release(key, 'bench');
  }
  journal.dispose();
}

/** A journal of a version that no Parley knows. */
function writeForeign(storage: string): void {
  const file = new DatabaseSync(join(storage, 'parley.db'));
  file.exec('PRAGMA user_version = 1000000; CREATE TABLE later (id INTEGER)');
  file.close();
}
