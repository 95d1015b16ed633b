// Real agents installed as the registry lists them, from the real npm registry, until they answer
// `initialize`.
import assert from 'node:assert/strict';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '../../src/base/log';
import { RpcLink } from '../../src/client/transport/rpcLink';
import { Stages } from '../../src/client/transport/stages';
import { Installer, type ProgramStart } from '../../src/registry/install/installer';
import { parseRegistry } from '../../src/registry/list/registryAgent';

const { signal } = new AbortController();

describe('agents of the registry', function () {
  this.timeout(300_000);
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'parley-registry-')));
  after(() => rmSync(home, { recursive: true, force: true }));

  const env = { ...(process.env as Record<string, string>), HOME: home, npm_config_cache: npmCache() };

  async function check(start: ProgramStart): Promise<void> {
    const agent = { ...start, id: 'new', type: 'process', protocol: 'auto' } as const;
    const client = { name: 'parley', title: 'Parley', version: '0.0.0' };
    const onRequest = async (): Promise<never> => assert.fail('nothing is asked before a session');
    const environment = async (): Promise<Record<string, string>> => env;
    const options = { agent, cwd: home, environment, client, log: silentLog, onRequest, onNotification: () => {} };
    const link = await RpcLink.open(options, new Stages(Date.now, () => 60_000), signal);
    await link.close();
  }

  const agents = [
    // Its own install script puts the program for this system in its place.
    ['opencode', 'opencode-ai@1.18.33', ['acp']],
    // Two of its optional dependencies have install scripts, which do not run.
    ['gemini', '@google/gemini-cli@0.61.0', ['--acp']],
    ['claude', '@agentclientprotocol/claude-agent-acp@0.101.0', []],
  ] as const;
  for (const [id, name, args] of agents)
    it(`are installed and start: ${id}`, async () => {
      const version = name.slice(name.lastIndexOf('@') + 1);
      const distribution = { npx: { package: name, args } };
      const entry = { id, name: id, version, description: id, distribution };
      const [agent] = parseRegistry(JSON.stringify({ agents: [entry] })).agents;
      assert.ok(agent);
      const installer = new Installer({
        root: join(home, 'agents'),
        log: silentLog,
        context: async () => ({ env, except: [], log: silentLog }),
        check,
        trustedOrigin: () => undefined,
      });
      const begun = performance.now();
      const installed = await installer.install(await installer.plan(agent, signal), () => {}, signal);
      const seconds = ((performance.now() - begun) / 1000).toFixed(1);
      process.stdout.write(`${id}: ${seconds} s, ${Math.round(installed.size / 1e6)} MB\n`);
      assert.equal(installed.version, version);
    });
});

/** The packages that npm has fetched already are not fetched again. */
function npmCache(): string {
  return process.env.npm_config_cache ?? join(process.env.HOME ?? tmpdir(), '.npm');
}
