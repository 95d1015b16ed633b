// A permission rule from the question to its removal, with a real agent process: offered, saved,
// answering what is the same and nothing that only looks so, shown, and removed.
import { strict as assert } from 'node:assert';
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
  const marks = () => chat.frame.getByText('Allowed by rule “execute: npm test”');
  /** Who allowed a call is said in the opened one. */
  const openCall = () => chat.entries('tool').last().locator('.row').click();
  const rows = () => quickInput(vscode.window.page).locator('.monaco-list-row');

  it('is saved after a dialog that explains it and shows what it would have allowed', async () => {
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
  });

  it('answers the next matching request, as the transcript notes, and no disguised one', async () => {
    await ask('npm test');
    assert.equal(await chat.turnEnd(), 'end_turn');
    await openCall();
    await marks().waitFor();
    assert.equal(await chat.permission.count(), 0);
    for (const line of ['npm test; rm -rf build', 'npm test $(id)']) {
      await ask(line);
      await chat.answer('Reject');
      await chat.turnEnd();
    }
    assert.equal(await marks().count(), 1);
  });

  it('is found from the transcript, and removed after a confirmation', async () => {
    await chat.newSession();
    await ask('npm test');
    await chat.turnEnd();
    await openCall();
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
});
