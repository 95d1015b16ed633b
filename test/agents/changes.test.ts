// What the real agents change, by their own tools and behind their backs: the list is what the disk says, and each change can be kept, undone and gone back behind.
import { strict as assert } from 'node:assert';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Chat } from '../support/vscode/chat';
import { screenshot } from '../support/vscode/openWindow';
import { useVsCode } from '../support/vscode/useVsCode';
import { command } from '../support/vscode/workbench';
import { type ModelServer, startModelServer } from './modelServer';
import { type RealAgent, realAgents } from './realAgents';

const scratch = mkdtempSync(join(tmpdir(), 'parley-changes-'));
const names = { claude: 'Claude', gemini: 'Gemini', opencode: 'OpenCode', codex: 'Codex' } as const;
const all = ['by-command.txt', 'edited.txt', 'gone.txt', 'new-name.txt', 'old-name.txt'];
const lines = Array.from({ length: 40 }, (_, index) => `line ${index + 1}\n`).join('');

describe('the changes of real agents', () => {
  let model: ModelServer;
  let agents: readonly RealAgent[];
  const settings: Record<string, unknown> = {};

  before(async () => {
    model = await startModelServer();
    agents = await realAgents(join(scratch, 'homes'), model.url);
    for (const { id, definition } of agents) settings[id] = { name: names[id], ...definition };
  });

  after(async () => {
    await model?.close();
    rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
  });

  for (const id of ['claude', 'gemini', 'opencode'] as const) {
    describe(id, function () {
      this.timeout(120_000);
      const folder = join(scratch, `work ${id}`);
      const original = join(scratch, `before ${id}`);
      makeRepository(folder);
      cpSync(folder, original, { recursive: true });
      const vscode = useVsCode({
        theme: 'dark',
        folder,
        settings: { 'parley.agents': settings, 'parley.defaultAgent': id },
      });
      let chat: Chat;

      before('open the chat', async function () {
        this.timeout(120_000);
        chat = await Chat.open(vscode.window.page).catch(() => Chat.at(vscode.window.page, 'panel'));
        if ((await chat.failure.count()) > 0)
          await chat.failure
            .getByRole('button', { name: /API key/i })
            .first()
            .click();
        await chat.state('ready', 60_000);
      });

      const list = () => chat.frame.getByRole('list', { name: 'Changed files' }).last().getByRole('listitem');
      const row = (path: string) => list().and(chat.frame.locator(`[data-path="${path}"]`));
      const bar = () => chat.frame.getByRole('button', { name: /^Review \d+ file/ });
      const read = (name: string): string => readFileSync(join(folder, name), 'utf8');

      /** Waits until the folder differs from what it was in exactly these files. */
      async function differs(...wanted: readonly string[]): Promise<void> {
        for (let attempt = 0; attempt < 200 && differences(original, folder).join() !== wanted.join(); attempt++)
          await vscode.window.page.waitForTimeout(50);
        assert.deepEqual(differences(original, folder), wanted);
      }

      async function play(): Promise<void> {
        const agent = agents.find((one) => one.id === id) ?? assert.fail();
        await chat.send(agent.prompt('change', folder));
        let isOver = false;
        const ended = chat.turnEnd(90_000).finally(() => {
          isOver = true;
        });
        const once = chat.permission.locator('button[data-option-kind=allow_once]:not([aria-disabled])').first();
        while (!isOver) await Promise.race([once.click({ timeout: 2_000 }).catch(() => undefined), ended]);
        assert.equal(await ended, 'end_turn');
      }

      it('are listed as they are on disk, whoever made them', async () => {
        await play();
        await chat.frame.getByRole('button', { name: /^4 files changed/ }).click();
        await row('by-command.txt').waitFor();
        assert.deepEqual(differences(original, folder), all);
        const paths = await list().evaluateAll((items) => items.map((item) => item.getAttribute('data-path')));
        assert.deepEqual(paths.sort(), ['by-command.txt', 'edited.txt', 'gone.txt', 'new-name.txt']);
        await bar().waitFor();
        await screenshot(vscode.window.page, `changes-${id}`);
      });

      it('are shown in a diff editor, and undone and kept one by one', async () => {
        const { page } = vscode.window;
        await row('edited.txt').click();
        const editor = page.locator('.monaco-diff-editor');
        await editor.getByText('line three').first().waitFor();
        await editor.getByText('Undo', { exact: true }).first().waitFor();
        await screenshot(page, `changes-${id}-hunks`);
        await editor.getByText('Undo', { exact: true }).first().click();
        while (read('edited.txt').includes('line three\n')) await page.waitForTimeout(50);
        assert.equal(read('edited.txt'), lines.replace('line 30\n', 'line thirty\n'));
        await command(page, 'Parley: Focus Chat');
        await row('by-command.txt').hover();
        await row('by-command.txt').getByRole('button', { name: 'Keep' }).click();
        await chat.frame.locator('[data-path="by-command.txt"][data-change-state=kept]').first().waitFor();
      });

      it('are all undone except what was kept', async () => {
        await chat.button('Undo All').click();
        await bar().waitFor({ state: 'hidden' });
        await differs('by-command.txt');
        assert.equal(read('edited.txt'), lines);
      });

      it('are restored to before the message, and the restore is undone', async () => {
        const { page } = vscode.window;
        await command(page, 'Parley: Restore Files to Before the Last Turn');
        await page.locator('.quick-input-widget').getByText('Restore 1 File').waitFor();
        await screenshot(page, `changes-${id}-restore`);
        await page.keyboard.press('Enter');
        await differs();
        await command(page, 'Parley: Focus Chat');
        await chat.button('Undo restore').click();
        await differs('by-command.txt');
      });

      it('are undone before the message is edited and sent again', async () => {
        const { page } = vscode.window;
        await chat.entries('user').last().hover();
        await chat.entries('user').last().getByRole('button', { name: 'Edit and send again' }).click();
        await page.locator('.quick-input-widget').getByText('Restore 1 File').waitFor();
        await page.keyboard.press('Enter');
        await differs();
        await command(page, 'Parley: Focus Chat');
        await chat.state('ready', 60_000);
        assert.match(await chat.composer.inputValue(), /Play script <change>/);
        await screenshot(page, `changes-${id}-edited`);
      });
    });
  }
});

/** A repository with one commit, and files of every kind that the script changes. */
function makeRepository(folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries({
    'edited.txt': lines,
    'by-command.txt': 'one\ntwo\nthree\n',
    'old-name.txt': 'a file that is moved\nwith some\nlines in it\n',
    'gone.txt': 'a file that is deleted\n',
    'untouched.txt': 'as it was\n',
  }))
    writeFileSync(join(folder, name), text);
  const git = (...args: string[]): void => {
    execFileSync('git', ['-c', 'user.name=Test', '-c', 'user.email=test@localhost', ...args], { cwd: folder });
  };
  git('init', '--quiet');
  git('add', '-A');
  git('commit', '--quiet', '-m', 'First');
}

/** Which files `diff -r` finds different, sorted. */
function differences(before: string, after: string): readonly string[] {
  const { stdout } = spawnSync('diff', ['-rq', '--exclude=.git', before, after], { encoding: 'utf8' });
  return stdout
    .split('\n')
    .flatMap((line) => [/^Files .*\/(\S+) differ$/.exec(line)?.[1] ?? /^Only in [^:]+: (.+)$/.exec(line)?.[1] ?? []])
    .flat()
    .sort();
}
