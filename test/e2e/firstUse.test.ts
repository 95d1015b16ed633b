// A newcomer meets a real agent: with a fresh profile, a registry on loopback, and no file edited by hand.
import { strict as assert } from 'node:assert';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Locator, Page } from 'playwright-core';
import { machineName } from '../../src/registry/install/installSource';
import { tinyAgent } from '../support/agents/tinyAgent';
import { tgzOf } from '../support/archives';
import { closeLoopbacks, httpLoopback } from '../support/loopback';
import { NpmRegistry } from '../support/npmRegistry';
import { Chat } from '../support/vscode/chat';
import { screenshot, type Theme, themes } from '../support/vscode/openWindow';
import { useVsCode } from '../support/vscode/useVsCode';
import { inList } from '../support/vscode/workbench';

interface Entry {
  readonly name: string;
  readonly command: string;
}

describe('first use', () => {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'parley-first-use-')));
  const npm = new NpmRegistry();
  const archives = new Map<string, Buffer>();
  let agents: Record<string, unknown>[] = [];
  let host = '';

  // Found on the PATH of the login shell: of the test's own making, since this machine may have others.
  const bin = join(home, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'gemini'), tinyAgent('Found on this machine.'), { mode: 0o755 });
  writeFileSync(join(home, '.profile'), `export PATH="${bin}:${dirname(process.execPath)}:${process.env.PATH}"\n`);
  const settings: Record<string, unknown> = {};
  const env = { HOME: home, SHELL: '/bin/sh' };

  before('start the registries', async () => {
    ({ host } = await httpLoopback((request, response) => {
      const archive = archives.get(request.url ?? '');
      if (request.url?.startsWith('/registry.json')) response.end(JSON.stringify({ version: '1.0.0', agents }));
      else if (archive) response.writeHead(200, { 'content-length': archive.length }).end(archive);
      else if (!npm.handle(request, response)) response.writeHead(404).end('{}');
    }));
    settings['parley.registry.url'] = `http://${host}/registry.json`;
    writeFileSync(join(home, '.npmrc'), `registry=http://${host}/\nfetch-retries=0\n`);
    await npm.add({
      name: 'tiny-agent',
      version: '1.0.0',
      manifest: { bin: 'cli.js', license: 'MIT' },
      files: { 'cli.js': tinyAgent('Hello from npm.') },
    });
    for (const version of ['2.0.0', '2.1.0'])
      archives.set(
        `/agent-${version}.tar.gz`,
        await tgzOf([{ name: 'agent', text: tinyAgent(`Hello from ${version}.`), mode: 0o755 }]),
      );
    const { agents: real } = JSON.parse(readFileSync('test/fixtures/registry/registry.json', 'utf8')) as {
      readonly agents: Record<string, unknown>[];
    };
    agents = [npmEntry, binaryEntry('2.0.0'), ...real];
  });

  after(async () => {
    await closeLoopbacks();
    rmSync(home, { recursive: true, force: true });
  });

  const npmEntry = {
    id: 'tiny-npm',
    name: 'Tiny from npm',
    version: '1.0.0',
    description: 'Answers with one sentence',
    license: 'MIT',
    distribution: { npx: { package: 'tiny-agent@1.0.0' } },
  };
  /** @param listed the version that the registry names, for what is in the archive of `version` */
  const binaryEntry = (version: string, sha256 = sumOf(version), listed = version): Record<string, unknown> => ({
    id: 'tiny-program',
    name: 'Tiny program',
    version: listed,
    description: 'Answers with one sentence, too',
    license: 'Apache-2.0',
    distribution: {
      binary: {
        [machineName()]: { archive: `http://${host}/agent-${version}.tar.gz`, cmd: './agent', sha256 },
      },
    },
  });
  const sumOf = (version: string): string =>
    createHash('sha256')
      .update(archives.get(`/agent-${version}.tar.gz`) ?? '')
      .digest('hex');

  const vscode = useVsCode({ theme: 'dark', settings, env, viewport: { width: 1100, height: 800 } });
  let page: Page;
  let chat: Chat;

  const settingsFile = (): string => join(vscode.server.dataDir, 'data/Machine/settings.json');
  const onDisk = (): Record<string, unknown> => JSON.parse(readFileSync(settingsFile(), 'utf8'));
  /** The entries of the setting, as they are on disk. */
  const configured = (): Record<string, Entry> => (onDisk()['parley.agents'] ?? {}) as Record<string, Entry>;
  /** Keeps what the extension has written. */
  const configure = (more: Record<string, unknown>): void =>
    writeFileSync(settingsFile(), JSON.stringify({ ...onDisk(), ...more }));
  const setTheme = async (theme: Theme): Promise<void> => {
    configure({ 'workbench.colorTheme': themes[theme] });
    await page.locator(theme === 'light' ? '.monaco-workbench.vs' : '.monaco-workbench.vs-dark').waitFor();
  };

  const dialog = (): Locator => page.locator('.monaco-dialog-box');

  /** Picks a row of the list of agents to add, once the list has the version. */
  async function choose(name: string, version: string): Promise<void> {
    await inList(page, 'Parley: Add Agent…', async (list, patience) => {
      await list.getByPlaceholder('Select an agent to add').fill(name, patience);
      const row = list.locator('.monaco-list-row', { hasText: name });
      await row.filter({ hasText: version }).first().waitFor(patience);
      await page.keyboard.press('Enter');
      // A list that is filled again at this moment does not take the key.
      await list.waitFor({ state: 'hidden', ...patience });
    });
  }

  async function answers(agent: string, text: string): Promise<void> {
    await chat.frame.locator('.agent-name', { hasText: agent }).waitFor({ timeout: 60_000 });
    // What was said with the agent before is gone when the new session is shown.
    await chat.log.locator('[data-entry-id]').first().waitFor({ state: 'detached', timeout: 60_000 });
    await chat.state('ready', 60_000);
    chat = await Chat.at(page, 'panel');
    await chat.run('hello');
    await chat.entries('agent').getByText(text).last().waitFor();
  }

  async function until(what: string, isSo: () => boolean): Promise<void> {
    for (const deadline = Date.now() + 20_000; !isSo(); await delay(50)) assert.ok(Date.now() < deadline, what);
  }

  it('offers the agents on this machine in the empty chat', async function () {
    this.timeout(90_000);
    ({ page } = vscode.window);
    chat = await Chat.open(page);
    await chat.button('Use Gemini').waitFor();
    await chat.button('Browse agents…').waitFor();
    await screenshot(page, 'first-use-dark');
    await setTheme('light');
    await screenshot(page, 'first-use-light');
  });

  it('shows the registry in a list with search', async function () {
    this.timeout(60_000);
    const list = page.locator('.quick-input-widget:visible');
    await inList(page, 'Parley: Add Agent…', async (_list, patience) => {
      await list.getByText('Tiny from npm').waitFor(patience);
      await list.getByText('On this machine').waitFor(patience);
    });
    await screenshot(page, 'add-agent-light');
    await page.keyboard.press('Escape');
    await setTheme('dark');
    await inList(page, 'Parley: Add Agent…', async (_list, patience) => {
      await list.getByText('Tiny from npm').waitFor(patience);
    });
    await screenshot(page, 'add-agent-dark');
    await page.keyboard.press('Escape');
  });

  it('installs a package of npm, asked once, and has its first answer', async function () {
    this.timeout(120_000);
    await choose('Tiny from npm', '1.0.0');
    await dialog().getByText('Install Tiny from npm 1.0.0?').waitFor();
    const question = await dialog().innerText();
    assert.match(question, /Package: tiny-agent@1\.0\.0/);
    assert.match(question, /License: MIT/);
    assert.match(question, /An agent runs with your permissions\./);
    assert.deepEqual(npm.served, [], 'nothing is downloaded before the answer');
    await screenshot(page, 'install-question-dark');
    await dialog().getByRole('button', { name: 'Install' }).click();
    await answers('Tiny from npm', 'Hello from npm.');
    const entry = configured()['tiny-npm'];
    assert.equal(entry?.name, 'Tiny from npm');
    assert.ok(existsSync(entry?.command ?? ''), entry?.command);
    assert.match(entry?.command ?? '', /agents\/tiny-npm\/1\.0\.0\/node_modules\/\.bin\/tiny-agent$/);
  });

  it('says that a checksum is wrong, and installs nothing', async function () {
    this.timeout(60_000);
    agents = [npmEntry, binaryEntry('2.0.0', '0'.repeat(64), '1.9.0')];
    configure({ 'parley.registry.url': `http://${host}/registry.json?wrong` });
    await choose('Tiny program', '1.9.0');
    await dialog().getByRole('button', { name: 'Install' }).click();
    await page
      .getByText(/doesn't have the checksum that the registry states/)
      .first()
      .waitFor();
    await screenshot(page, 'install-wrong-checksum-dark');
    assert.equal(configured()['tiny-program'], undefined);
  });

  it('installs a program, updates it when asked, goes back, and removes it', async function () {
    this.timeout(180_000);
    agents = [npmEntry, binaryEntry('2.0.0')];
    configure({ 'parley.registry.url': `http://${host}/registry.json?right` });
    await choose('Tiny program', '2.0.0');
    await dialog().getByRole('button', { name: 'Install' }).click();
    await answers('Tiny program', 'Hello from 2.0.0.');
    agents = [npmEntry, binaryEntry('2.1.0')];
    configure({ 'parley.registry.url': `http://${host}/registry.json?newer` });
    const press = async (button: string): Promise<void> => {
      await inList(page, 'Parley: Add Agent…', async (list, patience) => {
        const row = list.locator('.monaco-list-row', { hasText: 'Tiny program' });
        await row.hover(patience);
        if (button === 'Update to 2.1.0') await screenshot(page, 'installed-agents-dark');
        await row.getByRole('button', { name: button }).click(patience);
      });
    };
    await press('Update to 2.1.0');
    await dialog().getByRole('button', { name: 'Update' }).click();
    await answers('Tiny program', 'Hello from 2.1.0.');
    assert.match(configured()['tiny-program']?.command ?? '', /2\.1\.0/);
    await press('Go back to 2.0.0');
    await page.getByText('Tiny program uses version 2.0.0 from its next start.').first().waitFor();
    assert.match(configured()['tiny-program']?.command ?? '', /2\.0\.0/);
    const { command: program = '' } = configured()['tiny-program'] ?? {};
    await press('Remove');
    await dialog().getByRole('button', { name: 'Remove' }).click();
    await dialog().waitFor({ state: 'detached' });
    await until('the entry is removed', () => configured()['tiny-program'] === undefined);
    await until('the program is removed', () => !existsSync(program));
  });

  it('starts an agent of this machine with one click', async function () {
    this.timeout(60_000);
    await choose('Gemini', join(bin, 'gemini'));
    await answers('Gemini', 'Found on this machine.');
    assert.deepEqual(configured().gemini, { name: 'Gemini', command: 'gemini', args: ['--acp'] });
  });
});
