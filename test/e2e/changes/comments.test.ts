// Comments on lines of what an agent changed and on its plan, as a person writes them, become one
// message.
import { strict as assert } from 'node:assert';
import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import { plainAgent } from '../../support/agents/definition';
import { Chat } from '../../support/vscode/chat';
import { gitFolder } from '../../support/vscode/gitFolder';
import { screenshot } from '../../support/vscode/openWindow';
import { useVsCode } from '../../support/vscode/useVsCode';
import { command } from '../../support/vscode/workbench';

describe('comments on changes in the installed extension', function () {
  this.timeout(120_000);
  const vscode = useVsCode({
    theme: 'dark',
    settings: {
      ...plainAgent(),
    },
  });
  let chat: Chat;

  before('a repository with a file', async () => {
    gitFolder(vscode.server.folder, { 'a.txt': 'one\ntwo\nthree\n' });
    chat = await Chat.open(vscode.window.page);
    // Only what is written through the client waits for the first state of the folder.
    await chat.run(`write ${join(vscode.server.folder, 'first.txt')} first\\n`);
    await chat.run('own a.txt ONE\\ntwo\\nthree\\n');
  });

  const shown = (selector: string, hasText?: RegExp | string): Locator =>
    vscode.window.page.locator(selector, { ...(hasText !== undefined && { hasText }) }).filter({ visible: true });

  /** Writes a comment on a line of the editor, and leaves it there. */
  async function comment(line: Locator, text: string): Promise<void> {
    const { page } = vscode.window;
    await line.click();
    await command(page, 'Comments: Add Comment on Current Selection');
    await shown('.review-widget .monaco-button', /^Add Comment$/).waitFor();
    await page.keyboard.type(text);
  }

  it('are added to lines of a diff, and go into the message field together', async () => {
    const { page } = vscode.window;
    const bar = chat.frame.getByRole('region', { name: 'Review Changes' });
    await bar.getByRole('button', { name: 'Changed files' }).click();
    await bar.locator('[data-path="a.txt"]').getByRole('button').first().click();
    const lines = page.locator('.monaco-diff-editor .modified .view-line');
    await lines.filter({ hasText: /^ONE$/ }).waitFor();
    await comment(lines.filter({ hasText: /^ONE$/ }), 'Keep the small letters.');
    await shown('.review-widget .monaco-button', /^Add Comment$/).click();
    await shown('.review-widget .comment-body', 'Keep the small letters.').waitFor();
    await shown('.review-widget .monaco-button', /^Add Comment$/).waitFor({ state: 'hidden' });
    await comment(lines.filter({ hasText: 'three' }), 'And explain this line.');
    await screenshot(page, 'comments-dark');
    await shown('.review-widget .monaco-button', /^Add Comment$/).click();
    await shown('.review-widget .comment-body', 'And explain this line.').waitFor();
    await command(page, 'Parley: Take All Comments into the Message');
    await chat.composer.waitFor();
    await shown('.review-widget .comment-body').first().waitFor({ state: 'hidden' });
    await chat.frame.locator('textarea:not(:placeholder-shown)').waitFor();
    const message = await chat.composer.inputValue();
    assert.match(
      message,
      /`a\.txt:1`\n> ONE\n\nKeep the small letters\.\n\n`a\.txt:3`\n> three\n\nAnd explain this line\./,
    );
    await screenshot(page, 'comments-message-dark');
  });
});
