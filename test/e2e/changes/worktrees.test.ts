// A session in a worktree, in the installed extension as a person uses it.
import { strict as assert } from 'node:assert';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { scriptedAgent } from '../../support/agents/definition';
import { Chat } from '../../support/vscode/chat';
import { screenshot } from '../../support/vscode/openWindow';
import { useVsCode } from '../../support/vscode/useVsCode';
import { command, inList, quickInput } from '../../support/vscode/workbench';

describe('a session in a worktree, in the installed extension', function () {
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

  it('is compared with the folder', async () => {
    const { page } = vscode.window;
    const box = quickInput(page);
    await command(page, 'Parley: New Session in a Worktree…');
    await box.locator('input.input').fill('try it');
    await box.locator('input.input').press('Enter');
    await chat.entries('notice').getByText('on the branch parley/try-it').waitFor();
    await chat.state('ready');
    assert.equal(await chat.run('Change it'), 'end_turn');
    await inList(page, 'Parley: Compare Sessions…', async (list, patience) => {
      await list.locator('.monaco-list-row', { hasText: 'workspace' }).first().waitFor(patience);
      await list.locator('input.input').press('Enter', patience);
      await list.waitFor({ state: 'hidden', ...patience });
    });
    await page.locator('.multiDiffEditor .modified .view-line', { hasText: 'ONE' }).first().waitFor();
    await screenshot(page, 'changes-worktrees-dark');
    assert.equal(readFileSync(join(vscode.server.folder, 'a.txt'), 'utf8'), 'one\ntwo\n');
  });
});
