// A commit that is mentioned in a message, and a file that is added to a session of choice, in the packaged extension.
import { strict as assert } from 'node:assert';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Chat } from '../support/vscode/chat';
import { screenshot, themes } from '../support/vscode/openWindow';
import { useVsCode } from '../support/vscode/useVsCode';
import { command, openFile, quickInput } from '../support/vscode/workbench';

describe('mentions in the installed extension', function () {
  this.timeout(120_000);
  const vscode = useVsCode({ theme: 'dark', own: true });
  let chat: Chat;

  it('offer commits of the repository, and send message and diff along', async () => {
    const { page } = vscode.window;
    const { folder } = vscode.server;
    const git = (...args: readonly string[]): string =>
      execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=a@example.org', ...args], {
        cwd: folder,
        encoding: 'utf8',
      });
    git('init', '-q');
    writeFileSync(join(folder, 'parser.ts'), 'export const depth = 1;\n');
    git('add', 'parser.ts');
    git('commit', '-qm', 'Add the parser');
    writeFileSync(join(folder, 'parser.ts'), 'export const depth = 2;\n');
    git('commit', '-qam', 'Limit the depth of nested lists');
    git('commit', '-q', '--allow-empty', '-m', '\u202eevil [x](command:workbench.action.quit) $(zap)');
    chat = await Chat.open(page);
    await chat.composer.pressSequentially('@commit');
    const option = chat.frame.getByRole('listbox', { name: 'Mentions' }).getByRole('option');
    await option.filter({ hasText: '⟨U+202E⟩evil [x](command:' }).waitFor();
    await option.filter({ hasText: /Add the parser\s*Ada · now/ }).waitFor();
    await screenshot(page, 'mention-commit-dark');
    vscode.server.configure({ 'workbench.colorTheme': themes.light });
    await page.locator('.monaco-workbench.vs').waitFor();
    await screenshot(page, 'mention-commit-light');
    vscode.server.configure({ 'workbench.colorTheme': themes.dark });
    await page.locator('.monaco-workbench.vs-dark').waitFor();
    await chat.composer.fill('');
    await chat.composer.pressSequentially('/help about @depth-of');
    await option.filter({ hasText: 'Limit the depth' }).waitFor();
    await page.keyboard.press('Tab');
    const hash = git('rev-parse', 'HEAD~1').slice(0, 7);
    assert.equal(await chat.composer.inputValue(), `/help about @${hash} Limit the depth of nested lists `);
    await chat.button(`Remove ${hash} Limit the depth of nested lists`).waitFor();
    await screenshot(page, 'mention-commit-chip-dark');
    await page.keyboard.press('Enter');
    assert.equal(await chat.turnEnd(), 'end_turn');
    await chat.entries('user').last().getByText(`${hash} Limit the depth of nested lists`).last().waitFor();
    await screenshot(page, 'mention-commit-sent-dark');
  });

  it('are added to a session of choice from the menus, with Alt held', async () => {
    const { page } = vscode.window;
    const before = await chat.entries('user').count();
    assert.ok(before > 0);
    const row = page.locator('.explorer-folders-view .monaco-list-row').filter({ hasText: 'parser.ts' });
    await row.waitFor();
    await page.keyboard.down('Alt');
    await row.click({ button: 'right' });
    const item = page.getByRole('menuitem', { name: 'Add to Session…' });
    await item.waitFor();
    await screenshot(page, 'add-to-session-menu-dark');
    await page.keyboard.up('Alt');
    await item.click();
    const list = quickInput(page);
    await list.getByPlaceholder('Select a session').waitFor();
    await screenshot(page, 'add-to-session-dark');
    await list.locator('.monaco-list-row').filter({ hasText: 'New session' }).last().click();
    await chat.button('Remove parser.ts').waitFor();
    assert.equal(await chat.entries('user').count(), 0, 'another session');
    await screenshot(page, 'added-to-session-dark');
  });

  it('are the selection, from the palette', async () => {
    const { page } = vscode.window;
    const rows = quickInput(page).locator('.monaco-list-row');
    await openFile(page, 'parser.ts');
    await page.locator('.editor-instance .view-line').first().click();
    await page.keyboard.press('Control+A');
    await command(page, 'Parley: Add to Session…');
    await rows.filter({ hasText: 'Limit the depth' }).click();
    await chat.button('Remove parser.ts:1').waitFor();
    assert.ok((await chat.entries('user').count()) > 0, 'the first session');
    assert.equal(await chat.frame.getByText('Parley was updated').count(), 0, 'the page was told in order');
    await screenshot(page, 'selection-to-session-dark');
  });
});
