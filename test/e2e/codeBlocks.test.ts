// Code of an answer in the installed extension: applied to a file after a look at the change.
import { strict as assert } from 'node:assert';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { scriptedAgent } from '../support/agents/definition';
import type { Chat } from '../support/vscode/chat';
import { screenshot, type Theme, themes } from '../support/vscode/openWindow';
import { useChat } from '../support/vscode/useChat';

const ANSWER = `The greeting takes a name now, so that the caller decides whom to greet:

\`\`\`ts src/greet.ts
export function greet(name: string): string {
  // This comment is long enough to show what wrapping does to a line that does not fit into the width of the chat.
  return \`Hello, \${name}!\`;
}
\`\`\`
`;

describe('code of an answer', function () {
  this.timeout(120_000);
  const settings: Record<string, unknown> = {
    'parley.agents': { plain: scriptedAgent('plain') },
    'parley.defaultAgent': 'plain',
  };
  let chat: Chat;
  const vscode = useChat({ settings, theme: 'dark', viewport: { width: 1300, height: 800 } }, (opened) => {
    chat = opened;
  });
  const page = (): Page => vscode.window.page;
  const update = async (content: unknown): Promise<void> => {
    await chat.run(`update ${JSON.stringify(content)}`);
  };
  const setTheme = async (theme: Theme): Promise<void> => {
    vscode.server.configure({ 'workbench.colorTheme': themes[theme] });
    await page()
      .locator(theme === 'light' ? '.monaco-workbench.vs' : '.monaco-workbench.vs-dark')
      .waitFor();
  };

  it('is written to the file that it names when the user has seen the change', async () => {
    const file = join(vscode.server.folder, 'src/greet.ts');
    mkdirSync(join(vscode.server.folder, 'src'));
    writeFileSync(file, "export function greet(): string {\n  return 'Hello!';\n}\n");
    await update({
      sessionUpdate: 'tool_call',
      toolCallId: 'edit',
      title: 'Edit app.ts',
      kind: 'edit',
      status: 'completed',
      content: [
        {
          type: 'diff',
          path: join(vscode.server.folder, 'src/app.ts'),
          oldText: "import { greet } from './greet';\n\nconsole.log(greet());\nconst users = load('users.json');\n",
          newText:
            "import { greet } from './greet';\n\nconsole.log(greet('Ada'));\nconst people = load('people.json');\n",
        },
      ],
    });
    await update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: ANSWER } });
    const block = chat.entries('agent').last().locator('.code-block');
    await block.getByRole('button', { name: 'Wrap lines' }).click();
    await screenshot(page(), 'code-block-dark');
    await setTheme('light');
    await screenshot(page(), 'code-block-light');
    await block.getByRole('button', { name: 'Apply to file…' }).click();
    const apply = page().getByRole('button', { name: 'Apply to File' }).first();
    await apply.waitFor();
    await page().locator('.monaco-diff-editor .view-line', { hasText: 'name: string' }).first().waitFor();
    await screenshot(page(), 'code-apply-light');
    await setTheme('dark');
    await screenshot(page(), 'code-apply-dark');
    assert.match(readFileSync(file, 'utf8'), /greet\(\)/);
    await apply.click();
    await page().locator('.monaco-diff-editor').waitFor({ state: 'detached' });
    assert.equal(readFileSync(file, 'utf8'), `${ANSWER.split('\n').slice(3, 7).join('\n')}\n`);
  });
});
