// Test results: a JSON line per mocha run in the file named by PARLEY_TEST_RESULT.
import { existsSync, readFileSync } from 'node:fs';

export interface SuiteResult {
  readonly passed: number;
  readonly failed: number;
  /** Full title of each failed test, and its truncated error. */
  readonly failures: readonly { readonly title: string; readonly why: string }[];
}

/** Adds up the results in a file; zero if it does not exist. */
export function readResults(file: string): SuiteResult {
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
  return addUp(lines.map((line) => JSON.parse(line) as SuiteResult));
}

export function addUp(runs: readonly SuiteResult[]): SuiteResult {
  return {
    passed: runs.reduce((sum, { passed }) => sum + passed, 0),
    failed: runs.reduce((sum, { failed }) => sum + failed, 0),
    failures: runs.flatMap(({ failures }) => failures),
  };
}

/** Prints failures again at the end, then the sum on a separate line, which `.ci/run` parses. */
export function writeSum({ passed, failed, failures }: SuiteResult): void {
  for (const { title, why } of failures) {
    process.stdout.write(`\nfailed: ${title}\n${why.replaceAll(/^/gm, '        ')}\n`);
  }
  process.stdout.write(`\n${passed} passed, ${failed} failed\n`);
}
