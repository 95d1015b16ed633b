// What a suite counted: a line of JSON for each run of mocha, in the file that PARLEY_TEST_RESULT
// names.
import { existsSync, readFileSync } from 'node:fs';

export interface SuiteResult {
  readonly passed: number;
  readonly failed: number;
  /** Each failed test: its full name, and why, cut to what a log can bear. */
  readonly failures: readonly { readonly title: string; readonly why: string }[];
}

/** Adds up the results that runs of mocha wrote to a file; zero without the file. */
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

/**
 * The end of a run's output: the failures again, as logs are read from their end, then the sum on a
 * separate line, which `.ci/run` reads.
 */
export function writeSum({ passed, failed, failures }: SuiteResult): void {
  for (const { title, why } of failures) {
    process.stdout.write(`\nfailed: ${title}\n${why.replaceAll(/^/gm, '        ')}\n`);
  }
  process.stdout.write(`\n${passed} passed, ${failed} failed\n`);
}
