// Jumping through a session of 100,000 entries in the packaged extension in a real VS Code: how long frames take, and how much stands in the page.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Chat } from './chat';
import { percentile, type Row, rounded } from './figures';
import { markerOf, writeSessions } from './journalPaint';
import { untilQuiet } from './procStat';
import type { Subject } from './subjects';

const ENTRIES = 100_000;
const TITLE = 'Heron';
const JUMPS = 60;

/** Rows for the table. @param subject Parley, packaged */
export async function measureJumps(
  subject: Subject,
  { say }: { readonly say: (line: string) => void },
): Promise<readonly Row[]> {
  const scratch = mkdtempSync(join(tmpdir(), 'parley-bench-'));
  try {
    const dataDir = join(scratch, 'data');
    const folder = join(scratch, 'workspace');
    const storage = join(dataDir, 'data/User/globalStorage/parley.parley');
    for (const each of [folder, storage]) mkdirSync(each, { recursive: true });
    await writeSessions(storage, folder, [TITLE], ENTRIES);
    const chat = await Chat.open(subject, scratch, say, { dataDir, folder });
    try {
      await untilQuiet();
      const opened = await chat.recall(TITLE, markerOf(TITLE));
      await untilQuiet();
      const still = percentile((await chat.jump(JUMPS, false)).frames, 95);
      const { frames, elements } = await chat.jump(JUMPS);
      const p95 = percentile(frames, 95);
      say(
        `jumps: opened ${rounded(opened)} ms, ${frames.length} frames, p95 ${rounded(p95)} ms, standing still ${rounded(still)} ms, ${elements} elements`,
      );
      const row = (name: string, value: number, unit: string, target?: number): Row => ({
        name: `a session of ${ENTRIES.toLocaleString('en')} entries: ${name}`,
        value: rounded(value),
        unit,
        better: 'lower',
        ...(target !== undefined && { target }),
      });
      return [
        row('chosen to last page painted', opened, 'ms', 200),
        row('frame p95 while jumping', p95, 'ms', 17),
        row('frame p95 while it stands still', still, 'ms'),
        row('elements in the page while jumping, at most', elements, 'elements', 2000),
      ];
    } finally {
      await chat.close();
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
