// The tools of the editor through the installed extension: real agents with the scripted model call
// them, and the chat says what they found.
import { strict as assert } from 'node:assert';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Chat } from '../support/vscode/chat';
import { gitFolder } from '../support/vscode/gitFolder';
import { screenshot } from '../support/vscode/openWindow';
import { typescriptFolder } from '../support/vscode/serverTree';
import { useVsCode } from '../support/vscode/useVsCode';
import { type ModelServer, startModelServer } from './modelServer';
import { type RealAgent, realAgents } from './realAgents';

const scratch = mkdtempSync(join(tmpdir(), 'parley-editor-tools-'));

/** A function, its uses in two other files, and an error of types in one of them. */
const FILES = {
  'tsconfig.json': '{ "compilerOptions": { "strict": true }, "include": ["src"] }\n',
  'src/area.ts': 'export function area(side: number): number {\n  return side * side;\n}\n',
  'src/user.ts': "import { area } from './area';\n\nexport const wrong: string = area(2);\n",
  'src/other.ts': "import { area } from './area';\n\nexport const right = area(3);\n",
};

describe("the editor's tools with real agents", () => {
  let model: ModelServer;
  let agents: readonly RealAgent[];
  const settings: Record<string, unknown> = {};
  /** The settings of all windows: TypeScript is found before they open. */
  const windows: Record<string, unknown>[] = [];

  before(async function () {
    this.timeout(120_000);
    const tsdk = await typescriptFolder();
    for (const one of windows) one['typescript.tsdk'] = tsdk;
    model = await startModelServer();
    agents = await realAgents(join(scratch, 'homes'), model.url);
    for (const { id, name, definition } of agents) settings[id] = { name, ...definition };
  });

  after(async () => {
    await model?.close();
    rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
  });

  for (const id of ['gemini', 'opencode', 'claude', 'codex'] as const) {
    describe(id, function () {
      this.timeout(180_000);
      const folder = join(scratch, `work ${id}`);
      gitFolder(folder, FILES);
      const windowSettings: Record<string, unknown> = { 'parley.agents': settings, 'parley.defaultAgent': id };
      windows.push(windowSettings);
      const vscode = useVsCode({
        theme: id === 'gemini' ? 'light' : 'dark',
        folder,
        settings: windowSettings,
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

      const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
      /** The line of a tool call. */
      const line = (verb: string) => chat.frame.locator('.tool').filter({ hasText: verb }).first();

      it('answer the agent, and ask the user before a change', async () => {
        const { page } = vscode.window;
        const agent = agents.find((one) => one.id === id) ?? assert.fail();
        await chat.send(agent.prompt('editor', folder));
        let isOver = false;
        const ended = chat.turnEnd(150_000).finally(() => {
          isOver = true;
        });
        const rename = chat.frame.locator('.tool').filter({ hasText: 'Rename area to surface' });
        const once = chat.permission.locator('button[data-option-kind=allow_once]:not([aria-disabled])').first();
        let isPictured = false;
        while (!isOver) {
          if (!isPictured && (await rename.locator('.diff-line.added', { hasText: 'surface' }).count()) > 0) {
            isPictured = true;
            assert.match(read('src/user.ts'), /area/);
            await screenshot(page, `editor-tools-${id}-rename`);
          }
          await Promise.race([once.click({ timeout: 1_000 }).catch(() => undefined), ended]);
        }
        assert.equal(await ended, 'end_turn');
        assert.ok(isPictured, 'the rename was not shown before it was made');
        await line('Problems').getByText('1 error').first().waitFor();
        await line('References').getByText('5 found').first().waitFor();
        await line('Definition').getByText('1 found').first().waitFor();
        await screenshot(page, `editor-tools-${id}`);
        assert.doesNotMatch(read('src/user.ts') + read('src/area.ts') + read('src/other.ts'), /area\(/);
      });

      it('include the change in the review of the turn', async () => {
        await chat.frame.getByRole('button', { name: /^3 files changed/ }).waitFor();
        await chat.frame.getByRole('button', { name: /^Review 3 files/ }).waitFor();
      });
    });
  }
});
