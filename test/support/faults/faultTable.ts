// The table of faults: what was typed, what the agent got, what was lost, what was sent twice. Each
// test adds its row; a file is written when the tests are over.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface FaultRow {
  readonly fault: string;
  readonly typed: number;
  readonly received: number;
  readonly lost: number;
  readonly twice: number;
  readonly asked: number;
}

const FOLDER = join(process.cwd(), 'out/faults');
const HEAD = '| Fault | Typed | Received | Lost | Sent twice | User asked |\n|---|---:|---:|---:|---:|---:|\n';

export function writeFaults(name: string, rows: readonly FaultRow[]): void {
  const lines = rows
    .toSorted((one, other) => one.fault.localeCompare(other.fault, 'en', { numeric: true }))
    .map(
      ({ fault, typed, received, lost, twice, asked }) =>
        `| ${fault} | ${typed} | ${received} | ${lost} | ${twice} | ${asked} |`,
    );
  mkdirSync(FOLDER, { recursive: true });
  writeFileSync(join(FOLDER, `${name}.md`), `${HEAD}${lines.join('\n')}\n`);
}
