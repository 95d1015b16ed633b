// An agent whose window has gone to another folder: it is seen from there, and can be ended.
import { strict as assert } from 'node:assert';
import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readAgentLog, scriptedAgent } from '../../support/agents/definition';
import { goneFrom, isAlive } from '../../support/processes';
import { removeFolder } from '../../support/scratch';
import { Chat } from '../../support/vscode/chat';
import { screenshot, themes } from '../../support/vscode/openWindow';
import { useVsCode } from '../../support/vscode/useVsCode';
import { command, inList } from '../../support/vscode/workbench';

const scratch = mkdtempSync(join(tmpdir(), 'parley-running-'));
const log = join(scratch, 'agent.ndjson');

after(() => removeFolder(scratch));

describe('an agent that works without a window', function () {
  this.timeout(120_000);
  const vscode = useVsCode({
    settings: {
      'parley.agents': { plain: { ...scriptedAgent('plain', log), name: 'Plain' } },
      'parley.defaultAgent': 'plain',
      'parley.background': 'finishTurn',
    },
  });

  it('counts in the status bar of another folder, and is first among the sessions', async () => {
    const { page } = vscode.window;
    const chat = await Chat.open(page);
    await chat.send('wait for the end of the build');
    await chat.state('running');
    const other = join(scratch, 'other');
    mkdirSync(other);
    const url = new URL(page.url());
    url.searchParams.set('folder', other);
    await page.goto(url.href);
    await command(page, 'Parley: Focus on Sessions View');
    await page.locator('.statusbar-item[id="parley.parley.parley.sessions"]').getByText('1').waitFor();
    const rows = page.locator('.pane-body .monaco-list[aria-label^="Sessions"]').getByRole('treeitem');
    await rows.filter({ hasText: 'wait for the end' }).waitFor();
    await rows
      .first()
      .and(page.getByRole('treeitem', { name: /^Working/ }))
      .waitFor();
  });

  it('is listed with what it does, and ends when the user wants it', async () => {
    const { page } = vscode.window;
    const agent = readAgentLog(log).find(({ ev }) => ev === 'start')?.pid ?? 0;
    assert.ok(isAlive(agent));
    await inList(page, 'Parley: Running Agents', async (list, patience) => {
      const row = list.locator('.monaco-list-row', { hasText: 'wait for the end' });
      await row.getByText('Working, no window').waitFor(patience);
      for (const theme of ['light', 'dark'] as const) {
        vscode.server.configure({ 'workbench.colorTheme': themes[theme] });
        await page.locator(`.monaco-workbench.vs${theme === 'dark' ? '-dark' : ''}`).waitFor(patience);
        await screenshot(page, `running-agents-${theme}`);
      }
      await row.hover(patience);
      await row.getByRole('button', { name: 'End Agent' }).click(patience);
    });
    await goneFrom(agent);
    await page.locator('.quick-input-widget:visible').getByText('No agents run without a window').waitFor();
    await page.keyboard.press('Escape');
  });
});
