// Diagrams of agents in the installed extension: Mermaid from a registry on loopback, and the pages that VS Code shows.
import { strict as assert } from 'node:assert';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FrameLocator, Page } from 'playwright-core';
import { MERMAID_FILE } from '../../src/registry/install/keptFile';
import { scriptedAgent } from '../support/agents/definition';
import { tgzOf } from '../support/archives';
import { closeLoopbacks, httpLoopback } from '../support/servers/loopback';
import type { Chat } from '../support/vscode/chat';
import { screenshot, type Theme, themes } from '../support/vscode/openWindow';
import { useChat } from '../support/vscode/useChat';
import { toolFrame } from '../support/vscode/workbench';

const FLOW = `flowchart LR
  A[Message] --> B{Is it known?}
  B -- yes --> C[(Journal)]
  B -- no --> D[Ask the user]
  D --> C
  subgraph Agent
    B
    D
  end`;

describe('diagrams of an agent', function () {
  this.timeout(120_000);
  const settings: Record<string, unknown> = {
    'parley.agents': { plain: scriptedAgent('plain') },
    'parley.defaultAgent': 'plain',
  };
  const requests: string[] = [];
  let archive: Buffer;

  before('start the registry', async () => {
    archive = await tgzOf([{ name: MERMAID_FILE.path, text: 'evil();' }]);
    const { host } = await httpLoopback((request, response) => {
      requests.push(request.url ?? '');
      response.writeHead(200, { 'content-length': archive.length }).end(archive);
    });
    settings['parley.diagrams.registry'] = `http://${host}/npm`;
  });
  after(closeLoopbacks);

  let chat: Chat;
  const vscode = useChat({ settings, theme: 'dark', viewport: { width: 1300, height: 800 } }, (opened) => {
    chat = opened;
  });

  const say = async (text: string): Promise<void> => {
    const update = { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } };
    await chat.run(`update ${JSON.stringify(update)}`);
  };
  const page = (): Page => vscode.window.page;
  const dialog = () => page().locator('.monaco-dialog-box');
  const diagram = (): FrameLocator => toolFrame(page());
  const tabs = () => page().locator('.tab', { hasText: /^Diagram: / });
  const kept = (): string =>
    join(vscode.server.dataDir, 'data/User/globalStorage/parley.parley/mermaid', MERMAID_FILE.version);
  const draw = async (): Promise<void> => {
    const block = chat.entries('agent').last().locator('.code-block');
    await block.hover();
    await block.getByRole('button', { name: 'Draw diagram' }).click();
  };
  const setTheme = async (theme: Theme): Promise<void> => {
    vscode.server.configure({ 'workbench.colorTheme': themes[theme] });
    await page()
      .locator(theme === 'light' ? '.monaco-workbench.vs' : '.monaco-workbench.vs-dark')
      .waitFor();
  };

  it('are drawn after a question; another file than the known one is refused', async () => {
    await say(`This is how it works:\n\n\`\`\`mermaid\n${FLOW}\n\`\`\`\n`);
    await draw();
    await dialog().getByText('Download Mermaid to draw diagrams?').waitFor();
    await dialog().getByText('/npm/@mermaid-js/tiny/-/tiny-12.0.0.tgz').waitFor();
    await screenshot(page(), 'diagram-question-dark');
    await dialog().getByRole('button', { name: 'Cancel' }).click();
    await dialog().waitFor({ state: 'detached' });
    assert.equal(requests.length, 0);
    await draw();
    await dialog().getByRole('button', { name: 'Download' }).click();
    await chat.frame.getByText("Mermaid wasn't downloaded. The file from 127").waitFor();
    assert.equal(requests.length, 1);
    assert.equal(existsSync(kept()), false);
    assert.equal(await tabs().count(), 0);
  });

  it('are drawn beside the chat, in the colours of the theme', async () => {
    archive = await tgzOf([
      { name: MERMAID_FILE.path, text: readFileSync('node_modules/@mermaid-js/tiny/dist/mermaid.tiny.js') },
    ]);
    await draw();
    await dialog().getByRole('button', { name: 'Download' }).click();
    const image = diagram().getByRole('img', { name: 'Diagram' });
    await image.waitFor();
    assert.ok((await image.evaluate((element) => (element as HTMLImageElement).naturalWidth)) > 300);
    assert.equal(requests.length, 2);
    await screenshot(page(), 'diagram-dark');
    const before = await image.getAttribute('src');
    await setTheme('light');
    await diagram().locator(`.diagram-view img:not([src="${before}"])`).waitFor();
    await screenshot(page(), 'diagram-light');
    await draw();
    await diagram().getByRole('group', { name: 'Diagram' }).press('+');
    assert.equal(await tabs().count(), 1);
    assert.equal(requests.length, 2);
  });
});
