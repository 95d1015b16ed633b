// The table of faults: what was typed, what the agent got, what was lost, what was sent twice. Each test adds its row; a file is written when the tests are over.
import { mkdirSync, writeFileSync } from 'node:fs';
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

const FOLDER = join(process.cwd(), 'out/faults');
const HEAD = '| Fault | Typed | Received | Lost | Sent twice | User asked |\n|---|---:|---:|---:|---:|---:|\n';

/** Writes the rows of a suite into `out/faults/NAME.md`, in the order of their names: a file for each suite, as suites run side by side. */
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
