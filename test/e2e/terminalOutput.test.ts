// The last command of a terminal, as a person mentions it in a message and adds it from the terminal's menu.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Chat } from '../support/vscode/chat';
import { screenshot } from '../support/vscode/openWindow';
import { useVsCode } from '../support/vscode/useVsCode';
import { command } from '../support/vscode/workbench';

describe('the output of a terminal in the installed extension', function () {
  this.timeout(120_000);
  const vscode = useVsCode({ theme: 'dark' });

  it('is offered by `@terminal` and by the menu of the terminal, with its exit code', async () => {
    const { page } = vscode.window;
    const { folder } = vscode.server;
    // It waits until it is read.
    writeFileSync(join(folder, 'check.sh'), 'until [ -e go ]; do sleep 0.05; done\necho broken\nexit 3\n');
    const chat = await Chat.open(page);
    await command(page, 'Terminal: Create New Terminal');
    const terminal = page.locator('.terminal-wrapper.active');
    await terminal.locator('.terminal-command-decoration').first().waitFor();
    await terminal.click();
    await page.keyboard.type('bash check.sh\n');
    const offer = chat.frame.getByRole('option', { name: /bash check\.sh/ });
    const offered = async (words: string): Promise<void> => {
      for (;;) {
        await chat.composer.fill('');
        await chat.composer.pressSequentially('@terminal');
        if (await offer.filter({ hasText: words }).isVisible()) return;
      }
    };
    await offered('running');
    writeFileSync(join(folder, 'go'), '');
    await offered('exit 3');
    await screenshot(page, 'terminal-mention-dark');
    await chat.composer.fill('');
    await terminal.click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Add Terminal Output to Parley' }).waitFor();
    await screenshot(page, 'terminal-menu-dark');
    await page.getByRole('menuitem', { name: 'Add Terminal Output to Parley' }).click();
    await chat.frame.getByText('bash check.sh', { exact: true }).waitFor();
    await screenshot(page, 'terminal-added-dark');
  });
});
