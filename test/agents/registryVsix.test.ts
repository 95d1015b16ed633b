// A newcomer installs real agents in the installed extension: Gemini from the registry of npm, and
// OpenCode as a program, from a server of the test.
// The scripted model is behind both.
import { strict as assert } from 'node:assert';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { closeLoopbacks } from '../support/servers/loopback';
import { RegistryServer } from '../support/servers/registryServer';
import { AddAgent } from '../support/vscode/addAgent';
import { Chat } from '../support/vscode/chat';
import { screenshot } from '../support/vscode/openWindow';
import { useVsCode } from '../support/vscode/useVsCode';
import { command } from '../support/vscode/workbench';
import { type ModelServer, startModelServer } from './modelServer';
import { type RealAgent, realAgents } from './realAgents';

describe('agents of the registry in the installed extension', function () {
  this.timeout(300_000);
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'parley-registry-vsix-')));
  const folder = join(home, 'work');
  mkdirSync(folder);
  const settings: Record<string, unknown> = {};
  const env: Record<string, string> = { SHELL: '/bin/sh' };
  let model: ModelServer;
  let registry: RegistryServer;
  let real: readonly RealAgent[];

  before('start the registry and the model', async () => {
    model = await startModelServer();
    registry = await RegistryServer.start();
    settings['parley.registry.url'] = registry.list();
    real = await realAgents(join(home, 'homes'), model.url);
    // One user has both: the settings of OpenCode are where its variables say.
    for (const id of ['opencode', 'gemini'] as const) Object.assign(env, agentOf(id).definition.env);
    const user = env.HOME ?? assert.fail();
    const npm = spawnSync('npm', ['config', 'get', 'cache'], { encoding: 'utf8' }).stdout.trim();
    const address = spawnSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).stdout.trim();
    // What npm has fetched already is not fetched again.
    writeFileSync(join(user, '.npmrc'), `registry=${address}\ncache=${npm}\n`);
    writeFileSync(join(user, '.profile'), `export PATH="${dirname(process.execPath)}:${process.env.PATH}"\n`);

    const program = dirname(agentOf('opencode').definition.command).replace(/\.bin$/, 'opencode-ai/bin');
    const archive = join(home, 'opencode.tar.gz');
    const packed = spawnSync('tar', [
      '-czf',
      archive,
      '--transform=s/opencode.exe/agent/',
      '-C',
      program,
      'opencode.exe',
    ]);
    assert.equal(packed.status, 0, String(packed.stderr));
    registry.agents = [
      registry.program('OpenCode program', '1.18.33', readFileSync(archive), { args: ['acp'] }),
      // As the list has it, in a version that npm still has.
      registry.entry('Gemini', '0.61.0', { npx: { package: '@google/gemini-cli@0.61.0', args: ['--acp'] } }),
    ];
  });

  after(async () => {
    await model?.close();
    await closeLoopbacks();
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  });

  const vscode = useVsCode({ theme: 'dark', settings, env, folder });

  function agentOf(id: RealAgent['id']): RealAgent {
    return real.find((one) => one.id === id) ?? assert.fail(id);
  }

  for (const [name, version, id] of [
    ['OpenCode program', '1.18.33', 'opencode'],
    ['Gemini', '0.61.0', 'gemini'],
  ] as const)
    it(`are installed, started and answer, with no file edited by hand: ${name}`, async () => {
      const { page } = vscode.window;
      const agents = new AddAgent(page, vscode.server);
      await command(page, 'Parley: Focus Chat');
      const begun = performance.now();
      await agents.install(name, version);
      let chat = await Chat.at(page, 'panel');
      await chat.frame.locator('.agent-name', { hasText: name }).waitFor({ timeout: 240_000 });
      const installed = performance.now();
      await chat.state('ready', 60_000);
      chat = await Chat.at(page, 'panel');
      await chat.send(agentOf(id).prompt('text', folder));
      await chat.entries('agent').last().locator('strong', { hasText: 'scripted' }).waitFor({ timeout: 60_000 });
      const seconds = (from: number): string => ((performance.now() - from) / 1000).toFixed(1);
      process.stdout.write(
        `      ${name}: first answer ${seconds(begun)} s after it was chosen, ${seconds(installed)} s after it was installed\n`,
      );
      await screenshot(page, `registry-${id}`);
      assert.deepEqual(agents.downloads, []);
    });
});
