// The table for a person and out/bench.json for comparing runs.
import { mkdirSync, writeFileSync } from 'node:fs';
import { arch, cpus, loadavg, platform, release, totalmem } from 'node:os';
import { dirname } from 'node:path';
import { meets, type Row } from './figures';

/** The rows with ✓ or ✗ if they have a target. */
export function table(rows: readonly Row[]): string {
  const cells = rows.map((row) => {
    const { name, value, unit, target, better } = row;
    const met = meets(row);
    const aim = target === undefined ? '' : `${better === 'lower' ? '≤' : '≥'} ${target}`;
    return [name, String(value), unit, aim, met === undefined ? '' : met ? '✓' : '✗'];
  });
  const widths = [0, 1, 2, 3].map((column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  return cells
    .map((row) =>
      row.map((cell, column) => (column === 1 ? cell.padStart(widths[1] ?? 0) : cell.padEnd(widths[column] ?? 0))),
    )
    .map((row) => row.join('  ').trimEnd())
    .join('\n');
}

/** Writes the rows and what they were measured on. */
export function writeReport(path: string, rows: readonly Row[], versions: Readonly<Record<string, string>>): void {
  const machine = {
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memoryGB: Math.round(totalmem() / 2 ** 30),
    system: `${platform()} ${release()} ${arch()}`,
    // Well above the number of cores that a run needs, the figures are those of a busy machine.
    load: loadavg().map((one) => Math.round(one * 100) / 100),
    at: new Date().toISOString(),
    ...versions,
  };
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${JSON.stringify({ machine, results: rows }, null, 2)}\n`);
}
