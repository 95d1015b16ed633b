// Runs bundled tests by mocha inside Node for Windows: `windowsRun.mjs RESULT FILE…`. Each result
// is appended to RESULT as a line of JSON immediately, as a pipe for stdout fails under Wine and so
// that a process that hangs leaves what it did.
import { ChildProcess } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import Mocha from 'mocha';

/** Characters of a failure's stack that are kept. */
const MAX_WHY = 1500;
const TIMEOUT_MS = 60_000;
/** Times that a process is started at most. */
const STARTS = 3;

const [result, ...files] = process.argv.slice(2);
// Wine's sockets refuse to look whether the other side is still there, and with that to connect.
process.binding('tcp_wrap').TCP.prototype.setKeepAlive = () => 0;

// Of 9,000 starts of a child process, Wine refused two with an error that Windows doesn't have.
const { spawn } = ChildProcess.prototype;
ChildProcess.prototype.spawn = function (options) {
  const handle = this._handle;
  for (let start = 1; ; start++) {
    try {
      return spawn.call(this, { ...options });
    } catch (error) {
      if (error.code !== 'UNKNOWN' || start === STARTS) throw error;
      // Node closed the handle; the new one tells of its end in the same way.
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
