// `npm run test:agents [part of a path …] [-- mocha options]`: real agents with a scripted model on loopback (test/agents), alone and in the packaged extension. Installs the agents once.
// `npm run test:agents -- --table [id …]`: checks whether they keep the protocol, and writes the table of docs/agents.md (agentTable.ts).
// Not part of `npm test`: the agents are large and come from other people. They live in $PARLEY_CACHE/agents, default .cache/agents.
import { spawn } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { projectEnv, reexec, root } from './lib/node24.mjs';
import { runSuites } from './lib/suite.mjs';

/** Exact versions: what a newer one does is found out on purpose, not by a red run. */
const packages = {
  claude: ['@agentclientprotocol/claude-agent-acp', '0.100.0'],
  gemini: ['@google/gemini-cli', '0.61.0'],
  opencode: ['opencode-ai', '1.18.33'],
  codex: ['@agentclientprotocol/codex-acp', '2.6.0'],
  kimi: ['@moonshot-ai/kimi-code', '2.1.0'],
  openclaw: ['openclaw', '2026.9.6'],
  grok: ['@xai-official/grok', '1.0.41'],
};

/** Installs what is missing. @returns the folder with one folder for each agent */
export async function installAgents() {
  const folder = resolve(process.env.PARLEY_CACHE ?? join(root, '.cache'), 'agents');
  for (const [id, [name, version]] of Object.entries(packages)) {
    const prefix = join(folder, id);
    if ((await installedVersion(prefix, name)) === version) continue;
    process.stdout.write(`Installing ${name}@${version} …\n`);
    await rm(prefix, { recursive: true, force: true });
    await mkdir(prefix, { recursive: true });
    // Without a package.json of its own, npm would look for one in the folders above.
    await writeFile(join(prefix, 'package.json'), '{ "private": true }\n');
    // Their install scripts fetch or link binaries: a user's `ignore-scripts` would leave half an agent.
    const options = ['--save-exact', '--no-audit', '--no-fund', '--ignore-scripts=false'];
    await run('npm', ['install', '--prefix', prefix, ...options, `${name}@${version}`]);
  }
  return folder;
}

/** The installed version, undefined where the installation is missing or was not finished. */
async function installedVersion(prefix, name) {
  const complete = await readFile(join(prefix, 'node_modules/.package-lock.json'), 'utf8').catch(() => undefined);
  return complete && JSON.parse(complete).packages[`node_modules/${name}`]?.version;
}

function run(command, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: root,
      stdio: 'inherit',
      env: projectEnv(),
      shell: process.platform === 'win32',
    });
    child.on('error', reject);
    child.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`${command} ended with ${code}`))));
  });
}

const args = process.argv.slice(2);
if (process.argv[1] === import.meta.filename && !(await reexec(process.argv[1], args))) {
  process.env.PARLEY_AGENTS = await installAgents();
  const table = args[0] === '--table';
  if (table) {
    await run(process.execPath, [join(root, 'scripts/build.mjs')]);
    await run(process.execPath, [join(root, 'scripts/run.mjs'), 'agentTable', ...args.slice(1)]);
  } else {
    await run(process.execPath, [join(root, 'scripts/run.mjs'), 'package']);
    process.exitCode = await runSuites({ suites: [{ folder: 'test/agents' }], args, timeout: 60_000 });
  }
}
