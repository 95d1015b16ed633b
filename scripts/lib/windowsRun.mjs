// Runs bundled tests with mocha in Node for Windows: `windowsRun.mjs RESULT FILE…`. Appends results
// to RESULT as JSON lines: stdout pipes fail under Wine, and a process may hang.
import { ChildProcess } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import Mocha from 'mocha';

/** Maximum characters of a failure's stack. */
const MAX_WHY = 1500;
const TIMEOUT_MS = 60_000;
/** Maximum attempts to start a process. */
const STARTS = 3;

const [result, ...files] = process.argv.slice(2);
// Wine's sockets don't support keep-alive, and fail to connect with it.
process.binding('tcp_wrap').TCP.prototype.setKeepAlive = () => 0;

// In 2 of 9,000 starts, Wine fails with an error that does not exist on Windows.
const { spawn } = ChildProcess.prototype;
ChildProcess.prototype.spawn = function (options) {
  const handle = this._handle;
  for (let start = 1; ; start++) {
    try {
      return spawn.call(this, { ...options });
    } catch (error) {
      if (error.code !== 'UNKNOWN' || start === STARTS) throw error;
      // Node closed the handle; the new one reports its exit the same way.
      this._handle = Object.assign(new handle.constructor(), handle);
    }
  }
};

const mocha = new Mocha({ timeout: TIMEOUT_MS, reporter: class {} });
const write = (line) => appendFileSync(result, `${JSON.stringify(line)}\n`);
for (const file of files) {
  mocha.suite.emit('pre-require', globalThis, file, mocha);
  await import(pathToFileURL(file).href);
}
const skipped = new Set(JSON.parse(process.env.PARLEY_SKIPPED ?? '[]'));
mocha.suite.eachTest((test) => {
  if (skipped.has(test.fullTitle())) test.pending = true;
});
const runner = mocha.run(() => {
  write({ platform: process.platform, ended: true });
  process.exit(0);
});
runner.on('pass', (test) => write({ title: test.fullTitle(), state: 'passed' }));
runner.on('pending', (test) => write({ title: test.fullTitle(), state: 'pending' }));
runner.on('fail', (test, error) => {
  write({ title: test.fullTitle(), state: 'failed', why: String(error?.stack ?? error).slice(0, MAX_WHY) });
});
