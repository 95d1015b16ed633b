// Bundles the programs that tests spawn (scripts/lib/suite.mjs) for suites outside mocha's process.
import { reexec } from './lib/node24.mjs';
import { buildSupport } from './lib/suite.mjs';

if (!(await reexec(process.argv[1], process.argv.slice(2)))) await buildSupport();
