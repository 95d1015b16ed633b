// Replaces esbuild, which crashes under Wine: requests builds from scripts/windows.mjs via files.
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** @param options JSON-serializable esbuild options */
export async function build(options) {
  const request = join(process.env.PARLEY_BUILDS, randomUUID());
  writeFileSync(`${request}.new`, JSON.stringify({ absWorkingDir: process.cwd(), ...options }));
  renameSync(`${request}.new`, `${request}.json`);
  while (!existsSync(`${request}.done`)) await new Promise((resolve) => setTimeout(resolve, 20));
  const problem = readFileSync(`${request}.done`, 'utf8');
  if (problem !== '') throw new Error(problem);
}
