// Diagrams of agents in the installed extension: drawn in the answer, in the pages that VS Code
// shows.
import { strict as assert } from 'node:assert';
import type { Page } from 'playwright-core';
import { scriptedAgent } from '../support/agents/definition';
import type { Chat } from '../support/vscode/chat';
import { screenshot, type Theme, themes } from '../support/vscode/openWindow';
import { useChat } from '../support/vscode/useChat';
import { quickInput } from '../support/vscode/workbench';

const FLOW = `flowchart LR
  A[Message] --> B{Is it known?}
  B -- yes --> C[(Journal)]
  B -- no --> D[Ask the user]
  D --> C
  subgraph Agent
    B
    D
  end`;
const SEQUENCE = 'sequenceDiagram\n  User->>+Agent: Prompt\n  Agent-->>-User: Answer';
const TEXT = [FLOW, SEQUENCE, 'flowchart LR\n  A --> [']
  .map((source) => `\`\`\`mermaid\n${source}\n\`\`\`\n`)
  .join('\n');

describe('diagrams of an agent', function () {
  this.timeout(120_000);
  const settings = { 'parley.agents': { plain: scriptedAgent('plain') }, 'parley.defaultAgent': 'plain' };
  let chat: Chat;
  const vscode = useChat({ settings, theme: 'dark', viewport: { width: 1300, height: 1100 } }, (opened) => {
    chat = opened;
  });
  const page = (): Page => vscode.window.page;
  const pictures = () => chat.frame.locator('.diagram img');

  it('are drawn in the answer, and in the colours of each theme', async () => {
    const update = {
      sessionUpdate: 'agent_message_chunk',
      content: { type: 'text', text: `How it works:\n\n${TEXT}` },
    };
    await chat.run(`update ${JSON.stringify(update)}`);
    await pictures().nth(1).waitFor();
    await chat.frame.getByText(/^Diagram not drawn: Parse error on line 2/).waitFor();
    for (const theme of ['dark', 'light', 'highContrast'] as Theme[]) {
      const before = await pictures().first().getAttribute('src');
      if (theme !== 'dark') {
        vscode.server.configure({ 'workbench.colorTheme': themes[theme] });
        await chat.frame.locator(`.diagram img:not([src="${before}"])`).first().waitFor();
      }
      assert.ok(
        (await pictures()
          .first()
          .evaluate((image: HTMLImageElement) => image.naturalWidth)) > 300,
      );
      await screenshot(page(), `diagrams-${theme}`);
    }
  });

  it('are enlarged, and saved where the user says', async () => {
    await chat.frame.getByRole('button', { name: 'Diagram', exact: true }).first().click();
    const dialog = chat.frame.getByRole('dialog', { name: 'Diagram' });
    await dialog.getByRole('button', { name: 'Zoom In (+)' }).click();
    await screenshot(page(), 'diagram-large');
    await dialog.getByRole('button', { name: 'Save as SVG…' }).click();
    const input = quickInput(page()).locator('input[type=text]');
    await input.waitFor();
    await page().keyboard.press('Escape');
    await dialog.getByRole('button', { name: 'Close' }).click();
    await dialog.waitFor({ state: 'detached' });
  });
});
