// End-to-end tests: the packaged VSIX in a real VS Code, driven by a real browser. `node
// scripts/e2e.mjs [--slow] [part of a path …] [-- mocha options]`. `smoke` runs only
// test/e2e/smoke, in one VS Code; `--slow` all others.
import { availableParallelism } from 'node:os';
import { runPackaged } from './lib/packagedSuites.mjs';

/** A VS Code with its browser uses over a core while starting, and about 1 GB of memory. */
const JOBS = Math.min(availableParallelism(), 4);
const LONGEST = ['/background', '/changes', '/remoteLine', '/editorTools', '/smoke/demo'];
const SMOKE = 'test/e2e/smoke';

const given = process.argv.slice(2);
const isSlow = given.includes('--slow');
const args = given.filter((arg) => arg !== '--slow');
// Share a process, so that they can reuse a VS Code (test/support/vscode/vsCodePool.ts).
const suite =
  args[0] === 'smoke'
    ? { folder: SMOKE }
    : { folder: 'test/e2e', jobs: JOBS, longest: LONGEST, ...(isSlow && { without: SMOKE }) };
await runPackaged([suite], args);
