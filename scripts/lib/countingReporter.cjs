// Mocha's own spec output, and the figures and failures of the run as a line of JSON in the file that PARLEY_TEST_RESULT names (scripts/lib/results.mts), so that `npm test`
// can add up its suites. Plain JavaScript, as mocha loads it by itself.
const { appendFileSync } = require('node:fs');
const Mocha = require('mocha');

/** Characters of a failure's stack that are kept. */
const MAX_WHY = 2000;

module.exports = class CountingReporter extends Mocha.reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    const failures = [];
    runner.on('fail', (test, error) => {
      failures.push({ title: test.fullTitle(), why: String(error?.stack ?? error).slice(0, MAX_WHY) });
    });
    runner.once('end', () => {
      const file = process.env.PARLEY_TEST_RESULT;
      if (!file) return;
      const { passes, failures: failed, pending } = runner.stats;
      appendFileSync(file, `${JSON.stringify({ passed: passes, failed, pending, failures })}\n`);
    });
  }
};
