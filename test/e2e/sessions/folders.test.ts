// A workspace of several folders: the user sees in which one a session works, and selects another
// one.
import { strict as assert } from 'node:assert';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { scriptedAgent } from '../../support/agents/definition';
import { removeFolder } from '../../support/scratch';
import { Chat } from '../../support/vscode/chat';
import { screenshot } from '../../support/vscode/openWindow';
import { useVsCode } from '../../support/vscode/useVsCode';
import { quickInput } from '../../support/vscode/workbench';

const scratch = mkdtempSync(join(tmpdir(), 'parley-folders-'));

after(() => removeFolder(scratch));

describe('a workspace of several folders', () => {
  const agents = ['Plain', 'Other'].map((name) => [name.toLowerCase(), { ...scriptedAgent('plain'), name }]);
  const vscode = useVsCode({
    theme: 'dark',
    settings: { 'parley.agents': Object.fromEntries(agents), 'parley.defaultAgent': 'plain' },
  });

  it('shows the folder of a session, and keeps the draft when another is selected', async () => {
    const names = ['server', 'client'];
    for (const name of names) mkdirSync(join(scratch, name));
    const workspace = join(scratch, 'all.code-workspace');
    writeFileSync(workspace, JSON.stringify({ folders: names.map((path) => ({ path })) }));
    const { page } = vscode.window;
    const url = new URL(vscode.server.url);
    url.search = '';
    url.searchParams.set('workspace', workspace);
    await page.goto(url.toString());
    await page.locator('.monaco-workbench .part.statusbar').waitFor({ timeout: 60_000 });

    const chat = await Chat.open(page);
    await chat.composer.fill('Fix the parser');
    await chat.button('Folder: server. Select another…').click();
    const list = quickInput(page);
    await list.locator('.monaco-list-row', { hasText: 'client' }).waitFor();
    await screenshot(page, 'select-folder-dark');
    await list.locator('.monaco-list-row', { hasText: 'client' }).click();
    await chat.button('Folder: client. Select another…').waitFor();
    assert.equal(await chat.composer.inputValue(), 'Fix the parser');

    await chat.selectAgent('Other');
    await chat.button('Folder: client. Select another…').waitFor();
    assert.equal(await chat.composer.inputValue(), 'Fix the parser');
  });
});
