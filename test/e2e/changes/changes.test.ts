// What an agent changed by itself, reviewed in the installed extension as a person does it: by the panel, the comparison, its lenses and the keys.
import { strict as assert } from 'node:assert';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Locator } from 'playwright-core';
import { scriptedAgent } from '../../support/agents/definition';
import { Chat } from '../../support/vscode/chat';
import { screenshot, themes } from '../../support/vscode/openWindow';
import { useVsCode } from '../../support/vscode/useVsCode';
import { command, openFile, quickInput, showNotifications } from '../../support/vscode/workbench';

const LINES = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];
const CHANGED = ['ONE', ...LINES.slice(1, 9), 'TEN'];
const DOS = 'alpha\r\nbeta\r\ngamma\r\n';
/** Names that would do something where they are not taken as text. */
const HOSTILE = [
  '$(zap~spin)[Open](command:workbench.action.files.newUntitledFile).txt',
  'new\nline.txt',
  'bidi-\u202etxt.exe',
  `${'long-'.repeat(40)}name.txt`,
];

const text = (lines: readonly string[]): string => `${lines.join('\n')}\n`;
const inPrompt = (lines: readonly string[]): string => `${lines.join('\\n')}\\n`;

describe('changes of an agent in the installed extension', function () {
  this.timeout(120_000);
  const vscode = useVsCode({
    theme: 'dark',
    settings: {
      // As it is for users: a turn that has just ended is recorded although its agent outlives the window.
      'parley.background': 'finishTurn',
      'parley.agents': { plain: { ...scriptedAgent('plain'), name: 'Plain' } },
      'parley.defaultAgent': 'plain',
      'files.autoSave': 'off',
    },
  });
  let chat: Chat;

  const path = (name: string): string => join(vscode.server.folder, name);
  const disk = (name: string): string => readFileSync(path(name), 'utf8');

  /** Resolves when a file has this content on the disk, as the disk tells nobody. */
  async function onDisk(name: string, content: string): Promise<void> {
    while (!existsSync(path(name)) || disk(name) !== content) await sleep(50);
  }

  const bar = (): Locator => chat.frame.getByRole('region', { name: 'Review Changes' });
  /** The line under a turn. */
  const line = (turn: number): Locator => chat.frame.locator(`[data-turn-changes="t${turn}"]`);
  const rows = (within: Locator): Locator => within.getByRole('list', { name: 'Changed files' }).locator('[data-path]');
  const row = (within: Locator, name: string): Locator => within.locator(`[data-path="${name}"]`);
  const lenses = (title: string): Locator =>
    vscode.window.page.locator('.codelens-decoration a', { hasText: new RegExp(`^${title}$`) });

  /** Presses a button that does not count until it stands still. */
  async function press(button: Locator, done: () => Promise<boolean>): Promise<void> {
    while (!(await done())) {
      await button.click({ timeout: 2_000 }).catch(() => undefined);
      await sleep(300);
    }
  }

  async function keepAll(): Promise<void> {
    await bar().waitFor();
    await press(bar().getByRole('button', { name: 'Keep All' }), () => bar().isHidden());
  }

  before('a repository with three files', async () => {
    const git = (...args: string[]): void =>
      void execFileSync('git', ['-c', 'user.name=T', '-c', 'user.email=t@t', ...args], { cwd: vscode.server.folder });
    git('init', '-q');
    writeFileSync(path('a.txt'), text(LINES));
    writeFileSync(path('b.txt'), 'b\n');
    writeFileSync(path('dos.txt'), DOS);
    git('add', '.');
    git('commit', '-qm', 'first');
    chat = await Chat.open(vscode.window.page);
    // Only what is written through the client waits for the first state of the folder.
    assert.equal(await chat.run(`write ${path('first.txt')} first\\n`), 'end_turn');
    await keepAll();
  });

  it('lists below a turn what the agent changed without reporting it', async () => {
    await chat.run(`own a.txt ${inPrompt(CHANGED)}\nown new/c.txt c\\n\nrun rm b.txt`);
    await line(2)
      .getByRole('button', { name: /^3 files changed/ })
      .click();
    await rows(line(2)).nth(2).waitFor();
    const found = await rows(line(2)).evaluateAll((all: HTMLElement[]) =>
      all.map(({ dataset }) => [dataset.path, dataset.change]),
    );
    assert.deepEqual(found, [
      ['a.txt', 'modified'],
      ['b.txt', 'deleted'],
      ['new/c.txt', 'added'],
    ]);
    await bar().getByRole('button', { name: 'Review 3 files' }).waitFor();
    await screenshot(vscode.window.page, 'changes-list-dark');
  });

  it('opens all of them in one diff editor, undoes a hunk by its lens, and reverts that with Ctrl+Z', async () => {
    const { page } = vscode.window;
    await bar().getByRole('button', { name: 'Review 3 files' }).click();
    await page.locator('.multiDiffEditor').waitFor();
    await lenses('Undo').nth(1).waitFor();
    await screenshot(page, 'changes-review-dark');
    vscode.server.configure({ 'workbench.colorTheme': themes.light });
    await page.locator('.monaco-workbench.vs').waitFor();
    await screenshot(page, 'changes-review-light');
    await lenses('Undo').first().click();
    await onDisk('a.txt', text(['one', ...CHANGED.slice(1)]));
    await lenses('Undo').nth(2).waitFor({ state: 'detached' });
    await page.locator('.multiDiffEditor .modified .view-line', { hasText: 'three' }).first().click();
    await page.keyboard.press('Control+Z');
    await page.locator('.multiDiffEditor .modified .view-line', { hasText: 'ONE' }).first().waitFor();
    await lenses('Undo').nth(2).waitFor();
    await page.keyboard.press('Control+S');
    await onDisk('a.txt', text(CHANGED));
  });

  it('has nothing pending after all was kept', async () => {
    await toChat();
    await keepAll();
    assert.equal(disk('a.txt'), text(CHANGED));
    assert.equal(existsSync(path('b.txt')), false);
    await screenshot(vscode.window.page, 'changes-kept-light');
  });

  /** The activity bar has tabs too. */
  const tab = (name: string | RegExp): Locator =>
    vscode.window.page.locator('.tabs-container').getByRole('tab', { name });
  const toChat = (): Promise<void> =>
    tab(/^write \//)
      .first()
      .click();
  const editorLine = (text: string): Locator =>
    vscode.window.page.locator('.editor-instance .view-line', { hasText: text }).first();

  /** Takes pictures of the window as it is, in both themes. */
  async function pictures(name: string): Promise<void> {
    const { page } = vscode.window;
    await screenshot(page, `${name}-light`);
    vscode.server.configure({ 'workbench.colorTheme': themes.dark });
    await page.locator('.monaco-workbench.vs-dark').waitFor();
    await screenshot(page, `${name}-dark`);
    vscode.server.configure({ 'workbench.colorTheme': themes.light });
    await page.locator('.monaco-workbench.vs').waitFor();
  }

  it('undoes a file with CRLF line endings from the list, byte by byte', async () => {
    await toChat();
    await chat.run('run sed -i s/beta/BETA/ dos.txt');
    assert.equal(disk('dos.txt'), DOS.replace('beta', 'BETA'));
    await line(3)
      .getByRole('button', { name: /^1 file changed/ })
      .click();
    await row(line(3), 'dos.txt').hover();
    await bar().waitFor();
    await press(row(line(3), 'dos.txt').getByRole('button', { name: 'Undo' }), () => bar().isHidden());
    await onDisk('dos.txt', DOS);
  });

  it('shows names of files as text, whatever they contain', async () => {
    const name = (text: string): string => `"$(printf '${text.replaceAll('%', '%%').replaceAll('\n', '\\n')}')"`;
    await chat.run(HOSTILE.map((one) => `run printf x > ${name(one)}`).join('\n'));
    await line(4)
      .getByRole('button', { name: /^4 files changed/ })
      .click();
    await rows(line(4)).nth(3).waitFor();
    assert.doesNotMatch(await line(4).innerText(), /\u202e/);
    await screenshot(vscode.window.page, 'changes-names-light');
    await bar().waitFor();
    await press(bar().getByRole('button', { name: 'Undo All' }), () => bar().isHidden());
    for (const one of HOSTILE) assert.equal(existsSync(path(one)), false);
  });

  it('keeps unsaved text of the user in the same file', async () => {
    const { page } = vscode.window;
    await openFile(page, 'a.txt');
    await editorLine('five').click();
    await page.keyboard.press('End');
    await page.keyboard.type(' mine');
    await toChat();
    await chat.run('run sed -i s/nine/NINE/ a.txt');
    const agents = text(CHANGED).replace('nine', 'NINE');
    assert.equal(disk('a.txt'), agents);
    await line(5)
      .getByRole('button', { name: /^1 file changed/ })
      .click();
    await line(5)
      .getByText(/You edited it too/)
      .first()
      .waitFor({ state: 'attached' });
    const told = "Some changes weren't undone.";
    await press(bar().getByRole('button', { name: 'Undo All' }), async () => (await page.getByText(told).count()) > 0);
    await (await showNotifications(page)).filter({ hasText: told }).first().waitFor();
    await tab('a.txt').first().click();
    await editorLine('five mine').waitFor();
    assert.equal(disk('a.txt'), agents);
    await command(page, 'Notifications: Clear All Notifications');
    await command(page, 'File: Revert File');
    await editorLine('NINE').waitFor();
    await toChat();
    await keepAll();
  });

  it('shows which hunk is a conflict with an edit of the user', async () => {
    const { page } = vscode.window;
    await chat.run(`own a.txt ${inPrompt(CHANGED.map((one) => (one === 'two' ? 'TWO' : one)))}`);
    await openFile(page, 'a.txt');
    await lenses('Undo').first().waitFor();
    await editorLine('TWO').click();
    await page.keyboard.press('End');
    await page.keyboard.type(' of mine');
    await page.keyboard.press('Control+S');
    await lenses('Conflict: You Edited These Lines. Open Diff').first().waitFor();
    await pictures('changes-conflict');
    await toChat();
    await keepAll();
  });

  it('marks files that wait in the Explorer and on tabs, and no others', async () => {
    const { page } = vscode.window;
    const marked = (name: string): Locator =>
      page.locator(`.explorer-folders-view [aria-label*="${name}"][aria-label*="Changed by Plain, not reviewed"]`);
    await openFile(page, 'a.txt');
    await command(page, 'View: Show Explorer');
    await toChat();
    await chat.run('run sed -i s/nine/NINE/ a.txt\nown new/c.txt changed\\n');
    await marked('a.txt').waitFor();
    const folder = page.locator('.explorer-folders-view [aria-label*="new"][aria-label*="Contains emphasized items"]');
    await folder.waitFor();
    await pictures('changes-marks');
    const badge = (): Promise<string> =>
      page
        .locator('.tab[data-resource-name="a.txt"] .monaco-icon-label')
        .evaluate((label) => getComputedStyle(label, '::after').content);
    assert.match(await badge(), /◆/);
    await keepAll();
    await marked('a.txt').waitFor({ state: 'detached' });
    assert.doesNotMatch(await badge(), /◆/);
  });

  it('goes from a line to the turn that wrote it', async () => {
    const { page } = vscode.window;
    await openFile(page, 'a.txt');
    await editorLine('ONE').click();
    await command(page, 'Parley: Show Turn That Wrote This Line');
    const message = chat.entries('user').filter({ hasText: /^own a\.txt ONE\\ntwo.*TEN\\n\s*own new/ });
    const isInSight = (): Promise<boolean> =>
      message.evaluate((entry) => {
        const { top, bottom } = entry.getBoundingClientRect();
        return top >= 0 && bottom <= innerHeight;
      });
    await message.waitFor();
    while (!(await isInSight())) await sleep(50);
    await pictures('changes-turn-of-line');
    await openFile(page, 'a.txt');
    await editorLine('three').click();
    await command(page, 'Parley: Show Turn That Wrote This Line');
    await page.getByText('No turn that Parley recorded wrote this line.').first().waitFor();
    await command(page, 'Notifications: Clear All Notifications');
    await toChat();
  });

  it('restores the files to before a message after a preview, and undoes that', async () => {
    const { page } = vscode.window;
    await chat.run('own b2.txt b\\n\nown dos.txt unix\\n');
    assert.equal(disk('dos.txt'), 'unix\n');
    const message = chat.entries('user').last();
    await message.hover();
    await message.getByRole('button', { name: 'Restore files to before this message' }).click();
    const list = quickInput(page);
    await list.locator('.monaco-list-row', { hasText: 'Restore 2 Files' }).waitFor();
    await page.locator('.multiDiffEditor').waitFor();
    await pictures('changes-restore');
    await list.locator('.monaco-list-row', { hasText: 'Restore 2 Files' }).click();
    await onDisk('dos.txt', DOS);
    assert.equal(existsSync(path('b2.txt')), false);
    await toChat();
    await chat.button('Undo restore').click();
    await onDisk('dos.txt', 'unix\n');
    assert.equal(disk('b2.txt'), 'b\n');
    await chat.button('Undo restore').waitFor({ state: 'detached' });
  });

  it('is still pending after a reload, in a folder that has stopped being a repository', async () => {
    await bar().getByRole('button', { name: 'Review 2 files' }).waitFor();
    rmSync(path('.git'), { recursive: true });
    await chat.run('own plain.txt p\\n\nrun rm b2.txt');
    await bar().getByRole('button', { name: 'Review 2 files' }).waitFor();
    await vscode.window.page.reload();
    // VS Code may have saved another tab as the one in front.
    await toChat();
    chat = await Chat.at(vscode.window.page, 'panel');
    await bar().getByRole('button', { name: 'Review 2 files' }).waitFor();
    await press(bar().getByRole('button', { name: 'Undo All' }), () => bar().isHidden());
    await onDisk('dos.txt', DOS);
    assert.equal(existsSync(path('plain.txt')), false);
    assert.equal(existsSync(path('b2.txt')), false);
  });
});
