// Where a person who has just installed Parley finds it, and its settings, in the window.
import { strict as assert } from 'node:assert';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeFolder } from '../support/scratch';
import { useVsCode } from '../support/vscode/useVsCode';
import { chatReady, command } from '../support/vscode/workbench';

describe('the chat', () => {
  // With its file from the start: the Explorer of a window that opens misses what comes just then.
  const folder = mkdtempSync(join(tmpdir(), 'parley-entry-'));
  writeFileSync(join(folder, 'notes.md'), 'Notes\n');
  const vscode = useVsCode({ settings: { 'parley.defaultAgent': 'demo' }, folder });

  after(() => removeFolder(folder));

  it('is opened by the button above an editor', async () => {
    const { page } = vscode.window;
    await page.locator('.explorer-folders-view').getByText('notes.md').dblclick();
    await page.locator('.editor-actions').getByRole('button', { name: 'Focus Chat' }).click();
    await chatReady(page, 'panel');
  });

  it('is brought back by the item in the status bar, which is there at rest', async () => {
    const { page } = vscode.window;
    await page.locator('.tab', { hasText: 'notes.md' }).click();
    await page.locator('.tab.active', { hasText: 'notes.md' }).waitFor();
    await page
      .locator('.statusbar')
      .getByRole('button', { name: /Parley/ })
      .click();
    await page.locator('.tab.active', { hasText: 'Parley' }).waitFor();
  });

  it('has its settings among those of the machine it runs on', async () => {
    const { page } = vscode.window;
    await command(page, 'Parley: Open Settings');
    const editor = page.locator('.settings-editor');
    await editor.getByText('Default Agent').first().waitFor();
    const target = editor.locator('.settings-target-container .action-label.checked');
    assert.match(await target.innerText(), /^Remote/);
  });
});
