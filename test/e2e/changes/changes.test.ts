// What an agent changed by itself, in the installed extension: marked in the Explorer and on tabs,
// and still pending after a reload.
import { strict as assert } from 'node:assert';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Locator } from 'playwright-core';
import { plainAgent } from '../../support/agents/definition';
import { Chat } from '../../support/vscode/chat';
import { gitFolder } from '../../support/vscode/gitFolder';
import { screenshot } from '../../support/vscode/openWindow';
import { useVsCode } from '../../support/vscode/useVsCode';
import { command, openFile } from '../../support/vscode/workbench';

const LINES = ['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];
const DOS = 'alpha\r\nbeta\r\ngamma\r\n';

const text = (lines: readonly string[]): string => `${lines.join('\n')}\n`;

describe('changes of an agent in the installed extension', function () {
  this.timeout(120_000);
  const vscode = useVsCode({
    theme: 'dark',
    settings: {
      // As it is for users: a turn that has just ended is recorded although its agent outlives the
      // window.
      'parley.background': 'finishTurn',
      ...plainAgent(),
      'files.autoSave': 'off',
    },
  });
  let chat: Chat;

  const path = (name: string): string => join(vscode.server.folder, name);
  const disk = (name: string): string => readFileSync(path(name), 'utf8');

  /** Resolves when a file has this content on the disk, by polling. */
  async function onDisk(name: string, content: string): Promise<void> {
    while (!existsSync(path(name)) || disk(name) !== content) await sleep(50);
  }

  const bar = (): Locator => chat.frame.getByRole('region', { name: 'Review Changes' });

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
    gitFolder(vscode.server.folder, { 'a.txt': text(LINES), 'b.txt': 'b\n', 'dos.txt': DOS });
    chat = await Chat.open(vscode.window.page);
    // Only what is written through the client waits for the first state of the folder.
    assert.equal(await chat.run(`write ${path('first.txt')} first\\n`), 'end_turn');
    await keepAll();
  });

  /** The activity bar has tabs too. */
  const tab = (name: string | RegExp): Locator =>
    vscode.window.page.locator('.tabs-container').getByRole('tab', { name });
  const toChat = (): Promise<void> =>
    tab(/^write \//)
      .first()
      .click();

  it('marks only pending files in the Explorer and on tabs', async () => {
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

  it('are still pending after a reload, in a folder that is no longer a repository', async () => {
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
    await press(bar().getByRole('button', { name: 'Undo All' }), () =>
      bar().getByRole('button', { name: 'Redo' }).isVisible(),
    );
    await onDisk('dos.txt', DOS);
    assert.equal(existsSync(path('plain.txt')), false);
    assert.equal(existsSync(path('b2.txt')), false);
  });
});
