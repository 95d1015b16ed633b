// A piece of work with the keyboard alone: a question to the agent with a mention, its permission,
// its result, a search and a copy. What has the focus is named as the accessibility tree names it.
import { strict as assert } from 'node:assert';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import type { Chat } from '../support/vscode/chat';
import { screenshot } from '../support/vscode/openWindow';
import { useChat } from '../support/vscode/useChat';
import { copied } from '../support/vscode/workbench';

describe('the keyboard alone', function () {
  this.timeout(120_000);
  let chat: Chat;
  const vscode = useChat({ theme: 'dark', settings: { 'parley.defaultAgent': 'demo' } }, (opened) => {
    chat = opened;
  });

  const press = async (...keys: readonly string[]): Promise<void> => {
    for (const key of keys) await vscode.window.page.keyboard.press(key);
  };
  const type = (text: string): Promise<void> => vscode.window.page.keyboard.type(text);
  type Role = Parameters<Chat['frame']['getByRole']>[0];
  const named = (role: Role, name: string | RegExp): Locator =>
    chat.frame.getByRole(role, { name, ...(typeof name === 'string' && { exact: true }) });
  /** Waits until this has the focus. */
  const focused = (role: Role, name: string | RegExp): Promise<void> =>
    named(role, name).and(chat.frame.locator(':focus')).waitFor();

  /** Presses a key until this has the focus. */
  async function reach(role: Role, name: string | RegExp, key: string): Promise<void> {
    const found = named(role, name).and(chat.frame.locator(':focus'));
    for (let left = 25; left > 0 && (await found.count()) === 0; left--) await press(key);
    assert.equal(await found.count(), 1, `${key} leads to ${role} ${name}`);
  }

  before('write a file', () => {
    writeFileSync(join(vscode.server.folder, 'notes.md'), 'Notes\n');
  });

  it('asks with a mention', async () => {
    await focused('textbox', 'Message');
    await type('/edit about @not');
    await chat.frame.getByRole('option', { name: 'notes.md', selected: true }).waitFor();
    await press('Tab');
    await named('list', 'Attachments').getByRole('listitem').filter({ hasText: 'notes.md' }).waitFor();
    await named('button', 'Remove notes.md').waitFor();
    await focused('textbox', 'Message');
    await press('Enter');
  });

  it('answers the permission', async () => {
    await named('group', /^Permission: Write parley-demo\.md/).waitFor();
    await press('Control+k', 'j');
    await focused('group', /^Permission: Write parley-demo\.md/);
    assert.equal(await chat.composer.inputValue(), '', 'the second key of the chord is not typed');
    await chat.answerable();
    await screenshot(vscode.window.page, 'keyboard-permission-dark');
    await press('1');
    assert.equal(await chat.turnEnd(), 'end_turn');
    assert.match(readFileSync(join(vscode.server.folder, 'parley-demo.md'), 'utf8'), /about @notes\.md/);
    await focused('textbox', 'Message');
  });

  it('reads the result', async () => {
    await reach('group', /^Turn 1 ended/, 'Shift+Tab');
    await press('ArrowUp');
    await focused('article', /^Agent|Done/);
    await reach('article', 'Edit parley-demo.md Completed', 'ArrowUp');
    await press('Enter');
    await named('article', 'Edit parley-demo.md Completed').getByRole('button', { expanded: true }).first().waitFor();
    const tree = await chat.log.ariaSnapshot();
    assert.match(tree, /log "Conversation"/);
    assert.match(tree, /about @notes\.md/);
    for (const role of ['button', 'article', 'group', 'separator', 'link'])
      assert.doesNotMatch(tree, new RegExp(`^\\s*- ${role}:?$`, 'm'), `each ${role} has a name`);
  });

  it('finds', async () => {
    await press('Control+f');
    await focused('textbox', 'Find');
    await type('Nothing is written before you agree');
    await chat.frame.getByRole('search', { name: 'Find in session' }).getByText('1 of 1', { exact: true }).waitFor();
    await press('Escape');
    await focused('article', 'Edit parley-demo.md Completed');
  });

  it('copies', async () => {
    const { page } = vscode.window;
    const all = await copied(page, () => press('Control+a', 'Control+c'));
    const rich = await page.evaluate<string>(`(async () => {
      const [item] = await navigator.clipboard.read();
      return (await item.getType('text/html')).text();
    })()`);
    assert.match(rich, /<h2>You<\/h2><div class="user"><p dir="auto">\/edit about @notes\.md/);
    assert.match(all, /about @notes\.md/);
    assert.match(all, /Nothing is written before you agree/);
    await reach('button', 'Copy response', 'Tab');
    const answer = await copied(vscode.window.page, () => press('Enter'));
    assert.match(answer, /has one more line/);
    assert.doesNotMatch(answer, /about @notes\.md/);
    await reach('textbox', 'Message', 'Tab');
  });
});
