// Jumping through a session of 100,000 entries in the packaged extension in a real VS Code: how long frames take, and how much stands in the page.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Chat, type Shown } from './chat';
import { median, percentile, type Row, rounded } from './figures';
import { markerOf, TITLES, writeSessions } from './journalPaint';
import { untilQuiet } from './procStat';
import type { Subject } from './subjects';

const ENTRIES = 100_000;
const JUMPS = 60;

/** Rows for the table. @param subjects Parley, packaged, and the floor, which shows one line where Parley shows a session */
export async function measureJumps(
  { parley, floor }: { readonly parley: Subject; readonly floor: Subject },
  { say }: { readonly say: (line: string) => void },
): Promise<readonly Row[]> {
  const scratch = mkdtempSync(join(tmpdir(), 'parley-bench-'));
  try {
    const least = await measureFloor(floor, join(scratch, 'floor'), say);
    const dataDir = join(scratch, 'data');
    const folder = join(scratch, 'workspace');
    const storage = join(dataDir, 'data/User/globalStorage/parley.parley');
    for (const each of [folder, storage]) mkdirSync(each, { recursive: true });
    await writeSessions(storage, folder, TITLES, ENTRIES);
    const chat = await Chat.open(parley, scratch, say, { dataDir, folder });
    try {
      const opened = await recallAll(chat);
      await untilQuiet();
      const still = percentile((await chat.jump(JUMPS, false)).frames, 95);
      const { frames, elements } = await chat.jump(JUMPS);
      const p95 = percentile(frames, 95);
      say(`jumps: floor ${inWords(least)}, opened ${inWords(opened)}`);
      say(
        `jumps: ${frames.length} frames, p95 ${rounded(p95)} ms, standing still ${rounded(still)} ms, ${elements} elements`,
      );
      const row = (name: string, value: number, unit: string, target?: number): Row => ({
        name: `a session of ${ENTRIES.toLocaleString('en')} entries: ${name}`,
        value: rounded(value),
        unit,
        better: 'lower',
        ...(target !== undefined && { target }),
      });
      const painted = median(opened.map((one) => one.painted));
      const leastPainted = median(least.map((one) => one.painted));
      return [
        row('chosen to last page painted', painted, 'ms', 200),
        row('chosen to last page painted', painted / leastPainted, '× floor'),
        row('chosen to painted (floor)', leastPainted, 'ms'),
        row('chosen to last page in the webview', median(opened.map((one) => one.arrived)), 'ms'),
        row('chosen to text in the webview (floor)', median(least.map((one) => one.arrived)), 'ms'),
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

async function measureFloor(floor: Subject, scratch: string, say: (line: string) => void): Promise<readonly Shown[]> {
  mkdirSync(scratch);
  const chat = await Chat.open(floor, scratch, say);
  try {
    return await recallAll(chat);
  } finally {
    await chat.close();
  }
}

async function recallAll(chat: Chat): Promise<readonly Shown[]> {
  const all: Shown[] = [];
  for (const title of TITLES) {
    await untilQuiet();
    all.push(await chat.recall(title, markerOf(title)));
  }
  return all;
}

function inWords(all: readonly Shown[]): string {
  return all.map(({ arrived, painted }) => `${rounded(arrived)}→${rounded(painted)}`).join(' / ');
}
