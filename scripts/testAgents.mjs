// `npm run test:agents [part of a path …] [-- mocha options]`: real agents with a scripted model on
// loopback (test/agents), alone and in the packaged extension.
// `npm run test:agents -- --table [id …]`: checks whether they keep the protocol and looks at what
// they do, and writes both into docs/agents.md (agentTable.ts).
// Not part of `npm test`: the agents are large and come from other people. They live in
// $PARLEY_CACHE/agents, default .cache/agents. Four are kept there; the others are installed for
// their tests, one at a time, and removed unless they were there before.
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
    // Imported here, as an older Node may read this file before the project's own runs it.
    const { installAgent, KEPT_AGENTS } = await import('./lib/agentPackages.mts');
    for (const id of KEPT_AGENTS) await installAgent(id);
    await run('run.mjs', 'package');
    process.exitCode = await runSuites({ suites: [{ folder: 'test/agents' }], args, timeout: 60_000 });
  }
}
