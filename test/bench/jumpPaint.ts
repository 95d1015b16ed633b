// Long sessions of earlier in the packaged extension in a real VS Code: how soon the last page is
// painted, how long frames take while jumping through the longest, and how much stands in the page.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '../../src/base/log';
import { Journal } from '../../src/store/journal';
import { JournalPersistence } from '../../src/workbench/sessions/journalPersistence';
import { newSession, said } from '../support/store/journals';
import { seeded } from '../support/store/random';
import { Chat } from './chat';
import { median, percentile, type Row, rounded, rowsOf } from './figures';
import { conversation } from './journalBench';
import { untilQuiet } from './procStat';
import { record } from './recordEvents';
import type { Subject } from './subjects';

/**
 * By their titles; none is found when another one is looked for. The last one opened is jumped
 * through.
 */
const SIZES = [
  { entries: 10_000, titles: ['Heron', 'Quarry', 'Lantern'], paintedMs: 100 },
  { entries: 100_000, titles: ['Bishop', 'Feldspar'], paintedMs: 200 },
] as const;
const JUMPS = 60;
/** How long ago the long sessions were held, in ms: what is too old is forgotten after a while. */
const AGO_MS = 3_600_000;

/** Rows for the table. @param subject Parley, packaged */
export async function measureJumps(subject: Subject, say: (line: string) => void): Promise<readonly Row[]> {
  const scratch = mkdtempSync(join(tmpdir(), 'parley-bench-'));
  try {
    const dataDir = join(scratch, 'data');
    const folder = join(scratch, 'workspace');
    const storage = join(dataDir, 'data/User/globalStorage/parley.parley');
    for (const each of [folder, storage]) mkdirSync(each, { recursive: true });
    await writeSessions(storage, folder);
    const chat = await Chat.open(subject, scratch, say, { dataDir, folder });
    try {
      const rows: Row[] = [];
      for (const { entries, titles, paintedMs } of SIZES) {
        const painted: number[] = [];
        for (const title of titles) {
          await untilQuiet();
          painted.push(await chat.recall(title, markerOf(title)));
        }
        say(`jumps: ${entries} entries painted after ${painted.map(rounded).join(' / ')} ms`);
        rows.push(rowOf(entries)('chosen to last page painted', median(painted), 'ms', paintedMs));
      }
      await untilQuiet();
      const { frames, elements } = await chat.jump(JUMPS);
      const row = rowOf(SIZES[1].entries);
      rows.push(row('frame p95 while jumping', percentile(frames, 95), 'ms', 17));
      return [...rows, row('elements in the page while jumping, at most', elements, 'elements', 2000)];
    } finally {
      await chat.close();
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

const rowOf = (entries: number) => rowsOf(`a session of ${entries.toLocaleString('en')} entries`);

/** Among the last words of a session. */
const markerOf = (title: string): string => `END-OF-${title.toUpperCase()}`;

/** Writes the long sessions. @param folder that they worked in */
async function writeSessions(storage: string, folder: string): Promise<void> {
  const then = Date.now() - AGO_MS;
  const journal = Journal.open({ folder: storage, log: silentLog, now: () => then });
  const all = SIZES.flatMap(({ entries, titles }) => titles.map((title) => ({ entries, title })));
  for (const [index, { entries, title }] of all.entries()) {
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
