// A permission rule from the question to its removal, with a real agent process: offered, saved,
// answering what is the same and nothing that only looks so, shown, and removed.
import { strict as assert } from 'node:assert';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { scriptedAgent } from '../../support/agents/definition';
import type { Chat } from '../../support/vscode/chat';
import { screenshot } from '../../support/vscode/openWindow';
import { useChat } from '../../support/vscode/useChat';
import { inList, quickInput } from '../../support/vscode/workbench';

describe('a permission rule', function () {
  this.timeout(120_000);
  const agents = { plain: { ...scriptedAgent('plain'), name: 'Plain' } };
  const settings = { 'parley.agents': agents, 'parley.defaultAgent': 'plain' };
  let chat: Chat;
  const vscode = useChat({ theme: 'light', settings }, (opened) => {
    chat = opened;
  });
  let calls = 0;

  /** Has the agent ask for a command that it calls `npm test`. */
  async function ask(line: string): Promise<string> {
    const id = `call${++calls}`;
    const toolCall = { toolCallId: id, title: 'npm test', kind: 'execute', rawInput: { command: line } };
    await chat.send(`permission ${JSON.stringify({ toolCall })}`);
    return id;
  }

  const dialog = () => vscode.window.page.locator('.monaco-dialog-box');
  const marks = () => chat.frame.getByTitle('Allowed by rule “execute: npm test”');
  const rows = () => quickInput(vscode.window.page).locator('.monaco-list-row');

  it('is saved after a dialog that shows what it means and would have allowed', async () => {
    await ask('rm -rf build');
    await chat.answer('Reject');
    await chat.turnEnd();
    await ask('npm test');
    await chat.answerable();
    await chat.button('Allow `npm test` in this folder…').click();
    await dialog().getByText('Always allow agents to run “npm test”?').waitFor();
    await dialog().getByText("The rule wouldn't have allowed your only earlier request.").waitFor();
    await screenshot(vscode.window.page, 'rule-dialog-light');
    await dialog().getByRole('button', { name: 'Save Rule' }).click();
    assert.equal(await chat.turnEnd(), 'end_turn');
    await chat.frame.locator('textarea:focus').waitFor();
    await vscode.window.page.keyboard.type('typed');
    assert.equal(await chat.composer.inputValue(), 'typed');
    await chat.composer.clear();
    await chat.entries('agent').getByText('allow', { exact: false }).last().waitFor();
  });

  it('answers the next request for the same, which the transcript says, and none that lies', async () => {
    await ask('npm test');
    assert.equal(await chat.turnEnd(), 'end_turn');
    await marks().waitFor();
    assert.equal(await chat.permission.count(), 0);
    for (const line of ['npm test; rm -rf build', 'npm test && id', 'npm  test\nid', 'npm test $(id)']) {
      await ask(line);
      await chat.answer('Reject');
      await chat.turnEnd();
    }
    assert.equal(await marks().count(), 1);
  });

  it('knows requests of stored sessions when another one is made', async () => {
    await chat.newSession();
    await ask('npm run build');
    await chat.answerable();
    await chat.button('Allow `npm run build` in this folder…').click();
    await dialog().getByText('The rule would have allowed 0 of your last 7 requests.').waitFor();
    await dialog().getByRole('button', { name: 'Cancel' }).click();
    await chat.answer('Reject');
    await chat.turnEnd();
  });

  it('is found from the transcript, and removed after a question', async () => {
    await ask('npm test');
    await chat.turnEnd();
    const { page } = vscode.window;
    const show = () => chat.frame.getByRole('button', { name: 'Show rule “execute: npm test”' }).click();
    await inList(page, show, async (_list, patience) => {
      await rows()
        .filter({ hasText: /Allow · Commands · since \d{4}-\d\d-\d\d/ })
        .and(page.locator('.focused'))
        .waitFor(patience);
      await screenshot(page, 'rules-light');
      await page.keyboard.press('Enter');
      await dialog().getByText('Remove the rule about “npm test”?').waitFor(patience);
    });
    await dialog().getByRole('button', { name: 'Remove' }).click();
    await rows().filter({ hasText: 'The rule “execute: npm test” no longer exists.' }).waitFor();
    await rows().filter({ hasText: 'No rules: agents’ requests are always shown to you.' }).waitFor();
    await page.keyboard.press('Escape');
    await ask('npm test');
    await chat.answer('Reject');
    await chat.turnEnd();
  });

  it('is one of those that the command lists', async () => {
    const { page } = vscode.window;
    vscode.server.configure({ 'parley.permissions': [] });
    await inList(page, 'Parley: Manage Permission Rules…', async (list, patience) => {
      await list.getByPlaceholder('Select a rule to remove it').waitFor(patience);
      await rows().filter({ hasText: 'Edit Rules in Settings' }).waitFor(patience);
    });
    await page.keyboard.press('Escape');
  });

  it('stands beside what agents remember themselves, which leads to its session', async () => {
    const { page } = vscode.window;
    await chat.newSession();
    const toolCall = { toolCallId: 'lint', title: 'npm run lint', kind: 'execute' };
    const options = [{ optionId: 'always', name: 'Always Allow', kind: 'allow_always' }];
    await chat.send(`permission ${JSON.stringify({ toolCall, options })}`);
    await chat.answer('Always Allow');
    await chat.turnEnd();
    await chat.newSession();
    await inList(page, 'Parley: Manage Permission Rules…', async (_list, patience) => {
      const row = rows().filter({ hasText: 'Always Allow · Plain' });
      await row.waitFor(patience);
      await screenshot(page, 'kept-answers-light');
      await row.click(patience);
    });
    await chat.entries('user').getByText('npm run lint').waitFor();
  });

  it('is not needed to tell the agent why something was rejected', async () => {
    await chat.newSession();
    await ask('npm test');
    await chat.send('say queued');
    await chat.answerable();
    await chat.button('Reject with a reason…').click();
    await chat.frame.getByRole('textbox', { name: 'Reason' }).fill('say use pnpm');
    await chat.answerable();
    await screenshot(vscode.window.page, 'reject-reason-light');
    await chat.button('Reject and send').click();
    for (const _turn of [1, 2, 3]) assert.equal(await chat.turnEnd(), 'end_turn');
    const said = (await chat.entries('user').allTextContents()).map((text) => text.trim());
    assert.deepEqual(said.slice(1), ['say use pnpm', 'say queued']);
  });

  it('is not needed to change what the agent wants to write', async () => {
    const { page } = vscode.window;
    const path = join(vscode.server.folder, 'greeting.txt');
    writeFileSync(path, 'Hello\nWorld\n');
    await chat.newSession();
    const content = [{ type: 'diff', path, oldText: 'Hello', newText: 'Good morning' }];
    const toolCall = { toolCallId: 'edit1', title: 'Edit greeting.txt', kind: 'edit', content };
    await chat.send(`permission ${JSON.stringify({ toolCall })}`);
    await chat.answerable();
    await chat.button('Edit the change…').click();
    const proposed = page.locator('.monaco-diff-editor .modified .view-line', { hasText: /^Good.morning$/ });
    await proposed.click();
    await page.keyboard.press('End');
    await page.keyboard.type(', dear');
    await screenshot(page, 'edit-proposal-light');
    await page.getByRole('button', { name: 'Use My Version' }).click();
    for (const _turn of [1, 2]) assert.equal(await chat.turnEnd(), 'end_turn');
    assert.equal(readFileSync(path, 'utf8'), 'Good morning, dear\nWorld\n');
    const said = (await chat.entries('user').last().textContent()) ?? '';
    assert.match(said, /^I edited your change of .*greeting\.txt and saved it myself/);
    assert.match(said, /-Good morning\s*\+Good morning, dear/);
    // The tab of the chat is called as the message.
    await page.getByRole('tab', { name: /^(?!permission ).*greeting\.txt/ }).waitFor({ state: 'detached' });
    await screenshot(page, 'edit-proposal-done-light');
  });
});
