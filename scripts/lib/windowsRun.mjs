// Runs bundled tests by mocha inside Node for Windows: `windowsRun.mjs RESULT FILE…`. Each result is
// appended to RESULT as a line of JSON at once, as a pipe for stdout fails under Wine and so that a
// process that hangs leaves what it did.
import { appendFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import Mocha from 'mocha';

/** Characters of a failure's stack that are kept. */
const MAX_WHY = 1500;
const TIMEOUT_MS = 20_000;

const [result, ...files] = process.argv.slice(2);
const mocha = new Mocha({ timeout: TIMEOUT_MS, reporter: class {} });
const write = (line) => appendFileSync(result, `${JSON.stringify(line)}\n`);
for (const file of files) {
  mocha.suite.emit('pre-require', globalThis, file, mocha);
  await import(pathToFileURL(file).href);
}
const runner = mocha.run(() => {
  write({ platform: process.platform, ended: true });
  process.exit(0);
});
runner.on('pass', (test) => write({ title: test.fullTitle(), state: 'passed' }));
runner.on('pending', (test) => write({ title: test.fullTitle(), state: 'pending' }));
runner.on('fail', (test, error) => {
  write({ title: test.fullTitle(), state: 'failed', why: String(error?.stack ?? error).slice(0, MAX_WHY) });
});
