// What the real agents change, by their own tools and behind their backs: the list is what the disk
// says.
import { strict as assert } from 'node:assert';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Chat } from '../support/vscode/chat';
import { gitFolder } from '../support/vscode/gitFolder';
import { screenshot } from '../support/vscode/openWindow';
import { useVsCode } from '../support/vscode/useVsCode';
import { type ModelServer, startModelServer } from './modelServer';
import { type RealAgent, realAgents } from './realAgents';

const scratch = mkdtempSync(join(tmpdir(), 'parley-changes-'));
const all = ['by-command.txt', 'edited.txt', 'gone.txt', 'new-name.txt', 'old-name.txt'];
const lines = Array.from({ length: 40 }, (_, index) => `line ${index + 1}\n`).join('');

/** Files of every kind that the script changes. */
const FILES = {
  'edited.txt': lines,
  'by-command.txt': 'one\ntwo\nthree\n',
  'old-name.txt': 'a file that is moved\nwith some\nlines in it\n',
  'gone.txt': 'a file that is deleted\n',
  'untouched.txt': 'as it was\n',
};

describe('the changes of real agents', () => {
  let model: ModelServer;
  let agents: readonly RealAgent[];
  const settings: Record<string, unknown> = {};

  before(async () => {
    model = await startModelServer();
    agents = await realAgents(join(scratch, 'homes'), model.url);
    for (const { id, name, definition } of agents) settings[id] = { name, ...definition };
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
      gitFolder(folder, FILES);
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

      it('are listed as on disk, made by the agent or by its commands', async () => {
        await play();
        await chat.frame.getByRole('button', { name: /^4 files changed/ }).click();
        await row('by-command.txt').waitFor();
        assert.deepEqual(differences(original, folder), all);
        const paths = await list().evaluateAll((items) => items.map((item) => item.getAttribute('data-path')));
        assert.deepEqual(paths.sort(), ['by-command.txt', 'edited.txt', 'gone.txt', 'new-name.txt']);
        await bar().waitFor();
        await screenshot(vscode.window.page, `changes-${id}`);
      });
    });
  }
});

/** Which files `diff -r` finds different, sorted. */
function differences(before: string, after: string): readonly string[] {
  const { stdout } = spawnSync('diff', ['-rq', '--exclude=.git', before, after], { encoding: 'utf8' });
  return stdout
    .split('\n')
    .flatMap((line) => [/^Files .*\/(\S+) differ$/.exec(line)?.[1] ?? /^Only in [^:]+: (.+)$/.exec(line)?.[1] ?? []])
    .flat()
    .sort();
}
