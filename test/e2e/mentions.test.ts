// A file that is added to a session of choice from the menus of VS Code.
import { strict as assert } from 'node:assert';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Chat } from '../support/vscode/chat';
import { screenshot } from '../support/vscode/openWindow';
import { useVsCode } from '../support/vscode/useVsCode';
import { quickInput } from '../support/vscode/workbench';

describe('mentions in the installed extension', function () {
  this.timeout(120_000);
  const vscode = useVsCode({ theme: 'dark', own: true });
  it('are added to a session of choice from the menus, with Alt held', async () => {
    const { page } = vscode.window;
    writeFileSync(join(vscode.server.folder, 'parser.ts'), 'export const depth = 1;\n');
    const chat = await Chat.open(page);
    assert.equal(await chat.run('/help'), 'end_turn');
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
});
