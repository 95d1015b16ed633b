// Writes the README's table of what is supported of the protocol, from the tests that prove it: `node scripts/run.mjs matrix`. With --check it only looks whether it is fresh.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { collectProofs, renderMatrix, withSection } from '../test/unit/conformance/matrix';

const path = join(process.cwd(), 'README.md');
const before = readFileSync(path, 'utf8');
const after = withSection(before, renderMatrix(collectProofs()));
if (!process.argv.includes('--check')) writeFileSync(path, after);
else if (before !== after) {
  process.stderr.write('The table of the README is stale: node scripts/run.mjs matrix\n');
  process.exitCode = 1;
}
