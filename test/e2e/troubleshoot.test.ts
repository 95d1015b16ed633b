// The traffic on the wire and a recording of it, as a person uses them in the packaged extension.
import { strict as assert } from 'node:assert';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import { Chat } from '../support/vscode/chat';
import { screenshot } from '../support/vscode/openWindow';
import { useVsCode } from '../support/vscode/useVsCode';
import { command, quickInput, toolFrame } from '../support/vscode/workbench';

describe('troubleshooting', () => {
  const vscode = useVsCode({
    own: true,
    theme: 'dark',
    viewport: { width: 1400, height: 900 },
    settings: { 'parley.defaultAgent': 'demo' },
  });
  const list = (): Locator => quickInput(vscode.window.page);
  const row = (text: string): Locator => list().locator('.monaco-list-row', { hasText: text }).first();
  /**
   * Types into VS Code's own file dialog, which reads the folder first, and has the whole of it
   * then.
   */
  const typePath = async (path: string): Promise<void> => {
    const input = list().locator('input.input');
    while (!(await input.inputValue()).includes(vscode.server.folder))
      await vscode.window.page.evaluate('new Promise(requestAnimationFrame)');
    await input.fill(path);
    // Enter takes the row that has the focus, and for a moment that is still the folder above.
    await list()
      .locator('.monaco-list-row.focused', { hasText: /^\.\.$/ })
      .waitFor({ state: 'detached' });
    await input.press('Enter');
    // It looks at the path before it closes, and gives up if another list is opened before that.
    await list().getByRole('textbox', { name: 'Folder path' }).waitFor({ state: 'hidden' });
  };

  it('shows messages as they are sent, saves them as a recording and plays it back', async function () {
    this.timeout(120_000);
    const { page } = vscode.window;
    const chat = await Chat.open(page);
    assert.equal(await chat.run('hello'), 'end_turn');
    await command(page, 'Parley: Show Protocol Traffic');
    const inspector = toolFrame(page);
    await inspector.locator('.traffic-rows [role=row]').first().waitFor({ timeout: 30_000 });
    assert.equal(await chat.run('/plan'), 'end_turn');
    await inspector.getByRole('combobox', { name: 'Method' }).selectOption({ label: 'session/prompt' });
    await inspector.locator('.traffic-count', { hasText: '4 of' }).waitFor();
    await inspector.locator('.traffic-rows [role=row]').last().click();
    await inspector.locator('.traffic-content', { hasText: 'end_turn' }).waitFor();
    await inspector.getByRole('button', { name: 'Go to request' }).click();
    await inspector.locator('.traffic-content', { hasText: '/plan' }).waitFor();
    await inspector.getByRole('combobox', { name: 'Method' }).selectOption({ label: 'All methods' });
    const turns = inspector.getByRole('grid', { name: 'Turns' });
    assert.equal(await turns.getByRole('row').count(), 2);
    await turns.getByRole('row').last().getByRole('gridcell', { name: 'Response' }).click();
    await inspector.locator('.traffic-content', { hasText: 'end_turn' }).waitFor();
    await inspector.getByRole('grid', { name: 'Messages' }).focus();
    await screenshot(page, 'traffic-dark');
    const path = join(vscode.server.folder, 'session.ndjson');
    await inspector.getByRole('combobox', { name: 'Session' }).selectOption({ index: 1 });
    await inspector.getByRole('button', { name: 'Export recording…' }).click();
    await typePath(path);
    await command(page, 'Notifications: Show Notifications');
    await page
      .locator('.notifications-center')
      .getByText(/^Saved \d+ messages/)
      .waitFor();
    await command(page, 'Notifications: Clear All Notifications');
    const lines = readFileSync(path, 'utf8').trim().split('\n');
    assert.ok(lines.length > 6, `${lines.length} lines`);
    const { turns: exported } = JSON.parse(lines.at(-1) ?? '') as { turns: { marks: { kind: string }[] }[] };
    assert.deepEqual(
      exported.map(({ marks }) => [marks[0]?.kind, marks.at(-1)?.kind]),
      [
        ['sent', 'settled'],
        ['sent', 'settled'],
      ],
    );
    await inspector.getByRole('button', { name: 'Open recording…' }).click();
    await typePath(path);
    await row('Show all at once').click();
    await chat.frame.getByText('This is a recording.').waitFor({ timeout: 30_000 });
    await chat.entries('user').getByText('/plan').waitFor();
    await chat.entries('plan').waitFor();
    await inspector.getByRole('combobox', { name: 'Session' }).selectOption({ label: 'All sessions' });
    await turns.getByRole('row').nth(3).waitFor();
    await screenshot(page, 'recording-dark');
  });
});
