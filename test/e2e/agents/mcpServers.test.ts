// The list of the MCP servers of a session: what the agent got, and what it did not get.
import { strict as assert } from 'node:assert';
import { plainAgent } from '../../support/agents/definition';
import type { Chat } from '../../support/vscode/chat';
import { screenshot } from '../../support/vscode/openWindow';
import { useChat } from '../../support/vscode/useChat';
import { inList } from '../../support/vscode/workbench';

describe('the MCP servers of a session', function () {
  this.timeout(120_000);
  const settings = {
    ...plainAgent(),
    'parley.mcpServers': {
      files: { command: process.execPath, args: ['server.js', '--token', 'abcdefghij'], env: { KEY: 'klmnopqrst' } },
      docs: { type: 'http', url: 'https://me:uvwxyz12@docs.example/mcp?key=34567890', headers: { A: 'bearer-98765' } },
      gone: { command: 'parley-no-such-program' },
    },
  };
  let chat: Chat;
  const vscode = useChat({ theme: 'dark', settings }, (opened) => {
    chat = opened;
  });

  it('are listed with their status, and without secrets', async () => {
    const { page } = vscode.window;
    await chat.run('say ready');
    const texts = await inList(page, 'Parley: Show MCP Servers of Session', async (list, patience) => {
      const rows = list.locator('.monaco-list-row');
      await rows.filter({ hasText: 'server.js' }).waitFor(patience);
      await screenshot(page, 'mcp-servers-dark');
      return rows.allInnerTexts();
    });
    const row = (start: string): string => texts.find((text) => text.startsWith(start)) ?? '';
    assert.match(row('files'), /stdio · Passed to the agent[\s\S]*server\.js --token … · Settings/);
    assert.match(row('docs'), /http · Skipped[\s\S]*https:\/\/docs\.example\/mcp\?… · Settings/);
    assert.match(row('gone'), /stdio · Skipped/);
    assert.match(row('gone:'), /was not found/);
    assert.match(row('docs:'), /doesn't support MCP servers over http/);
    assert.match(row('parley'), /stdio · Passed to the agent/);
    assert.doesNotMatch(texts.join('\n'), /abcdefghij|klmnopqrst|uvwxyz12|34567890|98765/);
    await page.keyboard.press('Escape');
  });
});
