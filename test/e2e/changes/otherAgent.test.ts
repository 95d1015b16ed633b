// A second agent beside the first one, in the installed extension: a message that is retried, a turn that is reviewed, and the model that a new session begins with.
import { strict as assert } from 'node:assert';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FrameLocator, Locator } from 'playwright-core';
import { scriptedAgent } from '../../support/agents/definition';
import { Chat } from '../../support/vscode/chat';
import { screenshot } from '../../support/vscode/openWindow';
import { useVsCode } from '../../support/vscode/useVsCode';
import { command, inList, quickInput } from '../../support/vscode/workbench';

const models = ['Small', 'Large'].map((name) => ({ value: name.toLowerCase(), name }));
const model = { id: 'llm', name: 'Model', category: 'model', type: 'select', currentValue: 'small', options: models };

describe('another agent in the installed extension', function () {
  this.timeout(120_000);
  const vscode = useVsCode({
    theme: 'dark',
    viewport: { width: 1600, height: 900 },
    settings: {
      'parley.agents': {
        plain: { ...scriptedAgent('plain'), name: 'Plain' },
        second: { ...scriptedAgent({ hears: true, configOptions: [model] }), name: 'Second' },
      },
      'parley.defaultAgent': 'plain',
    },
  });
  let chat: Chat;

  /** The newest of the pages of sessions. */
  const beside = (): FrameLocator =>
    vscode.window.page
      .locator('iframe.webview.ready[src*="extensionId=parley.parley"]')
      .last()
      .contentFrame()
      .frameLocator('#active-frame');
  const composer = (): Locator => beside().getByRole('textbox', { name: 'Message' });

  /** Chooses the second agent in VS Code's list, and waits for it in a tab of its own. */
  async function chooseSecond(): Promise<void> {
    const { page } = vscode.window;
    await quickInput(page).locator('.monaco-list-row', { hasText: 'Second' }).first().waitFor();
    await screenshot(page, 'other-agent-list');
    await quickInput(page).locator('input.input').fill('Second');
    await page.keyboard.press('Enter');
    await beside().locator('.agent-name', { hasText: 'Second' }).waitFor();
    await beside().locator('[role=status][aria-label="Agent"][data-state=ready]').waitFor();
  }

  async function closeBeside(): Promise<void> {
    await command(vscode.window.page, 'View: Close Editor');
    await vscode.window.page.locator('iframe.webview').nth(1).waitFor({ state: 'detached' });
  }

  before('a repository, and a turn that changed a file', async () => {
    const git = (...args: string[]): void =>
      void execFileSync('git', ['-c', 'user.name=T', '-c', 'user.email=t@t', ...args], { cwd: vscode.server.folder });
    git('init', '-q');
    writeFileSync(join(vscode.server.folder, 'a.txt'), 'one\ntwo\nthree\n');
    git('add', '.');
    git('commit', '-qm', 'first');
    chat = await Chat.open(vscode.window.page);
    assert.equal(await chat.run(`write ${join(vscode.server.folder, 'first.txt')} first\\n`), 'end_turn');
    assert.equal(await chat.run('own a.txt one\\nTWO\\nthree\\n'), 'end_turn');
    await chat.frame.locator('[data-turn-changes=t2]').getByText('1 file changed').first().waitFor();
  });

  it('gets a message again, with what was said before it, when the user sends it', async () => {
    const message = chat.entries('user').last();
    await message.hover();
    await screenshot(vscode.window.page, 'other-agent-message');
    await message.getByRole('button', { name: 'Retry with another agent…' }).click();
    await chooseSecond();
    assert.equal(await composer().inputValue(), 'own a.txt one\\nTWO\\nthree\\n');
    assert.equal(await beside().locator('[data-kind=user]').count(), 1);
    await screenshot(vscode.window.page, 'other-agent-retry');
    await beside().getByRole('button', { name: 'Model: Small' }).click();
    await beside().getByRole('listbox', { name: 'Model' }).getByText('Large', { exact: true }).click();
    await beside().getByRole('button', { name: 'Model: Large' }).waitFor();
    await composer().press('Enter');
    await beside().getByText('The transcript will be sent with your next message').waitFor();
    await beside().getByText('Heard own a.txt').waitFor();
    await closeBeside();
  });

  it('is asked for a review of a turn, with the model that was chosen last', async () => {
    const line = chat.frame.locator('[data-turn-changes=t2]');
    await line.hover();
    await screenshot(vscode.window.page, 'other-agent-line');
    await line.getByRole('button', { name: 'Review with another agent…' }).click();
    await chooseSecond();
    assert.match(await composer().inputValue(), /^Review the attached changes.* Plain was asked:\n\nown a\.txt/s);
    await beside().getByRole('button', { name: 'Model: Large' }).waitFor();
    await screenshot(vscode.window.page, 'other-agent-review');
    await composer().press('Enter');
    await beside().getByText('Heard Review the attached changes').waitFor();
    await screenshot(vscode.window.page, 'other-agent-reviewed');
  });

  it('continues in a new session with its own summary, which the user sends', async () => {
    const { page } = vscode.window;
    await command(page, 'Parley: Summarize and Continue in New Session');
    const chip = beside().getByRole('list', { name: 'Attachments' }).getByText('Summary of Changes of Turn 2');
    await chip.waitFor();
    assert.equal(await beside().locator('[data-kind=user]').count(), 0);
    await screenshot(page, 'other-agent-summary');
    await composer().fill('go on');
    await composer().press('Enter');
    await beside().getByRole('article', { name: 'Agent' }).getByText('Heard Summarize the session below').waitFor();
    await screenshot(page, 'other-agent-summarized');
    await command(page, 'View: Close Editor');
    await closeBeside();
  });

  it('gets what was typed in a session in which nothing was said, and that session is gone', async () => {
    const { page } = vscode.window;
    await chat.newSession();
    await chat.composer.fill('Fix the parser');
    await chat.selectAgent('Second');
    await chat.frame.locator('.agent-name', { hasText: 'Second' }).waitFor();
    assert.equal(await chat.composer.inputValue(), 'Fix the parser');
    await chat.composer.fill('');
    await chat.selectAgent('Plain');
    await chat.frame.locator('.agent-name', { hasText: 'Plain' }).waitFor();
    await inList(page, 'Parley: Sessions', async (list, patience) => {
      await list.getByText('Changes of Turn 2').first().waitFor(patience);
      await screenshot(page, 'other-agent-sessions');
      assert.equal(await list.getByText('Empty session').count(), 0);
      assert.equal(await list.getByText('Fix the parser').count(), 0);
    });
    await page.keyboard.press('Escape');
  });
});
