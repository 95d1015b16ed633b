// The panel goes away and comes back while the agent writes: hidden behind another tab, reloaded,
// moved. No word may be lost, and what was typed stays.
import { strict as assert } from 'node:assert';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { plainAgent } from '../../support/agents/definition';
import { Chat } from '../../support/vscode/chat';
import { useVsCode } from '../../support/vscode/useVsCode';
import { command, openFile } from '../../support/vscode/workbench';

/**
 * The tab of the panel, called as the first message; the icon of the sessions in the activity bar
 * is one too.
 */
const editorTab = (page: Page): Locator => page.locator('.part.editor').getByRole('tab', { name: /Parley|flood 400/ });

describe('a panel that is hidden, reloaded or moved', () => {
  const vscode = useVsCode({
    settings: {
      ...plainAgent(),
      // A tab that is opened stays beside the chat instead of taking its place.
      'workbench.editor.enablePreview': false,
    },
  });
  let chat: Chat;
  /** The text of an undisturbed answer. */
  let whole: string;

  before('open the chat', async () => {
    writeFileSync(join(vscode.server.folder, 'other.txt'), 'another file\n');
    chat = await Chat.open(vscode.window.page);
    assert.equal(await chat.run('flood 400 0 END'), 'end_turn');
    whole = await chat.copyTurn();
    assert.match(whole, /END-OF-FLOOD-END$/);
  });

  beforeEach('begin an answer of two seconds', async () => {
    await chat.newSession();
    await chat.send('flood 400 200 END');
    await chat.composer.fill('half a thought');
    await chat.entries('agent').first().waitFor();
  });

  /** Everything is there, word for word, once the turn has ended. */
  async function nothingIsLost(): Promise<void> {
    assert.equal(await chat.turnEnd(), 'end_turn');
    await chat.frame.getByText('END-OF-FLOOD-END').last().waitFor();
    assert.equal(await chat.copyTurn(), whole);
    assert.equal(await chat.entries('user').count(), 1);
    assert.equal(await chat.composer.inputValue(), 'half a thought');
    await chat.composer.fill('');
  }

  it('shows updates from while another tab was active', async () => {
    const { page } = vscode.window;
    await openFile(page, 'other.txt');
    await page.locator('.view-line', { hasText: 'another file' }).waitFor();
    await editorTab(page).click();
    await chat.composer.waitFor();
    await nothingIsLost();
  });

  it('shows updates from while the window reloaded its webviews', async () => {
    const { page } = vscode.window;
    await chat.frame.locator('html').evaluate('document.documentElement.dataset.before = "yes"');
    await command(page, 'Developer: Reload Webviews');
    await chat.frame.locator('html:not([data-before])').waitFor();
    await chat.composer.waitFor();
    await nothingIsLost();
  });

  it('shows updates from while it was moved to another column', async () => {
    const { page } = vscode.window;
    await command(page, 'View: Move Editor into Right Group');
    await page.locator('.editor-group-container').nth(1).locator('.tab', { hasText: 'flood 400' }).waitFor();
    await chat.composer.waitFor();
    await nothingIsLost();
  });
});
