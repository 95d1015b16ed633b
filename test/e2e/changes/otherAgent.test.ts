// A second agent beside the first one, in the installed extension: it reviews a turn, and continues
// in a new session with its own summary.
import { strict as assert } from 'node:assert';
import { join } from 'node:path';
import type { FrameLocator, Locator } from 'playwright-core';
import { scriptedAgent } from '../../support/agents/definition';
import { Chat } from '../../support/vscode/chat';
import { gitFolder } from '../../support/vscode/gitFolder';
import { screenshot } from '../../support/vscode/openWindow';
import { useVsCode } from '../../support/vscode/useVsCode';
import { command, inList, quickInput } from '../../support/vscode/workbench';

describe('another agent in the installed extension', function () {
  this.timeout(120_000);
  const vscode = useVsCode({
    theme: 'dark',
    viewport: { width: 1600, height: 900 },
    settings: {
      'parley.agents': {
        plain: { ...scriptedAgent('plain'), name: 'Plain' },
        second: { ...scriptedAgent({ hears: true }), name: 'Second' },
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

  /** Chooses the second agent in VS Code's list, and waits for it in a separate tab. */
  async function chooseSecond(): Promise<void> {
    const { page } = vscode.window;
    await quickInput(page).locator('.monaco-list-row', { hasText: 'Second' }).first().waitFor();
    await screenshot(page, 'other-agent-list');
    await quickInput(page).locator('input.input').fill('Second');
    await quickInput(page).locator('input.input').press('Enter');
    await beside().locator('.agent-name', { hasText: 'Second' }).waitFor();
    await beside().locator('[role=status][aria-label="Agent"][data-state=ready]').waitFor();
  }

  async function closeBeside(): Promise<void> {
    await command(vscode.window.page, 'View: Close Editor');
    await vscode.window.page.locator('iframe.webview').nth(1).waitFor({ state: 'detached' });
  }

  before('a repository, and a turn that changed a file', async () => {
    gitFolder(vscode.server.folder, { 'a.txt': 'one\ntwo\nthree\n' });
    chat = await Chat.open(vscode.window.page);
    assert.equal(await chat.run(`write ${join(vscode.server.folder, 'first.txt')} first\\n`), 'end_turn');
    assert.equal(await chat.run('own a.txt one\\nTWO\\nthree\\n'), 'end_turn');
    await chat.frame.locator('[data-turn-changes=t2]').getByText('1 file changed').first().waitFor();
  });

  it('is asked for a review of a turn', async () => {
    const line = chat.frame.locator('[data-turn-changes=t2]');
    await line.hover();
    await screenshot(vscode.window.page, 'other-agent-line');
    await line.getByRole('button', { name: 'Review with another agent…' }).click();
    await chooseSecond();
    assert.match(await composer().inputValue(), /^Review the attached changes.* Plain was asked:\n\nown a\.txt/s);
    await screenshot(vscode.window.page, 'other-agent-review');
    await composer().press('Enter');
    await beside().getByText('Heard Review the attached changes').waitFor();
    await screenshot(vscode.window.page, 'other-agent-reviewed');
  });

  it('continues in a new session with its own summary, which the user sends', async () => {
    const { page } = vscode.window;
    await inList(page, 'Parley: Continue with…', (list, patience) =>
      list.locator('.monaco-list-row', { hasText: 'A summary' }).click(patience),
    );
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
});
