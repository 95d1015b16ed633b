// A newcomer meets a real agent: with a fresh profile, a registry on loopback, and no file edited by hand.
import { strict as assert } from 'node:assert';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { tinyAgent } from '../../support/agents/tinyAgent';
import { tgzOf } from '../../support/archives';
import { removeFolder } from '../../support/scratch';
import { closeLoopbacks } from '../../support/servers/loopback';
import { RegistryServer } from '../../support/servers/registryServer';
import { AddAgent } from '../../support/vscode/addAgent';
import { Chat } from '../../support/vscode/chat';
import { screenshot } from '../../support/vscode/openWindow';
import { useVsCode } from '../../support/vscode/useVsCode';
import { inList } from '../../support/vscode/workbench';

describe('first use', () => {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'parley-first-use-')));
  let registry: RegistryServer;

  // Found on the PATH of the login shell: made by the test, as this machine may have others.
  const bin = join(home, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'gemini'), tinyAgent('Found on this machine.'), { mode: 0o755 });
  // It stands for uv, which not every machine has: makes the environment and the program as uv does.
  writeFileSync(
    join(bin, 'uv'),
    `#!/bin/sh\ncase "$1" in\n venv) eval "home=\\\${$(($#-1))}"; mkdir -p "$home/bin";;\n` +
      ` pip) cp '${join(home, 'python-agent')}' "$4/bin/tiny-py";;\nesac\n`,
    { mode: 0o755 },
  );
  writeFileSync(join(home, 'python-agent'), tinyAgent('Hello from PyPI.'), { mode: 0o755 });
  writeFileSync(join(home, '.profile'), `export PATH="${bin}:${dirname(process.execPath)}:${process.env.PATH}"\n`);
  const settings: Record<string, unknown> = {};
  const env = { HOME: home, SHELL: '/bin/sh' };
  const archives = new Map<string, Buffer>();

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
    for (const version of ['2.0.0', '2.1.0'])
      archives.set(version, await tgzOf([{ name: 'agent', text: tinyAgent(`Hello from ${version}.`), mode: 0o755 }]));
    listed('2.0.0');
    registry.serve('/tiny.svg', Buffer.from('<svg viewBox="0 0 16 16"><path fill="black" d="M2 14 8 2l6 12z"/></svg>'));
  });

  after(async () => {
    await closeLoopbacks();
    await removeFolder(home);
  });

  /** @param version of the program that the registry lists */
  function listed(version: string, more: Readonly<Record<string, unknown>> = {}): void {
    registry.agents = [
      { ...registry.entry('Tiny from npm', '1.0.0', { npx: { package: 'tiny-agent@1.0.0' } }), icon: 'tiny.svg' },
      registry.entry('Tiny from PyPI', '3.0.0', { uvx: { package: 'tiny-py==3.0.0' } }),
      registry.program('Tiny program', version, archives.get(version) ?? assert.fail(version), more),
    ];
  }

  const vscode = useVsCode({ theme: 'dark', settings, env, viewport: { width: 1100, height: 800 } });
  let page: Page;
  let agents: AddAgent;

  async function until(what: string, isSo: () => boolean): Promise<void> {
    for (const deadline = Date.now() + 20_000; !isSo(); await delay(50)) assert.ok(Date.now() < deadline, what);
  }

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

  it('installs a PyPI package with uv, and shows its first answer within a minute', async function () {
    this.timeout(60_000);
    await agents.install('Tiny from PyPI', '3.0.0');
    await agents.answers('Tiny from PyPI', 'Hello from PyPI.');
    assert.match(
      agents.configured['tiny-from-pypi']?.command ?? '',
      /agents\/tiny-from-pypi\/3\.0\.0\/venv\/bin\/tiny-py$/,
    );
  });

  it('installs a program, updates it on request, goes back to the earlier version, and removes it', async function () {
    this.timeout(120_000);
    await agents.install('Tiny program', '2.0.0');
    await agents.answers('Tiny program', 'Hello from 2.0.0.');
    assert.deepEqual(agents.filesOf('tiny-program'), ['2.0.0']);
    listed('2.1.0');
    agents.configure({ 'parley.registry.url': registry.list('newer') });
    const press = async (button: string): Promise<void> => {
      await inList(page, 'Parley: Add Agent…', async (list, patience) => {
        const row = list.locator('.monaco-list-row', { hasText: 'Tiny program' });
        await row.hover(patience);
        if (button === 'Update to 2.1.0') await screenshot(page, 'installed-agents-dark');
        await row.getByRole('button', { name: button }).click(patience);
      });
    };
    await press('Update to 2.1.0');
    await agents.dialog.getByRole('button', { name: 'Update' }).click();
    await agents.answers('Tiny program', 'Hello from 2.1.0.');
    assert.match(agents.configured['tiny-program']?.command ?? '', /2\.1\.0/);
    await press('Go back to 2.0.0');
    await page.getByText('Tiny program uses version 2.0.0 from its next start.').first().waitFor();
    assert.match(agents.configured['tiny-program']?.command ?? '', /2\.0\.0/);
    const { command: program = '' } = agents.configured['tiny-program'] ?? {};
    await press('Remove');
    await agents.dialog.getByRole('button', { name: 'Remove' }).click();
    await agents.dialog.waitFor({ state: 'detached' });
    await until('the entry is removed', () => agents.configured['tiny-program'] === undefined);
    await until('the program is removed', () => !existsSync(program));
  });
});
