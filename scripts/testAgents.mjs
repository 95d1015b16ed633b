// `npm run test:agents [part of a path …] [-- mocha options]`: tests real agents with a scripted
// model on loopback (test/agents), alone and in the packaged extension. `-- --table [id …]` updates
// docs/agents.md instead (agentTable.ts). Agents are installed to $PARLEY_CACHE/agents (default
// .cache/agents): four permanently, the others one at a time.
import { spawn } from 'node:child_process';
import { join, resolve } from 'node:path';
import { projectEnv, reexec, root } from './lib/node24.mjs';
import { runSuites } from './lib/suite.mjs';

function run(script, ...args) {
  return new Promise((resolve, reject) => {
    const path = join(root, 'scripts', script);
    const child = spawn(process.execPath, [path, ...args], { cwd: root, stdio: 'inherit', env: projectEnv() });
    child.on('error', reject);
    child.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`${script} ended with ${code}`))));
  });
}

const args = process.argv.slice(2);
if (!(await reexec(process.argv[1], args))) {
  process.env.PARLEY_AGENTS = resolve(process.env.PARLEY_CACHE ?? join(root, '.cache'), 'agents');
  if (args[0] === '--table') {
    await run('build.mjs');
    await run('run.mjs', 'agentTable', ...args.slice(1));
  } else {
    // Dynamic, since this file may be read by an older Node.
    const { installAgent, KEPT_AGENTS } = await import('./lib/agentPackages.mts');
    for (const id of KEPT_AGENTS) await installAgent(id);
    await run('run.mjs', 'package');
    process.exitCode = await runSuites({ suites: [{ folder: 'test/agents' }], args, timeout: 60_000 });
  }
}
