// Every slash command of the demo agent, as a newcomer tries them: with the keyboard and the mouse, in the packaged extension.
import { strict as assert } from 'node:assert';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Chat } from '../support/vscode/chat';
import { screenshot } from '../support/vscode/openWindow';
import { useVsCode } from '../support/vscode/useVsCode';
import { command } from '../support/vscode/workbench';

describe('the demo agent in the panel', () => {
  // Without graphics hardware nothing is lost, and the terminal's text is in its document.
  const vscode = useVsCode({
    own: true,
    theme: 'dark',
    settings: { 'terminal.integrated.gpuAcceleration': 'off' },
  });
  let chat: Chat;
  const file = (): string => join(vscode.server.folder, 'parley-demo.md');

  it('is opened from the palette', async () => {
    const { page } = vscode.window;
    chat = await Chat.open(page);
    await chat.log.waitFor();
    await chat.button('Send').waitFor();
    // The commands of the agent are offered where nothing was said yet.
    await chat.button('/stream').waitFor();
    await screenshot(page, 'chat-empty-dark');
  });

  it('is configured with the pickers at the composer, by keyboard and by mouse', async () => {
    const { page } = vscode.window;
    await chat.frame.getByRole('button', { name: 'Pace: ' }).focus();
    await page.keyboard.press('ArrowDown');
    await chat.frame.getByRole('listbox', { name: 'Pace' }).waitFor();
    await page.keyboard.press('End');
    await page.keyboard.press('Enter');
    await chat.button('Pace: Instant').waitFor();

    await chat.pick('Mode', 'Auto');
    await chat.pick('Mode', 'Ask');

    const emoji = chat.frame.getByRole('switch', { name: 'Emoji' });
    await emoji.click();
    await chat.frame.getByRole('switch', { name: 'Emoji', checked: true }).waitFor();
  });

  it('has its Markdown drawn', async () => {
    assert.equal(await chat.run('/stream'), 'end_turn');
    const answer = chat.entries('agent').last();
    await answer.getByRole('heading', { name: 'A tour of the transcript' }).waitFor();
    assert.equal(await answer.getByRole('row').count(), 5);
    assert.ok((await answer.getByRole('listitem').count()) >= 8);
    assert.equal(await answer.locator('.code-block').count(), 5);
    // Colours come when a block is complete and the highlighter is loaded.
    await answer.locator('.code-block', { hasText: 'Generator' }).locator('code span').first().waitFor();
    assert.match(await chat.copyTurn(), /^# A tour of the transcript\n[\s\S]*Try `\/edit` next\.\n$/);
  });

  it('has a text found with Ctrl+F, and not by VS Code', async () => {
    const { page } = vscode.window;
    await chat.composer.focus();
    await page.keyboard.press('Control+f');
    const widget = chat.frame.getByRole('search', { name: 'Find in session' });
    await widget.getByRole('textbox', { name: 'Find' }).fill('A tour of the transcript');
    await widget.getByText('1 of 1', { exact: true }).waitFor();
    await screenshot(page, 'find-dark');
    await page.keyboard.press('Escape');
    await widget.waitFor({ state: 'detached' });
    assert.ok(await chat.composer.evaluate((field) => field === document.activeElement));
    assert.equal(await page.locator('.webview-find-widget, .simple-find-part.visible').count(), 0);
  });

  it('has its code copied with Copy', async () => {
    const block = chat.entries('agent').last().locator('.code-block', { hasText: 'parley.defaultAgent' });
    const text = await chat.copied(block.getByRole('button', { name: 'Copy' }));
    assert.deepEqual(Object.keys(JSON.parse(text) as object), ['parley.agents', 'parley.defaultAgent']);
  });

  it('offers its commands when a slash is typed', async () => {
    const { page } = vscode.window;
    await chat.composer.pressSequentially('/t');
    const list = chat.frame.getByRole('listbox', { name: 'Commands' });
    await list.getByRole('option', { name: /^\/thoughts/, selected: true }).waitFor();
    await page.keyboard.press('ArrowDown');
    await list.getByRole('option', { name: /^\/terminal/, selected: true }).waitFor();
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await list.waitFor({ state: 'hidden' });
    assert.equal(await chat.composer.inputValue(), '/thoughts ');
    await page.keyboard.press('Enter');
    assert.equal(await chat.turnEnd(), 'end_turn');
  });

  it('has its thoughts folded, and opened with a click', async () => {
    const thought = chat.entries('thought').first();
    const words = thought.getByText('The user wants to see how thoughts look');
    assert.equal(await words.count(), 0);
    await thought.getByRole('button', { name: /^Thought for/, expanded: false }).click();
    await words.waitFor();
    await thought.getByRole('button', { expanded: true }).press('Enter');
    await words.waitFor({ state: 'detached' });
  });

  it('shows its plan', async () => {
    assert.equal(await chat.run('/plan'), 'end_turn');
    const plan = chat.entries('plan');
    assert.equal(await plan.count(), 1);
    assert.equal(await plan.locator('li[data-status=completed]').count(), 4);
    assert.equal(await chat.frame.locator('[data-kind=tool][data-tool-status=completed]').count(), 3);
  });

  it('shows a change before it is allowed', async () => {
    await chat.send('/edit first line');
    await chat.state('requiresAction');
    await chat.permission.locator('.diff-line.added', { hasText: '- first line' }).waitFor();
    await chat.permission.locator('.diff-line.added .hljs-bullet').first().waitFor();
    assert.equal(existsSync(file()), false);
    // The number answers once the question has the focus and has been there for a moment.
    await chat.permission.focus();
    await chat.answerable();
    await screenshot(vscode.window.page, 'permission-diff-dark');
    await vscode.window.page.keyboard.press('1');
    assert.equal(await chat.turnEnd(), 'end_turn');
    assert.match(readFileSync(file(), 'utf8'), /- first line\n$/);
    const tool = chat.entries('tool').last();
    assert.equal(await tool.getAttribute('data-tool-status'), 'completed');
    await tool.locator('[data-decision=allowed]').waitFor();
  });

  it('shows the session along time, and leads from a call to its entry', async () => {
    const { page } = vscode.window;
    await command(page, 'Parley: Show Timeline');
    const timeline = chat.frame.getByRole('region', { name: 'Timeline' });
    const edit = timeline.getByRole('option', { name: /^Edit .*waited for you/ });
    await edit.waitFor();
    await screenshot(page, 'timeline-dark');
    await edit.click();
    await chat.entries('tool').last().and(chat.frame.locator(':focus')).waitFor();
    await timeline.getByRole('button', { name: 'Close (Escape)' }).click();
    await timeline.waitFor({ state: 'detached' });
    assert.ok(await chat.composer.evaluate((field) => field === document.activeElement));
  });

  it('mentions a file of the workspace, and sends it along', async () => {
    const { page } = vscode.window;
    await chat.composer.pressSequentially('see @demo');
    const list = chat.frame.getByRole('listbox', { name: 'Mentions' });
    await list.getByRole('option', { name: 'parley-demo.md', selected: true }).waitFor();
    await screenshot(page, 'mention-dark');
    await page.keyboard.press('Tab');
    assert.equal(await chat.composer.inputValue(), 'see @parley-demo.md ');
    await chat.button('Remove parley-demo.md').waitFor();
    await page.keyboard.press('Enter');
    assert.equal(await chat.turnEnd(), 'end_turn');
    await chat.entries('user').last().getByText('parley-demo.md').last().waitFor();
    assert.equal(await chat.button('Remove parley-demo.md').count(), 0);
  });

  it('leaves the file as it is on Reject', async () => {
    const before = readFileSync(file(), 'utf8');
    await chat.send('/edit second line');
    await chat.answer('Reject');
    assert.equal(await chat.turnEnd(), 'end_turn');
    assert.equal(readFileSync(file(), 'utf8'), before);
    await chat.entries('tool').last().locator('[data-decision=rejected]').waitFor();
    assert.equal(await chat.entries('tool').last().getAttribute('data-tool-status'), 'failed');
  });

  it('treats Escape as neither answer', async () => {
    const before = readFileSync(file(), 'utf8');
    await chat.send('/edit third line');
    await chat.answerable();
    await chat.permission.press('Escape');
    assert.equal(await chat.turnEnd(), 'end_turn');
    assert.equal(readFileSync(file(), 'utf8'), before);
    await chat.entries('tool').last().locator('[data-decision=dismissed]').waitFor();
  });

  it('opens the place of a change in the editor', async () => {
    const { page } = vscode.window;
    const tool = chat.frame.locator('[data-kind=tool][data-tool-status=completed]:has([data-decision=allowed])');
    await tool.getByRole('button', { expanded: false }).click();
    await tool.getByRole('button', { name: 'Open parley-demo.md:4' }).click();
    await page.locator('.tab.active', { hasText: 'parley-demo.md' }).waitFor();
    await page.getByRole('button', { name: 'Ln 4, Col 1' }).waitFor();
    await chat.composer.waitFor();
  });

  it('opens a change in VS Code’s comparison', async () => {
    const { page } = vscode.window;
    const tool = chat.frame.locator('[data-kind=tool][data-tool-status=completed]', { hasText: 'first line' });
    await tool.getByRole('button', { name: 'Open diff' }).first().click();
    await page.locator('.monaco-diff-editor .view-line', { hasText: 'first line' }).first().waitFor();
    await chat.composer.waitFor();
    await command(page, 'View: Close All Editors in Group');
    await page.locator('.monaco-diff-editor').waitFor({ state: 'detached' });
  });

  it('shows the output of a command live and in colour', async () => {
    await chat.send('/terminal');
    await chat.permission.getByText('setInterval').first().waitFor();
    await chat.answer('Allow');
    const running = chat.frame.locator('[data-kind=tool][data-tool-status=in_progress]');
    const coloured = running.locator('.terminal-lines span[class*="ansi-red"]', { hasText: '●' });
    await coloured.first().waitFor();
    await screenshot(vscode.window.page, 'terminal-dark');
    assert.equal(await chat.turnEnd(), 'end_turn');
    const tool = chat.entries('tool').last();
    await tool.getByText('naïve café ✓').waitFor();
    await tool.getByText('Exit code 0').waitFor();
  });

  it('opens a running command in a real terminal', async () => {
    const { page } = vscode.window;
    const tool = chat.entries('tool').last();
    await tool.getByRole('button', { expanded: false }).click();
    await tool.getByRole('button', { name: 'Open in terminal' }).click();
    await page.locator('.terminal-wrapper.active .xterm-rows > div', { hasText: 'naïve café ✓' }).waitFor();
    await screenshot(page, 'terminal-real-dark');
    await page.keyboard.press('Control+J');
  });

  it('reports why a turn failed, and continues with the next one', async () => {
    assert.equal(await chat.run('/error'), 'error');
    await chat.entries('error').getByText('The demo agent failed, because you asked it to.').waitFor();
    assert.equal(await chat.run('/help'), 'end_turn');
  });

  it('is stopped with Stop', async () => {
    await chat.send('/slow');
    await chat.entries('agent').last().getByText('This takes a minute').waitFor();
    await chat.button('Stop').click();
    assert.equal(await chat.turnEnd(), 'cancelled');
    await chat.state('ready');
  });

  it('keeps the transcript when it crashes, reports why, and restarts', async () => {
    await chat.send('/crash');
    assert.equal(await chat.turnEnd(), 'error');
    await chat.state('ready');
    const end = chat.entries('error').filter({ hasText: 'exited with code 1' });
    await end.getByText('this is what an agent says on its way out').waitFor();
    await screenshot(vscode.window.page, 'crash-dark');
    await chat.entries('user').getByText('/crash').waitFor();
    await chat.entries('agent').getByText('I am about to exit in the middle of this sentence').waitFor();
    await chat.pick('Pace', 'Instant');
    assert.equal(await chat.run('/help'), 'end_turn');
  });

  it('mentions an earlier session by its title, and sends its transcript along', async () => {
    const { page } = vscode.window;
    await chat.newSession();
    await chat.composer.pressSequentially('/help as in @demo:-/he');
    const option = chat.frame.getByRole('listbox', { name: 'Mentions' }).getByRole('option');
    await option.filter({ hasText: 'Demo: /help' }).waitFor();
    await screenshot(page, 'mention-session-dark');
    await option.filter({ hasText: 'Demo: /help' }).click();
    assert.equal(await chat.composer.inputValue(), '/help as in @Demo: /help ');
    await chat.button('Remove Demo: /help').waitFor();
    await chat.composer.press('Enter');
    assert.equal(await chat.turnEnd(), 'end_turn');
    await chat.entries('user').last().getByText('Demo: /help').last().waitFor();
    await screenshot(page, 'mention-session-sent-dark');
  });

  it('stays fast in a long answer, of which the page holds only a part', async () => {
    const { page } = vscode.window;
    await chat.newSession();
    await chat.pick('Pace', 'Instant');
    await chat.send('/long');
    await chat.frame.getByText('It should have felt no different from the beginning.').waitFor({ timeout: 60_000 });
    await chat.state('ready');
    const count = (): Promise<number> => chat.frame.locator('body').evaluate('document.querySelectorAll("*").length');
    assert.ok((await count()) <= 6_000, `${await count()} elements at the end`);
    await screenshot(page, 'long-dark');
    await chat.log.focus();
    await page.keyboard.press('Home');
    await chat.entries('user').getByText('/long').waitFor();
    await chat.frame.getByText('Part 1', { exact: true }).waitFor();
    assert.ok((await count()) <= 6_000, `${await count()} elements at the beginning`);
    await chat.button('Jump to latest').click();
    await chat.frame.getByText('It should have felt no different from the beginning.').waitFor();
    await chat.frame.locator('.prompt-line', { hasText: '/long' }).waitFor();
    await screenshot(page, 'long-message-dark');
    await chat.button('Jump to latest').waitFor({ state: 'hidden' });
  });

  it('shows how full the context is', async () => {
    await chat.frame.getByRole('img', { name: /^[1-9]\d?% of context used/ }).waitFor();
  });
  it('leaves no process behind when the window closes', async () => {
    await vscode.window.close();
    assert.deepEqual(await vscode.server.stop(), []);
  });
});
