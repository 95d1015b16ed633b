// A question that comes while its chat is behind another tab, answered with the buttons of its
// notification. Each question follows from the answer to the one before it.
import { strict as assert } from 'node:assert';
import { setTimeout as delay } from 'node:timers/promises';
import type { Locator } from 'playwright-core';
import { scriptedAgent } from '../../support/agents/definition';
import type { Chat } from '../../support/vscode/chat';
import { screenshot, themes } from '../../support/vscode/openWindow';
import { useChat } from '../../support/vscode/useChat';
import { command, inList, showNotifications } from '../../support/vscode/workbench';

/** With what VS Code would make a link of, and with a word that is longer than a line. */
const LONG = `git log --format=[%h](%an) -- ${'src/workbench/overview/'.repeat(4)} ${'test '.repeat(5)}end`;

function asks(line: string, id: string): string {
  return `permission ${JSON.stringify({ toolCall: { toolCallId: id, title: 'npm test', kind: 'execute', rawInput: { command: line } } })}`;
}

describe('the notification about a question', function () {
  this.timeout(120_000);
  const agents = { plain: { ...scriptedAgent('plain'), name: 'Plain' } };
  const settings = { 'parley.agents': agents, 'parley.defaultAgent': 'plain', 'parley.notificationSound': true };
  let chat: Chat;
  const vscode = useChat({ theme: 'dark', settings }, (opened) => {
    chat = opened;
  });

  async function told(text: string): Promise<Locator> {
    const all = await showNotifications(vscode.window.page);
    const one = all.filter({ hasText: text }).first();
    await one.waitFor();
    return one;
  }

  /** Answers in the list of open questions: the chat stays behind the other tab. */
  async function answerInList(answer: string): Promise<void> {
    await inList(vscode.window.page, 'Parley: Show Open Questions of All Windows', async (list, patience) => {
      await list.locator('.monaco-list-row', { hasText: 'Plain' }).click(patience);
      await list.locator('.monaco-list-row', { hasText: answer }).first().click(patience);
    });
  }

  it('shows a command and answers with its buttons, each for the question that it showed', async () => {
    const { page } = vscode.window;
    const steps = ['permission', asks('npm test', 'b'), asks(LONG, 'c'), asks('ls\nrm -rf /', 'd')];
    await chat.send(steps.join('\n'));
    await chat.answerable();
    await command(page, 'File: New Untitled Text File');
    await answerInList('Reject');

    const short = await told('Plain wants to run: npm test');
    assert.deepEqual(
      await short
        .getByRole('button')
        .allInnerTexts()
        .then((all) => all.filter(Boolean)),
      ['Show', 'Allow', 'Reject'],
    );
    await screenshot(page, 'notification-answers-dark');
    // A button that is pressed sooner shows the session.
    await delay(500);
    await short.getByRole('button', { name: 'Allow', exact: true }).click();

    const long = await told('Plain wants to run: git log');
    assert.equal(await long.locator('.notification-list-item-message a').count(), 0, 'nothing in it is a link');
    vscode.server.configure({ 'workbench.colorTheme': themes.light });
    await page.locator('.monaco-workbench.vs').waitFor();
    await screenshot(page, 'notification-answers-long-light');
    await answerInList('Reject');

    const other = await told('Plain needs you');
    assert.equal(await other.getByRole('button', { name: 'Allow' }).count(), 0);
    // The question of the older notification has its answer, and another one is open.
    await long.getByRole('button', { name: 'Allow', exact: true }).click();
    await told('This question is no longer open.');
    await chat.answer('Reject');
    await chat.turnEnd();
    const said = await chat.entries('agent').allInnerTexts();
    assert.deepEqual(
      said.join('\n').match(/"optionId":"\w+"/g),
      ['reject', 'allow', 'reject', 'reject'].map((id) => `"optionId":"${id}"`),
    );
  });

  it('has a sound where a chat is visible', async () => {
    const { page } = vscode.window;
    await chat.send(['permission', asks('npm run build', 'e')].join('\n'));
    await chat.answerable();
    await command(page, 'Parley: New Session');
    await chat.entries('user').first().waitFor({ state: 'detached' });
    const body = chat.frame.locator('body');
    await body.evaluate((element) => {
      const { start } = AudioScheduledSourceNode.prototype;
      AudioScheduledSourceNode.prototype.start = function (when) {
        element.dataset.tones = String(Number(element.dataset.tones ?? 0) + 1);
        start.call(this, when);
      };
    });
    await answerInList('Reject');
    const question = await told('Plain wants to run: npm run build');
    await chat.frame.locator('body[data-tones="2"]').waitFor();
    await question.getByRole('button', { name: 'Show' }).click();
    await chat.answer('Reject');
    await chat.turnEnd();
  });
});
