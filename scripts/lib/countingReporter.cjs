// Mocha's own spec output, and the figures of the run as JSON in the file that PARLEY_TEST_RESULT names, so that `npm test` can add up its suites.
const { appendFileSync } = require('node:fs');
const Mocha = require('mocha');

module.exports = class CountingReporter extends Mocha.reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    runner.once('end', () => {
      const file = process.env.PARLEY_TEST_RESULT;
      if (!file) return;
      const { passes, failures, pending } = runner.stats;
      appendFileSync(file, `${JSON.stringify({ passed: passes, failed: failures, pending })}\n`);
    });
  }
};
