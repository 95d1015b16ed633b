// A session that is copied as a link in one window and opened in another, which is to it what another machine is.
import { strict as assert } from 'node:assert';
import type { Locator, Page } from 'playwright-core';
import { scriptedAgent } from '../../support/agents/definition';
import { Chat } from '../../support/vscode/chat';
import { screenshot } from '../../support/vscode/openWindow';
import { useChat } from '../../support/vscode/useChat';
import { chooseInList, command, copied, quickInput } from '../../support/vscode/workbench';

const settings = {
  'parley.agents': { plain: { ...scriptedAgent('plain'), name: 'Plain' } },
  'parley.defaultAgent': 'plain',
};

const agentSaid = (chat: Chat, text: string): Locator => chat.entries('agent').getByText(text, { exact: true });

/** Answers the question that VS Code asks in the middle of the window. */
async function answer(page: Page, question: string, button: string): Promise<void> {
  const dialog = page.getByRole('dialog').filter({ hasText: question });
  await dialog.getByRole('button', { name: button, exact: true }).click();
  await dialog.waitFor({ state: 'detached' });
}

describe('a shared session', () => {
  let chat: Chat;
  const vscode = useChat({ theme: 'dark', settings }, (opened) => {
    chat = opened;
  });

  it('arrives whole in another window', async () => {
    const { page } = vscode.window;
    assert.equal(await chat.run('say The first answer'), 'end_turn');
    assert.equal(await chat.run('say The second answer'), 'end_turn');
    const link = await copied(page, async () => {
      await chooseInList(page, 'Parley: Copy Session Link', 'Copy the session as', 'Link');
      await answer(page, "This session can't be opened on another machine.", 'Copy');
    });
    assert.match(link, /^[a-z-]+:\/\/parley\.parley\/session\?d=/);

    const other = await vscode.window.context.newPage();
    await other.goto(vscode.server.url);
    await other.locator('.monaco-workbench .part.statusbar').waitFor({ timeout: 60_000 });
    await command(other, 'Parley: Open Session from Link…');
    const box = quickInput(other);
    await box.getByText('Session link, descriptor').waitFor();
    await box.locator('input.input').fill(link);
    await box.locator('input.input').press('Enter');
    const opened = await Chat.at(other, 'panel');
    // A page of this VS Code keeps its secrets to itself, so its window is to the first one what another machine is.
    await answer(other, 'Read this session from', 'Allow Once');
    await opened.entries('notice').filter({ hasText: 'Plain continues from here' }).waitFor();
    await agentSaid(opened, 'The first answer').waitFor();
    await agentSaid(opened, 'The second answer').waitFor();
    assert.equal(await opened.entries('user').count(), 2);
    await screenshot(other, 'opened-dark');
    await other.close();
  });
});
