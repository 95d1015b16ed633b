// An agent on another machine that wants a key: VS Code asks for the key and keeps it out of the
// settings.
import { strict as assert } from 'node:assert';
import { scriptedAgent } from '../../support/agents/definition';
import { type RemoteAgentServer, serveAgent } from '../../support/servers/remoteAgent';
import type { Chat } from '../../support/vscode/chat';
import { screenshot } from '../../support/vscode/openWindow';
import { useChat } from '../../support/vscode/useChat';
import { quickInput } from '../../support/vscode/workbench';

/** Filled before VS Code starts, which reads it then. */
const agents: Record<string, object> = { plain: { ...scriptedAgent('plain'), name: 'Plain' } };
const settings: Record<string, unknown> = { 'parley.agents': agents };

let remote: RemoteAgentServer;

describe('an agent on another machine', () => {
  before('serve an agent', async () => {
    remote = await serveAgent({
      refuse: ({ headers }) => (headers.authorization === 'Bearer open-sesame' ? undefined : 401),
    });
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the setting is written so
    agents.far = { name: 'Far away', url: remote.ws, headers: { Authorization: 'Bearer ${secret:key}' } };
  });

  after(() => remote.close());

  describe('for a user', () => {
    let chat: Chat;
    const vscode = useChat({ theme: 'dark', settings }, (opened) => {
      chat = opened;
    });

    it('gets the message, with a key that is asked for and not stored in the settings', async () => {
      // A chat begins with the first agent of the settings, and not with the demo.
      await chat.frame.getByRole('heading', { name: 'Plain', level: 2 }).waitFor();
      await chat.composer.fill('Fix the parser');
      const chosen = chat.selectAgent('Far away');
      const box = quickInput(vscode.window.page).locator('input[type=password]');
      await box.waitFor();
      await screenshot(vscode.window.page, 'secret');
      await box.fill('open-sesame');
      await box.press('Enter');
      await chosen;
      await chat.state('ready');
      assert.equal(await chat.composer.inputValue(), 'Fix the parser');
      await chat.composer.press('Enter');
      assert.equal(await chat.turnEnd(), 'end_turn');
      await chat.entries('agent').getByText('You said Fix the parser.').waitFor();
    });
  });
});
