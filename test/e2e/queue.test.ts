// Messages that are written while the agent works: seen, changed, put in order, sent when their turn has come, and never against the user's will.
import { strict as assert } from 'node:assert';
import { scriptedAgent } from '../support/agents/definition';
import type { Chat } from '../support/vscode/chat';
import { screenshot } from '../support/vscode/openWindow';
import { useChat } from '../support/vscode/useChat';

describe('the queue', () => {
  const agents = { plain: { ...scriptedAgent('plain'), name: 'Plain' } };
  const settings = { 'parley.agents': agents, 'parley.defaultAgent': 'plain' };
  let chat: Chat;
  const vscode = useChat({ theme: 'dark', settings }, (opened) => {
    chat = opened;
  });

  beforeEach('begin a turn that ends when it is stopped', async () => {
    await chat.newSession();
    await chat.send('say Working.\nwait');
    await chat.entries('agent').getByText('Working.').waitFor();
  });

  const item = (text: string) => chat.queue.filter({ hasText: text });
  const texts = (): Promise<string[]> => chat.queue.locator('.queue-text').allTextContents();

  /** The messages of the user in the order in which they were sent. */
  async function sent(): Promise<string[]> {
    return (await chat.entries('user').allTextContents()).map((text) => text.trim());
  }

  async function press(text: string, button: string): Promise<void> {
    await item(text).hover();
    await item(text).getByRole('button', { name: button }).click();
  }

  it('holds messages that are sent while a turn runs', async () => {
    await chat.button('Queue').waitFor();
    await chat.send('say one');
    await chat.send('say two');
    await chat.composer.fill('say three');
    await chat.button('Queue').click();
    await item('say three').waitFor();
    assert.deepEqual(await texts(), ['say one', 'say two', 'say three']);
    await item('say one').filter({ hasText: 'Sent next' }).waitFor();
    assert.equal(await chat.frame.locator('[data-queue-state=queued]').count(), 3);
    await screenshot(vscode.window.page, 'queue-dark');
    assert.deepEqual(await sent(), ['say Working.\nwait']);
  });

  it('lets an item be changed, moved and removed', async () => {
    for (const word of ['one', 'two', 'three']) await chat.send(`say ${word}`);
    await press('say three', 'Move up');
    await chat.queue.nth(1).filter({ hasText: 'say three' }).waitFor();
    await press('say one', 'Move down');
    await chat.queue.nth(0).filter({ hasText: 'say three' }).waitFor();
    await press('say two', 'Remove');
    await item('say two').waitFor({ state: 'detached' });

    await press('say one', 'Edit');
    const editor = chat.frame.getByRole('textbox', { name: 'Edit queued message' });
    await editor.fill('say one, but better');
    await screenshot(vscode.window.page, 'queue-edit-dark');
    await editor.press('Enter');
    await item('say one, but better').waitFor();
    assert.deepEqual(await texts(), ['say three', 'say one, but better']);

    await chat.button('Stop').click();
    assert.equal(await chat.turnEnd(), 'cancelled');
    await chat.button('Send 2 queued messages').click();
    assert.equal(await chat.turnEnd(), 'end_turn');
    assert.equal(await chat.turnEnd(), 'end_turn');
    assert.deepEqual((await sent()).slice(1), ['say three', 'say one, but better']);
    await chat.queue.first().waitFor({ state: 'detached' });
  });

  it('is paused by Stop', async () => {
    await chat.send('say next');
    await chat.button('Stop').click();
    assert.equal(await chat.turnEnd(), 'cancelled');
    await chat.state('ready');
    await chat.frame.locator('[data-queue-state=paused]', { hasText: 'say next' }).waitFor();
    await chat.frame.getByText('you stopped the turn').first().waitFor();
    await screenshot(vscode.window.page, 'queue-paused-dark');
    assert.deepEqual((await sent()).slice(1), []);
    // What is written now is meant now; what was paused stays paused.
    assert.equal(await chat.run('say something else'), 'end_turn');
    await chat.frame.locator('[data-queue-state=paused]', { hasText: 'say next' }).waitFor();
    await chat.button('Send 1 queued message').click();
    assert.equal(await chat.turnEnd(), 'end_turn');
    assert.deepEqual((await sent()).slice(1), ['say something else', 'say next']);
  });

  it('stops the turn and sends the message with Send now', async () => {
    await chat.send('say first');
    await chat.send('say urgent');
    await press('say urgent', 'Send now');
    assert.equal(await chat.turnEnd(), 'cancelled');
    assert.equal(await chat.turnEnd(), 'end_turn');
    assert.equal(await chat.turnEnd(), 'end_turn');
    assert.deepEqual((await sent()).slice(1), ['say urgent', 'say first']);
  });

  it('holds an item that is being edited', async () => {
    await chat.send('say draft');
    await press('say draft', 'Edit');
    const editor = chat.frame.getByRole('textbox', { name: 'Edit queued message' });
    await editor.fill('say dr');
    await chat.button('Stop').click();
    assert.equal(await chat.turnEnd(), 'cancelled');
    await chat.button('Resume').click();
    await chat.button('Resume').waitFor({ state: 'detached' });
    await editor.fill('say whole sentence');
    assert.deepEqual((await sent()).slice(1), []);
    await editor.press('Enter');
    assert.equal(await chat.turnEnd(), 'end_turn');
    assert.deepEqual((await sent()).slice(1), ['say whole sentence']);
  });
});
