// Sessions in worktrees, and drafted commit messages, in the installed extension as a person uses them.
import { strict as assert } from 'node:assert';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { scriptedAgent } from '../../support/agents/definition';
import { Chat } from '../../support/vscode/chat';
import { screenshot, themes } from '../../support/vscode/openWindow';
import { useVsCode } from '../../support/vscode/useVsCode';
import { command, inList, quickInput } from '../../support/vscode/workbench';

describe('sessions in worktrees, and commit messages, in the installed extension', function () {
  this.timeout(120_000);
  const scenes = { 'Change it': 'own a.txt ONE\\ntwo\\n\nown new/b.txt b\\n', '*': 'say Change the first line' };
  const vscode = useVsCode({
    theme: 'dark',
    settings: {
      'parley.agents': { plain: { ...scriptedAgent({ scenes }), name: 'Plain' } },
      'parley.defaultAgent': 'plain',
    },
  });
  let chat: Chat;

  async function pictures(name: string): Promise<void> {
    const { page } = vscode.window;
    await screenshot(page, `${name}-dark`);
    vscode.server.configure({ 'workbench.colorTheme': themes.light });
    await page.locator('.monaco-workbench.vs').waitFor();
    await screenshot(page, `${name}-light`);
    vscode.server.configure({ 'workbench.colorTheme': themes.dark });
    await page.locator('.monaco-workbench.vs-dark').waitFor();
  }

  /** Resolves when this stands in the box that asks for a line. */
  async function boxSays(text: string): Promise<void> {
    await vscode.window.page.waitForFunction(
      (wanted) => document.querySelector<HTMLInputElement>('.quick-input-widget input.input')?.value === wanted,
      text,
    );
  }

  before('a repository with a commit', async () => {
    const cwd = vscode.server.folder;
    const git = (...args: string[]): void =>
      void execFileSync('git', ['-c', 'user.name=T', '-c', 'user.email=t@t', ...args], { cwd });
    git('init', '-q');
    writeFileSync(join(cwd, 'a.txt'), 'one\ntwo\n');
    git('add', '.');
    git('commit', '-qm', 'first');
    chat = await Chat.open(vscode.window.page);
  });

  it('compares what a session did in a worktree with the folder', async () => {
    const { page } = vscode.window;
    const box = quickInput(page);
    await command(page, 'Parley: New Session in a Worktree…');
    await box.locator('input.input').fill('try it');
    await page.keyboard.press('Enter');
    await chat.entries('notice').getByText('on the branch parley/try-it').waitFor();
    await chat.state('ready');
    assert.equal(await chat.run('Change it'), 'end_turn');
    await inList(page, 'Parley: Compare Sessions…', async (list, patience) => {
      await list.locator('.monaco-list-row', { hasText: 'workspace' }).first().waitFor(patience);
      await page.keyboard.press('Enter');
      await list.waitFor({ state: 'hidden', ...patience });
    });
    await page.locator('.multiDiffEditor .modified .view-line', { hasText: 'ONE' }).first().waitFor();
    await pictures('changes-worktrees');
    assert.equal(readFileSync(join(vscode.server.folder, 'a.txt'), 'utf8'), 'one\ntwo\n');
  });

  it('drafts the message of a commit on the branch of the worktree, and gives the old text back', async () => {
    const { page } = vscode.window;
    const box = quickInput(page);
    await command(page, 'Parley: Commit Changes of This Session to Its Branch…');
    await box.getByText(/^Message of the commit on parley\/try-it/).waitFor();
    const typed = await box.locator('input.input').inputValue();
    await box.getByRole('button', { name: 'Draft Commit Message' }).click();
    await boxSays('Change the first line');
    await pictures('changes-commit');
    await box.getByRole('button', { name: 'Restore Previous Text' }).click();
    await boxSays(typed);
    await page.keyboard.press('Escape');
  });

  it('drafts the message of what is staged into the box of the Source Control view', async () => {
    const { page } = vscode.window;
    writeFileSync(join(vscode.server.folder, 'a.txt'), 'ONE\ntwo\n');
    await page
      .locator('.part.activitybar')
      .getByRole('tab', { name: /^Source Control/ })
      .click();
    await page.locator('.scm-view .monaco-list-row', { hasText: 'a.txt' }).waitFor();
    await command(page, 'Parley: Draft Commit Message');
    await page.locator('.scm-editor .view-line', { hasText: 'Change the first line' }).waitFor();
    await pictures('changes-draft');
    await page.locator('.tabs-container').getByRole('tab', { name: 'Change it' }).first().click();
    await chat.entries('user').first().waitFor();
    assert.equal(await chat.entries('user').count(), 1, 'it is asked in a session of its own');
  });

  it('applies the files that the user leaves selected, as they are then', async () => {
    const { page } = vscode.window;
    writeFileSync(join(vscode.server.folder, 'a.txt'), 'one\ntwo\n');
    await inList(page, 'Parley: Apply Changes of This Session to the Folder', async (list, patience) => {
      const rows = list.locator('.monaco-list-row');
      await rows.filter({ hasText: 'b.txt' }).waitFor(patience);
      assert.deepEqual(await rows.allInnerTexts(), ['a.txt', 'new/b.txt']);
      await pictures('changes-apply');
      await rows.filter({ hasText: 'a.txt' }).click(patience);
      // As from the right side of the comparison, which is the file itself.
      const worktrees = join(vscode.server.dataDir, 'data/User/globalStorage/parley.parley/worktrees');
      const [worktree = ''] = readdirSync(worktrees);
      writeFileSync(join(worktrees, worktree, 'new/b.txt'), 'edited\n');
      await page.keyboard.press('Enter');
      await list.waitFor({ state: 'hidden', ...patience });
    });
    await page.locator('.statusbar').getByText('Applied changes to 1 file.').waitFor();
    assert.equal(readFileSync(join(vscode.server.folder, 'a.txt'), 'utf8'), 'one\ntwo\n');
    assert.equal(readFileSync(join(vscode.server.folder, 'new/b.txt'), 'utf8'), 'edited\n');
  });
});
