// The table of faults: what was typed, what the agent got, what was lost, what was sent twice. Each test adds its row; the file is written when the tests are over.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface FaultRow {
  /** What happened, and to what agent. */
  readonly fault: string;
  /** Messages that the user sent. */
  readonly typed: number;
  /** Of them, those that the agent got at least once. */
  readonly received: number;
  /** Of them, those that are neither with the agent nor in the queue. */
  readonly lost: number;
  /** Of them, those that the agent got twice without the user having said so. */
  readonly twice: number;
  /** Of them, those of which the user was asked whether they are to be sent again. */
  readonly asked: number;
}

const FILE = join(process.cwd(), 'out/faults.md');
const HEAD = '| Fault | Typed | Received | Lost | Sent twice | User asked |\n|---|---:|---:|---:|---:|---:|\n';

/** Writes rows into `out/faults.md`; a fault that has a row already gets a new one. Kept in the order of their names. */
export function writeFaults(rows: readonly FaultRow[]): void {
  const lines = new Map(known().map((line) => [line.split('|')[1]?.trim() ?? '', line]));
  for (const { fault, typed, received, lost, twice, asked } of rows) {
    lines.set(fault, `| ${fault} | ${typed} | ${received} | ${lost} | ${twice} | ${asked} |`);
  }
  const sorted = [...lines].sort(([a], [b]) => a.localeCompare(b, 'en', { numeric: true })).map(([, line]) => line);
  mkdirSync(join(process.cwd(), 'out'), { recursive: true });
  writeFileSync(FILE, `${HEAD}${sorted.join('\n')}\n`);
}

function known(): string[] {
  try {
    return readFileSync(FILE, 'utf8').split('\n').slice(2).filter(Boolean);
  } catch {
    return [];
  }
}
