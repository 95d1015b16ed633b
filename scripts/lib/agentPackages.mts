// The agents used in tests (test/agents), and how they are installed into a folder, PARLEY_AGENTS.
import { spawn } from 'node:child_process';
import { mkdir, readFile, rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Exact versions, so that new releases don't break the tests unexpectedly. */
const PACKAGES = {
  claude: ['@agentclientprotocol/claude-agent-acp', '0.101.0'],
  gemini: ['@google/gemini-cli', '0.61.0'],
  opencode: ['opencode-ai', '1.18.33'],
  codex: ['@agentclientprotocol/codex-acp', '2.6.0'],
  kimi: ['@moonshot-ai/kimi-code', '2.1.0'],
  grok: ['@xai-official/grok', '1.0.41'],
  droid: ['droid', '0.215.0'],
  openclaw: ['openclaw', '2026.9.6'],
  mastracode: ['mastracode', '0.32.1'],
} as const;

export type AgentId = keyof typeof PACKAGES;

/** Stay installed, since most tests need them. */
export const KEPT_AGENTS = ['claude', 'gemini', 'opencode', 'codex'] as const satisfies readonly AgentId[];

/** The install script of its embeddings, which no test needs, downloads from outside npm. */
const WITHOUT_SCRIPTS: readonly AgentId[] = ['mastracode'];

const NEEDED_SPACE = 4e9;

export function versionOf(id: AgentId): string {
  return PACKAGES[id][1];
}

/**
 * Installs an agent.
 * @returns a function that uninstalls it; undefined if it was already installed
 * @throws Error if the disk is nearly full or npm fails
 */
export async function installAgent(id: AgentId): Promise<(() => Promise<void>) | undefined> {
  const [name, version] = PACKAGES[id];
  const prefix = join(process.env.PARLEY_AGENTS ?? '', id);
  if ((await installedVersion(prefix, name)) === version) return undefined;
  const remove = (): Promise<void> => rm(prefix, { recursive: true, force: true, maxRetries: 5 });
  await remove();
  await mkdir(prefix, { recursive: true });
  const { bavail, bsize } = await statfs(prefix);
  if (bavail * bsize < NEEDED_SPACE) throw new Error(`Less than ${NEEDED_SPACE / 1e9} GB are free for ${name}.`);
  process.stdout.write(`Installing ${name}@${version} …\n`);
  // Without a package.json, npm would search the parent folders.
  await writeFile(join(prefix, 'package.json'), '{ "private": true }\n');
  // Most install scripts link binaries, so a user's `ignore-scripts` is overridden.
  const scripts = `--ignore-scripts=${WITHOUT_SCRIPTS.includes(id)}`;
  const options = ['--save-exact', '--no-audit', '--no-fund', '--loglevel=error', scripts];
  await npm(['install', '--prefix', prefix, ...options, `${name}@${version}`]);
  return remove;
}

/** Returns the installed version; undefined if missing or incomplete. */
async function installedVersion(prefix: string, name: string): Promise<string | undefined> {
  const complete = await readFile(join(prefix, 'node_modules/.package-lock.json'), 'utf8').catch(() => undefined);
  return complete === undefined ? undefined : JSON.parse(complete).packages[`node_modules/${name}`]?.version;
}

function npm(args: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn('npm', [...args], { stdio: 'inherit', shell: process.platform === 'win32' });
    child.on('error', reject);
    child.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(`npm ended with ${code}`))));
  });
}
