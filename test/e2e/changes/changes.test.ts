// What an agent changed by itself, reviewed in the installed extension as a person does it: by the panel, the comparison, its lenses and the keys.
import { strict as assert } from 'node:assert';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Locator } from 'playwright-core';
import { scriptedAgent } from '../../support/agents/definition';
import { Chat } from '../../support/vscode/chat';
import { screenshot } from '../../support/vscode/openWindow';
import { useVsCode } from '../../support/vscode/useVsCode';
import { command, openFile } from '../../support/vscode/workbench';

const LINES = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];
const CHANGED = ['ONE', ...LINES.slice(1, 9), 'TEN'];
const DOS = 'alpha\r\nbeta\r\ngamma\r\n';

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
    // Last what no call or command named.
    assert.deepEqual(found, [
      ['b.txt', 'deleted'],
      ['a.txt', 'modified'],
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

  /** The activity bar has tabs too. */
  const tab = (name: string | RegExp): Locator =>
    vscode.window.page.locator('.tabs-container').getByRole('tab', { name });
  const toChat = (): Promise<void> =>
    tab(/^write \//)
      .first()
      .click();

  it('marks files that wait in the Explorer and on tabs, and no others', async () => {
    const { page } = vscode.window;
    const marked = (name: string): Locator =>
      page.locator(`.explorer-folders-view [aria-label*="${name}"][aria-label*="Changed by Plain, not reviewed"]`);
    await toChat();
    await keepAll();
    await openFile(page, 'a.txt');
    await command(page, 'View: Show Explorer');
    await toChat();
    await chat.run('run sed -i s/nine/NINE/ a.txt\nown new/c.txt changed\\n');
    await marked('a.txt').waitFor();
    const folder = page.locator('.explorer-folders-view [aria-label*="new"][aria-label*="Contains emphasized items"]');
    await folder.waitFor();
    await screenshot(page, 'changes-marks-dark');
    const badge = (): Promise<string> =>
      page
        .locator('.tab[data-resource-name="a.txt"] .monaco-icon-label')
        .evaluate((label) => getComputedStyle(label, '::after').content);
    assert.match(await badge(), /◆/);
    await keepAll();
    await marked('a.txt').waitFor({ state: 'detached' });
    assert.doesNotMatch(await badge(), /◆/);
  });

  it('is still pending after a reload, in a folder that has stopped being a repository', async () => {
    await chat.run('edit b2.txt b\\n\nedit dos.txt unix\\n');
    await bar().getByRole('button', { name: 'Review 2 files' }).waitFor();
    rmSync(path('.git'), { recursive: true });
    await chat.run('edit plain.txt p\\n\nrun rm b2.txt');
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
