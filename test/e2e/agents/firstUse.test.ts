// A newcomer meets a real agent: with a fresh profile, a registry on loopback, and no file edited
// by hand.
import { strict as assert } from 'node:assert';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Page } from 'playwright-core';
import { tinyAgent } from '../../support/agents/tinyAgent';
import { removeFolder } from '../../support/scratch';
import { closeLoopbacks } from '../../support/servers/loopback';
import { RegistryServer } from '../../support/servers/registryServer';
import { AddAgent } from '../../support/vscode/addAgent';
import { Chat } from '../../support/vscode/chat';
import { screenshot } from '../../support/vscode/openWindow';
import { useVsCode } from '../../support/vscode/useVsCode';

describe('first use', () => {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'parley-first-use-')));
  let registry: RegistryServer;

  // Found on the PATH of the login shell: made by the test, as this machine may have others.
  const bin = join(home, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'gemini'), tinyAgent('Found on this machine.'), { mode: 0o755 });
  writeFileSync(join(home, '.profile'), `export PATH="${bin}:${dirname(process.execPath)}:${process.env.PATH}"\n`);
  const settings: Record<string, unknown> = {};
  const env = { HOME: home, SHELL: '/bin/sh' };

  before('start the registries', async () => {
    registry = await RegistryServer.start();
    settings['parley.registry.url'] = registry.list();
    writeFileSync(join(home, '.npmrc'), `registry=${registry.origin}/\nfetch-retries=0\n`);
    await registry.npm.add({
      name: 'tiny-agent',
      version: '1.0.0',
      manifest: { bin: 'cli.js', license: 'MIT' },
      files: { 'cli.js': tinyAgent('Hello from npm.') },
    });
    registry.agents = [
      { ...registry.entry('Tiny from npm', '1.0.0', { npx: { package: 'tiny-agent@1.0.0' } }), icon: 'tiny.svg' },
    ];
    registry.serve('/tiny.svg', Buffer.from('<svg viewBox="0 0 16 16"><path fill="black" d="M2 14 8 2l6 12z"/></svg>'));
  });

  after(async () => {
    await closeLoopbacks();
    await removeFolder(home);
  });

  const vscode = useVsCode({ theme: 'dark', settings, env, viewport: { width: 1100, height: 800 } });
  let page: Page;
  let agents: AddAgent;

  it('offers the agents on this machine in the empty chat without a request to the registry, and starts one', async function () {
    this.timeout(90_000);
    ({ page } = vscode.window);
    agents = new AddAgent(page, vscode.server);
    const chat = await Chat.open(page);
    await chat.button('Use Gemini').waitFor();
    await chat.button('Browse agents…').waitFor();
    assert.equal(registry.asked, 0);
    await screenshot(page, 'first-use-dark');
    await agents.choose('Gemini', join(bin, 'gemini'));
    await agents.answers('Gemini', 'Found on this machine.');
    assert.deepEqual(agents.configured.gemini, { name: 'Gemini', command: 'gemini', args: ['--acp'] });
  });

  it('installs an npm package after one question, and shows its first answer within a minute', async function () {
    this.timeout(60_000);
    await agents.choose('Tiny from npm', '1.0.0');
    await agents.dialog.getByText('Install Tiny from npm 1.0.0?').waitFor();
    const question = await agents.dialog.innerText();
    assert.match(question, /Package: tiny-agent@1\.0\.0/);
    assert.match(question, /License: MIT/);
    assert.match(question, /An agent runs with your permissions\./);
    assert.deepEqual(registry.npm.served, [], 'nothing is downloaded before the answer');
    await screenshot(page, 'install-question-dark');
    await agents.dialog.getByRole('button', { name: 'Install' }).click();
    await agents.answers('Tiny from npm', 'Hello from npm.');
    const entry = agents.configured['tiny-from-npm'];
    assert.equal(entry?.name, 'Tiny from npm');
    assert.ok(existsSync(entry?.command ?? ''), entry?.command);
    assert.match(entry?.command ?? '', /agents\/tiny-from-npm\/1\.0\.0\/node_modules\/\.bin\/tiny-agent$/);
  });
});
