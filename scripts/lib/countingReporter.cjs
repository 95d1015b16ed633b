// Mocha's spec reporter, which also writes counts and failures to PARLEY_TEST_RESULT (results.mts).
// Plain JavaScript, since mocha loads it directly.
const { appendFileSync } = require('node:fs');
const Mocha = require('mocha');

/** Maximum characters of a failure's stack. */
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
