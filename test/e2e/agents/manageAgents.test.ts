// A user adds an agent by its command, tests it and signs in with a key, with the keyboard. Comments in the settings file stay.
import { strict as assert } from 'node:assert';
import { mkdtempSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { tinyAgent } from '../../support/agents/tinyAgent';
import { removeFolder } from '../../support/scratch';
import { Chat } from '../../support/vscode/chat';
import { screenshot } from '../../support/vscode/openWindow';
import { useVsCode } from '../../support/vscode/useVsCode';
import { inList, quickInput } from '../../support/vscode/workbench';

const KEY = 'sk-tiny-1234567890';

describe('the agents editor', () => {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'parley-manage-')));
  const program = join(home, 'my agent');
  const method = { id: 'key', name: 'API key', type: 'env_var', vars: [{ name: 'TINY_KEY' }] };
  const terminal = { id: 'tty', name: 'Log in', type: 'terminal', args: ['--login'] };
  // It works only with a key, and says which one it has.
  writeFileSync(
    program,
    tinyAgent('I have a key.')
      .replace(
        'authMethods: []',
        `agentInfo: { name: 'tiny', version: '4.5.6' }, authMethods: ${JSON.stringify([method, terminal])}`,
      )
      .replace(
        'if (answer) send(',
        `if (method === 'session/new' && !process.env.TINY_KEY) send({ id, error: { code: -32000, message: 'Sign in' } });
    else if (answer) send(`,
      ),
    { mode: 0o755 },
  );
  writeFileSync(join(home, '.profile'), `export PATH="${dirname(process.execPath)}:${process.env.PATH}"\n`);

  const vscode = useVsCode({
    theme: 'dark',
    // VS Code would write the word for `false` into the file at some moment, over what a test has written.
    settings: { 'extensions.autoUpdate': 'off' },
    env: { HOME: home, SHELL: '/bin/sh' },
    viewport: { width: 1100, height: 800 },
  });
  let page: Page;
  let chat: Chat;

  after(() => removeFolder(home));

  const settingsFile = (): string => join(vscode.server.dataDir, 'data/Machine/settings.json');
  const settingsText = (): string => readFileSync(settingsFile(), 'utf8');
  const list = (): Locator => quickInput(page);
  const row = (text: string): Locator => list().locator('.monaco-list-row', { hasText: text }).first();

  /** Opens the editor. @param has what its list shows as soon as VS Code has read the settings anew */
  async function open(has: string): Promise<void> {
    await inList(page, 'Parley: Manage Agents…', async (_list, patience) => {
      await list().getByPlaceholder('Select an agent, or add one').waitFor(patience);
      await row(has).waitFor({ state: 'attached', ...patience });
    });
  }

  /** Types the beginning of a row and presses Enter. @param then what the next page has */
  async function choose(text: string, then?: string): Promise<void> {
    await list().locator('input.input').fill(text);
    await row(text).waitFor();
    await list().locator('.monaco-list-row.focused', { hasText: text }).waitFor();
    await list().locator('input.input').press('Enter');
    if (then !== undefined) await row(then).waitFor();
  }

  /** Types into a box and presses Enter. @param prompt what it says */
  async function enter(prompt: string, text: string): Promise<void> {
    await list().getByText(prompt).first().waitFor();
    await list().locator('input.input').fill(text);
    await list().locator('input.input').press('Enter');
  }

  it('adds a program by its command, and tests it', async function () {
    this.timeout(120_000);
    ({ page } = vscode.window);
    // VS Code watches its settings once it is up: what is written before goes unnoticed.
    chat = await Chat.open(page);
    const before = settingsText().trimEnd().replace(/\}$/, '');
    const separator = before.trim() === '{' ? '' : ',';
    writeFileSync(
      settingsFile(),
      `${before}${separator}
  "parley.agents": {
    // the old one
    "old": { "name": "Old", "command": "old-agent", "args": ["--acp"] } // unused
  }
}`,
    );
    await open('Old');
    await screenshot(page, 'agents-editor-dark');
    await choose('Add a program…');
    await enter('Command that starts the agent', `"${program}" --acp`);
    await enter('Name of the agent', 'Tiny');
    await row('Start a session').waitFor();
    await screenshot(page, 'agent-page-dark');
    await choose('Test', 'Protocol');
    await row('tiny 4.5.6').waitFor();
    await row('API key').waitFor();
    await screenshot(page, 'agent-test-dark');
    for (const kept of ['// the old one', '// unused', '"args": ["--acp"] }'])
      assert.ok(settingsText().includes(kept), settingsText());
    assert.match(
      settingsText(),
      /"tiny": \{\s*"name": "Tiny",\s*"command": "[^"]*my agent",\s*"args": \[\s*"--acp"\s*\]/,
    );
  });

  it('shows the ways to sign in as buttons with what they run, and signs in with a key', async function () {
    this.timeout(120_000);
    await choose('Start a session');
    await chat.frame.locator('.agent-name', { hasText: 'Tiny' }).waitFor({ timeout: 60_000 });
    chat = await Chat.at(page, 'panel');
    await chat.state('authRequired', 60_000);
    await chat.failure.getByText(/“Log in” runs in a terminal: .*--login/).waitFor();
    await screenshot(page, 'sign-in-card-dark');
    await chat.button('API key').press('Enter');
    await list().getByText("Saved in VS Code's secret storage and passed to Tiny only.").waitFor();
    await screenshot(page, 'sign-in-key-dark');
    await enter('passed to Tiny only', KEY);
    await chat.state('ready', 60_000);
    await chat.run('hello');
    await chat.entries('agent').getByText('I have a key.').waitFor();
    assert.ok(!settingsText().includes(KEY));
  });
});
