// The first minutes of a person with the installed extension: the chat opens, the demo agent answers, the turn visibly ends.
import { strict as assert } from 'node:assert';
import { screenshot } from '../support/vscode/openWindow';
import { useVsCode } from '../support/vscode/useVsCode';
import { chatReady, command, sendMessage, turnEnd } from '../support/vscode/workbench';

describe('the chat in VS Code', () => {
  const vscode = useVsCode({ theme: 'dark' });

  it('cannot be found if the palette does not open it', async () => {
    await command(vscode.window.page, 'Parley: Open Chat');
    const frame = await chatReady(vscode.window.page, 'panel');
    await frame.getByRole('log', { name: 'Conversation' }).waitFor();
    await frame.getByRole('status', { name: 'Agent' }).waitFor();
    await frame.getByRole('button', { name: 'Send', exact: true }).waitFor();
    await screenshot(vscode.window.page, 'chat-empty-dark');
  });

  it('is of no use if the agent that ships with it does not answer', async () => {
    const frame = await chatReady(vscode.window.page, 'panel');
    await sendMessage(frame, 'Hello');
    assert.equal(await turnEnd(frame), 'end_turn');
    await frame.locator('[role=article][data-kind=user]').getByText('Hello').waitFor();
    await frame.locator('[role=article][data-kind=agent]').first().waitFor();
    await screenshot(vscode.window.page, 'chat-dark');
  });

  it('cannot stand beside the code if the view does not open', async () => {
    await command(vscode.window.page, 'Parley: Focus on Chat View');
    await chatReady(vscode.window.page, 'view');
    await screenshot(vscode.window.page, 'chat-view-dark');
  });

  it('goes on costing memory after the window is closed if a process is left behind', async () => {
    await vscode.window.close();
    assert.deepEqual(await vscode.server.stop(), []);
  });
});
