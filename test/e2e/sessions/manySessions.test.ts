// Many sessions in parallel in the packaged extension: one message to several agents, their list,
// and questions of one window answered in another one.
import { strict as assert } from 'node:assert';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { scriptedAgent } from '../../support/agents/definition';
import { removeFolder } from '../../support/scratch';
import { Chat } from '../../support/vscode/chat';
import { screenshot } from '../../support/vscode/openWindow';
import { useVsCode } from '../../support/vscode/useVsCode';
import { command, inList, quickInput } from '../../support/vscode/workbench';

const agents = Object.fromEntries(
  ['Alpha', 'Beta', 'Gamma'].map((name) => [name.toLowerCase(), { ...scriptedAgent('plain'), name }]),
);

const scratch = mkdtempSync(join(tmpdir(), 'parley-many-'));
after(() => removeFolder(scratch));

/**
 * The secrets of the browser are kept with a key of the server, which this server does not make.
 * The request is answered in the page: routing it would hold up every request, and webviews with
 * them.
 */
const ANSWER_WITH_KEY = `if (window === top) {
  const fetched = window.fetch;
  window.fetch = (request, init) =>
    String(request?.url ?? request).includes('mint-key')
      ? Promise.resolve(new Response(new Uint8Array(32).fill(7)))
      : fetched(request, init);
}`;

const sessions = (page: Page): Locator => page.locator('.pane-body .monaco-list[aria-label^="Sessions"]');
const row = (page: Page, name: RegExp): Locator => sessions(page).getByRole('treeitem', { name });
const status = (page: Page): Locator => page.locator('.statusbar-item[id="parley.parley.parley.sessions"]');

async function askSeveral(page: Page, names: readonly string[], text: string): Promise<void> {
  const box = quickInput(page);
  await inList(page, 'Parley: Ask Several Agents…', async (list, patience) => {
    for (const name of ['Alpha', 'Beta', 'Gamma', 'Demo']) {
      const check = list.locator('.monaco-list-row', { hasText: name }).getByRole('checkbox');
      if (names.includes(name)) await check.check(patience);
      else if ((await check.count()) > 0) await check.uncheck(patience);
    }
    await list
      .getByRole('checkbox', { checked: true })
      .nth(names.length - 1)
      .waitFor(patience);
    await list.getByRole('button', { name: 'OK' }).click(patience);
    await list.getByText('Message to all selected agents').waitFor(patience);
    await list.locator('input.input').fill(text, patience);
    await list.locator('input.input').press('Enter', patience);
  });
  await box.waitFor({ state: 'hidden' });
}

describe('many sessions', function () {
  this.timeout(120_000);
  const vscode = useVsCode({
    theme: 'dark',
    viewport: { width: 1600, height: 900 },
    settings: { 'parley.agents': agents, 'parley.defaultAgent': 'alpha' },
  });

  before('keep the secrets of all windows', async () => {
    const { context, page } = vscode.window;
    await context.addInitScript(ANSWER_WITH_KEY);
    await page.reload();
    await page.locator('.monaco-workbench .part.statusbar').waitFor();
    // One page first: where several come while the browser starts what serves them, one may stay
    // empty.
    await Chat.open(page);
    await command(page, 'View: Close All Editors');
    await page.locator('iframe.webview').waitFor({ state: 'detached' });
  });

  it('get the same message side by side, in a list that starts with those that need the user', async () => {
    const { page } = vscode.window;
    await askSeveral(
      page,
      ['Alpha', 'Beta', 'Gamma'],
      'permission {"toolCall":{"toolCallId":"t1","title":"Run the tests","kind":"execute"}}',
    );
    await page.locator('.editor-group-container').nth(2).waitFor();
    await page.getByRole('tab', { name: /^\? permission.* Gamma/ }).waitFor();
    await page.getByRole('tab', { name: /^\? permission.* Alpha/ }).waitFor();
    await status(page).getByText('3').waitFor();
    // Each frame of a panel has the page in an inner frame.
    for (const frame of await page.locator('iframe.webview.ready').all()) {
      const panel = frame.contentFrame().frameLocator('iframe[title]');
      await panel.getByRole('group', { name: /^Permission:/ }).waitFor();
    }
    assert.equal(await page.locator('iframe.webview.ready').count(), 3);
    const icon = page.locator('.activitybar').getByRole('tab', { name: /^Parley/ });
    await icon.locator('.badge-content', { hasText: '3' }).waitFor();
    await icon.click();
    await row(page, /^Needs you, /).waitFor();
    await row(page, /Asked together: Alpha, Beta, Gamma|Asked together/).waitFor();
    await row(page, /permission.*, Needs you, .*Beta/).waitFor();
    await screenshot(page, 'many-side-by-side-dark');
  });

  it('have the row of the active session selected', async () => {
    const { page } = vscode.window;
    for (const name of ['Alpha', 'Gamma']) {
      await page.getByRole('tab', { name: new RegExp(`^\\? permission.* ${name}`) }).click();
      await sessions(page).locator('.monaco-list-row.selected', { hasText: name }).waitFor();
    }
  });

  it('are answered in another window', async () => {
    const { page, context } = vscode.window;
    const other = await context.newPage();
    const address = new URL(vscode.server.url);
    address.searchParams.set('folder', scratch);
    await other.goto(address.toString());
    await other.locator('.monaco-workbench .part.statusbar').waitFor({ timeout: 60_000 });
    // While this page is in front: one behind another draws nothing.
    const elsewhere = await Chat.open(other);
    assert.equal(await elsewhere.run('say Written in another window'), 'end_turn');
    await inList(other, 'Parley: Show Open Questions of All Windows', async (list, patience) => {
      await list.locator('.monaco-list-row', { hasText: 'Beta' }).waitFor(patience);
      await screenshot(other, 'many-inbox-dark');
      await list.locator('.monaco-list-row', { hasText: 'Beta' }).click(patience);
      await list.getByText('Back', { exact: true }).waitFor(patience);
      await screenshot(other, 'many-inbox-question-dark');
      const focused = list.locator('.monaco-list-row.focused');
      assert.match((await focused.innerText()).trim(), /Back/, 'no answer has the focus');
      await list.locator('.monaco-list-row', { hasText: 'Allow' }).first().click(patience);
    });
    await page.bringToFront();
    await row(page, /permission.*, (Ready|Ready, unread), Beta/).waitFor();
  });
});
