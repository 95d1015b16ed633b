// The packaged extension as a newcomer meets it, with the demo agent: opened, asked, answered,
// stopped and restarted.
import { strict as assert } from 'node:assert';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Chat } from '../../support/vscode/chat';
import { screenshot } from '../../support/vscode/openWindow';
import { descendants } from '../../support/vscode/processTree';
import { useVsCode } from '../../support/vscode/useVsCode';
import { chatReady, command, copied, openFile } from '../../support/vscode/workbench';

describe('the demo agent', () => {
  const vscode = useVsCode({ theme: 'dark', settings: { 'parley.defaultAgent': 'demo' } });
  let chat: Chat;
  const written = (): string => join(vscode.server.folder, 'parley-demo.md');

  it('starts no process before the chat is opened', async () => {
    const { page } = vscode.window;
    writeFileSync(join(vscode.server.folder, 'notes.md'), 'Notes\n');
    // The item is there once the extension is active.
    await page
      .locator('.statusbar')
      .getByRole('button', { name: /Parley/ })
      .waitFor();
    const agents = descendants(vscode.server.pid).filter((entry) => /demo\/agent\.js/.test(entry.command));
    assert.deepEqual(agents, []);
  });

  it('opens with the button above an editor', async () => {
    const { page } = vscode.window;
    await openFile(page, 'notes.md');
    await page.locator('.editor-actions').getByRole('button', { name: 'Focus Chat' }).click();
    await chatReady(page, 'panel');
  });

  it('reopens with the item in the status bar', async () => {
    const { page } = vscode.window;
    await page.locator('.tab', { hasText: 'notes.md' }).click();
    await page.locator('.tab.active', { hasText: 'notes.md' }).waitFor();
    await page
      .locator('.statusbar')
      .getByRole('button', { name: /Parley/ })
      .click();
    await page.locator('.tab.active', { hasText: 'Parley' }).waitFor();
  });

  it('opens from the palette, with the commands of the agent', async () => {
    const { page } = vscode.window;
    await command(page, 'View: Close All Editors');
    await page.locator('iframe.webview').waitFor({ state: 'detached' });
    chat = await Chat.open(page);
    await chat.focused('textbox', 'Message');
    await chat.button('/stream').waitFor();
    await screenshot(page, 'chat-empty-dark');
  });

  it('shows a streamed answer as formatted Markdown', async () => {
    await chat.pick('Pace', 'Instant');
    assert.equal(await chat.run('/stream'), 'end_turn');
    const answer = chat.entries('agent').last();
    await answer.getByRole('heading', { name: 'A tour of the transcript' }).waitFor();
    assert.equal(await answer.getByRole('row').count(), 5);
    assert.equal(await answer.locator('.code-block').count(), 5);
    // Colours come when a block is complete and the highlighter is loaded.
    await answer.locator('.code-block', { hasText: 'Generator' }).locator('code span').first().waitFor();
    await chat.newSession();
  });

  it('sends a mentioned file, with the keyboard alone', async () => {
    await chat.composer.focus();
    await vscode.window.page.keyboard.type('/edit about @not');
    await chat.named('option', 'notes.md').and(chat.frame.locator('[aria-selected=true]')).waitFor();
    await chat.press('Tab');
    await chat.named('button', 'Remove notes.md').waitFor();
    await chat.focused('textbox', 'Message');
    await chat.press('Enter');
    await chat.state('requiresAction');
  });

  it('shows an edit as a diff, and writes the file when a key allows it', async () => {
    await chat.press('Control+k', 'j');
    await chat.focused('group', /^Permission: Write parley-demo\.md/);
    assert.equal(await chat.composer.inputValue(), '', 'the second key of the chord is not typed');
    await chat.permission.locator('.diff-line.added', { hasText: 'about @notes.md' }).waitFor();
    await chat.answerable();
    assert.equal(existsSync(written()), false);
    await screenshot(vscode.window.page, 'permission-diff-dark');
    await chat.press('1');
    assert.equal(await chat.turnEnd(), 'end_turn');
    assert.match(readFileSync(written(), 'utf8'), /about @notes\.md/);
    await chat.focused('textbox', 'Message');
  });

  it('lets a screen reader reach each entry of the transcript by name', async () => {
    await chat.reach('group', /^Turn 1 ended/, 'Shift+Tab');
    await chat.reach('article', 'Edit parley-demo.md Completed', 'ArrowUp');
    await chat.press('Enter');
    await chat
      .named('article', 'Edit parley-demo.md Completed')
      .getByRole('button', { expanded: true })
      .first()
      .waitFor();
    const tree = await chat.log.ariaSnapshot();
    assert.match(tree, /log "Conversation"/);
    for (const role of ['button', 'article', 'group', 'separator', 'link'])
      assert.doesNotMatch(tree, new RegExp(`^\\s*- ${role}:?$`, 'm'), `each ${role} has a name`);
  });

  it('finds text with its own find widget, not that of VS Code', async () => {
    const { page } = vscode.window;
    await chat.press('Control+f');
    await chat.focused('textbox', 'Find');
    await page.keyboard.type('Nothing is written before you agree');
    await chat.named('search', 'Find in session').getByText('1 of 1', { exact: true }).waitFor();
    assert.equal(await page.locator('.webview-find-widget, .simple-find-part.visible').count(), 0);
    await screenshot(page, 'find-dark');
    await chat.press('Escape');
    await chat.focused('article', 'Edit parley-demo.md Completed');
  });

  it('copies the session as Markdown and as HTML', async () => {
    const { page } = vscode.window;
    const all = await copied(page, () => chat.press('Control+a', 'Control+c'));
    assert.match(all, /about @notes\.md/);
    assert.match(all, /Nothing is written before you agree/);
    const rich = await page.evaluate<string>(`(async () => {
      const [item] = await navigator.clipboard.read();
      return (await item.getType('text/html')).text();
    })()`);
    assert.match(rich, /<h2>You<\/h2><div class="user"><p dir="auto">\/edit about @notes\.md/);
  });

  it('runs a command in a terminal once it is allowed, with its output', async () => {
    await chat.send('/terminal');
    await chat.permission.getByText('setInterval').first().waitFor();
    await chat.answer('Allow');
    assert.equal(await chat.turnEnd(), 'end_turn');
    const tool = chat.entries('tool').last();
    await tool.locator('.terminal-lines span[class*="ansi-"]', { hasText: 'naïve café ✓' }).waitFor();
    assert.equal(await tool.getAttribute('data-tool-status'), 'completed');
    await screenshot(vscode.window.page, 'terminal-dark');
  });

  it('stops with Escape', async () => {
    await chat.send('/slow');
    await chat.entries('agent').last().getByText('This takes a minute').waitFor();
    await chat.composer.press('Escape');
    assert.equal(await chat.turnEnd(), 'cancelled');
    await chat.state('ready');
  });

  it('keeps the transcript when it crashes, reports why, and restarts', async () => {
    await chat.send('/crash');
    assert.equal(await chat.turnEnd(), 'error');
    const end = chat.entries('error').filter({ hasText: 'exited with code 1' });
    await end.getByText('this is what an agent says on its way out').waitFor();
    await screenshot(vscode.window.page, 'crash-dark');
    await chat.state('ready');
    await chat.entries('agent').getByText('I am about to exit in the middle of this sentence').waitFor();
    assert.equal(await chat.run('/help'), 'end_turn');
  });

  it('blocks script and markup in text by its content policy, and reports them', async () => {
    const { page, problems } = vscode.window;
    const earlier = problems.length;
    const reported = page.waitForEvent('console', (message) => message.text().includes('TrustedHTML'));
    // In the page's own world, where its policy holds.
    const body = chat.frame.locator('body');
    await body.evaluate(`
      (() => {
        const script = document.createElement('script');
        try { script.text = 'document.title = "broken"'; } catch {}
        document.body.append(script);
        try { document.body.insertAdjacentHTML('beforeend', '<b id=markup>x</b>'); } catch {}
        script.remove();
      })()
    `);
    await reported;
    assert.notEqual(await body.evaluate('document.title'), 'broken');
    assert.equal(await chat.frame.locator('#markup').count(), 0);
    // The look at what was stopped, with which the tests of each window end, sees both
    // (useVsCode.ts).
    assert.equal(problems.length, earlier + 2);
    for (const problem of problems.slice(earlier)) vscode.deliberate.add(problem);
  });
});
