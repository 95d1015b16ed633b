// An agent whose window has gone to another folder: it is seen from there, and can be ended.
import { strict as assert } from 'node:assert';
import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { plainAgent, readAgentLog } from '../../support/agents/definition';
import { goneFrom, isAlive } from '../../support/processes';
import { removeFolder } from '../../support/scratch';
import { Chat } from '../../support/vscode/chat';
import { screenshot, themes } from '../../support/vscode/openWindow';
import { useVsCode } from '../../support/vscode/useVsCode';
import { command, inList, showNotifications } from '../../support/vscode/workbench';

const scratch = mkdtempSync(join(tmpdir(), 'parley-running-'));
const log = join(scratch, 'agent.ndjson');

after(() => removeFolder(scratch));

describe('an agent that works without a window', function () {
  this.timeout(120_000);
  const vscode = useVsCode({
    settings: {
      'parley.background': 'finishTurn',
      ...plainAgent(log),
    },
  });

  it('is counted in the status bar of another folder and listed first, and its question is announced', async () => {
    const { page } = vscode.window;
    const chat = await Chat.open(page);
    for (const text of ['wait for the end of the build', 'wait for the tests']) {
      await chat.send(text);
      await chat.state('running');
      await command(page, 'Parley: New Session');
      await chat.entries('user').first().waitFor({ state: 'detached' });
    }
    await chat.state('ready');
    await chat.send('permission');
    await chat.answerable();
    const other = join(scratch, 'other');
    mkdirSync(other);
    const url = new URL(page.url());
    url.searchParams.set('folder', other);
    await page.goto(url.href);
    await command(page, 'Parley: Focus on Sessions View');
    const status = page.locator('.statusbar-item[id="parley.parley.parley.sessions"]');
    await status.getByText('2 agents working').waitFor();
    const rows = page.locator('.pane-body .monaco-list[aria-label^="Sessions"]').getByRole('treeitem');
    // They are looked for one after the other, and until then all of them are earlier ones.
    await page.getByRole('treeitem', { name: /^Needs you/ }).waitFor();
    for (const text of ['permission', 'wait for the tests', 'wait for the end'])
      await rows.filter({ hasText: text }).waitFor();
    const names = await rows.evaluateAll((all) => all.map((row) => row.getAttribute('aria-label') ?? ''));
    const order = ['permission', 'wait for the tests', 'wait for the end'].map((text) =>
      names.findIndex((name) => name.includes(text)),
    );
    assert.deepEqual(
      order,
      [...order].sort((a, b) => a - b),
      names.join('\n'),
    );
    assert.match(names[0] ?? '', /^Needs you/);
    const told = await showNotifications(page);
    await told.getByText('Plain needs you: permission').first().waitFor();
    assert.equal(await told.count(), 1);
    await screenshot(page, 'running-agents-status-dark');
  });

  it('is listed with its activity, and can be ended', async () => {
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
    const list = page.locator('.quick-input-widget:visible');
    await list.getByText('wait for the tests').waitFor();
    await list.getByText('wait for the end').waitFor({ state: 'detached' });
    await page.keyboard.press('Escape');
  });
});
