// Text of agents in VS Code's own interface, in the installed extension: in its notifications, lists and dialogs it is text, whatever it looks like.
import { strict as assert } from 'node:assert';
import { scriptedAgent } from '../support/agents/definition';
import type { Chat } from '../support/vscode/chat';
import { useChat } from '../support/vscode/useChat';
import { command, inList } from '../support/vscode/workbench';

const LINK = '[Open](command:workbench.action.files.newUntitledFile)';
const NAME = `$(zap~spin) ${LINK}`;

describe('text of an agent outside of the panel', () => {
  const agents = { plain: { ...scriptedAgent('plain'), name: NAME } };
  let chat: Chat;
  const vscode = useChat({ settings: { 'parley.agents': agents, 'parley.defaultAgent': 'plain' } }, (opened) => {
    chat = opened;
  });

  it('appears in the transcript where a link of the agent cannot be opened', async () => {
    await chat.run(`say See [the report](</x/${LINK}>).`);
    await chat.frame.getByRole('link', { name: 'the report' }).click();
    await chat.entries('notice').getByText("doesn't exist").waitFor();
    assert.equal(await vscode.window.page.locator('.notifications-toasts .notification-list-item').count(), 0);
  });

  it('is plain in the list of agents', async () => {
    const { page } = vscode.window;
    const row = await inList(page, 'Parley: Select Agent', async (list, patience) => {
      await list.getByPlaceholder('Select an agent').waitFor(patience);
      const one = list.locator('.monaco-list-row', { hasText: 'newUntitledFile' });
      return { text: await one.textContent(patience), icons: await one.locator('.codicon-zap').count() };
    });
    assert.equal(row.icons, 0);
    assert.match(row.text ?? '', /\[Open\]/);
    await page.keyboard.press('Escape');
  });

  it('is plain in a notification, which appears once', async () => {
    const { page } = vscode.window;
    await chat.send('read /etc/hostname');
    await chat.frame.locator('.question', { hasText: 'to read a file outside its folders?' }).waitFor();
    await command(page, 'Parley: Continue with Another Agent…');
    await command(page, 'Notifications: Show Notifications');
    const item = page.locator('.notifications-center .notification-list-item', { hasText: 'still working' });
    await item.waitFor();
    assert.equal(await item.count(), 1);
    assert.match((await item.textContent()) ?? '', /\[Open\]/);
    assert.equal(await item.locator('.notification-list-item-message a').count(), 0);
    assert.equal(await item.locator('.codicon-zap').count(), 0);
    assert.equal(await page.locator('.monaco-dialog-box').count(), 0);
  });
});
