// What the newer parts of the protocol look like to a person: forms, agents of version 2, agents far away, sessions that an agent keeps, signing in.
import { strict as assert } from 'node:assert';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { scriptedAgent } from '../../support/agents/definition';
import { sessionScript } from '../../support/agents/sessionScript';
import { removeFolder } from '../../support/scratch';
import { type RemoteAgentServer, serveAgent } from '../../support/servers/remoteAgent';
import type { Chat } from '../../support/vscode/chat';
import { screenshot } from '../../support/vscode/openWindow';
import { useChat } from '../../support/vscode/useChat';
import { command, inList, quickInput } from '../../support/vscode/workbench';

const scratch = mkdtempSync(join(tmpdir(), 'parley-protocol-'));

/** Filled before VS Code starts, which reads it then. */
const agents: Record<string, object> = {
  plain: { ...scriptedAgent('plain'), name: 'Plain' },
  two: { ...scriptedAgent({ versions: [2] }), name: 'Version two', protocol: 2 },
  keeper: {
    ...scriptedAgent(sessionScript(join(scratch, 'sessions'), { load: true, offers: ['list', 'delete', 'title'] })),
    name: 'Keeper',
  },
};
const settings: Record<string, unknown> = { 'parley.agents': agents, 'parley.defaultAgent': 'plain' };

let remote: RemoteAgentServer;

describe('the newer parts of the protocol', () => {
  before('serve an agent', async () => {
    remote = await serveAgent({
      refuse: ({ headers }) => (headers.authorization === 'Bearer open-sesame' ? undefined : 401),
    });
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the setting is written so
    agents.far = { name: 'Far away', url: remote.ws, headers: { Authorization: 'Bearer ${secret:key}' } };
  });

  after(async () => {
    await remote.close();
    await removeFolder(scratch);
  });

  describe('for a user', () => {
    let chat: Chat;
    const vscode = useChat({ theme: 'dark', settings }, (opened) => {
      chat = opened;
    });

    it('shows a form of the agent and sends what the user fills in', async () => {
      await chat.send('elicit');
      const card = chat.frame.getByRole('group', { name: /^Question from Plain: Which database/ });
      await card.waitFor();
      await chat.state('requiresAction');
      await card.getByRole('textbox', { name: /^Name/ }).fill('orders');
      await card.getByRole('radio', { name: 'PostgreSQL' }).check();
      await card.getByRole('checkbox', { name: 'ann' }).check();
      await screenshot(vscode.window.page, 'form');
      await chat.answer('Submit', card);
      await card.waitFor({ state: 'detached' });
      assert.equal(await chat.turnEnd(), 'end_turn');
      await chat.entries('agent').getByText('"name":"orders"').waitFor();
    });

    it('shows the address of a page before it opens it', async () => {
      await chat.send('elicit-url https://example.com/connect?state=a%2Fb');
      const card = chat.frame.getByRole('group', { name: /^Question from Plain: Please connect/ });
      await card.getByText('https://example.com/connect?state=a%2Fb').first().waitFor();
      await screenshot(vscode.window.page, 'form-page');
      await chat.answer('Decline', card);
      assert.equal(await chat.turnEnd(), 'end_turn');
    });

    it('talks to an agent of version 2 and shows each message once', async () => {
      await chat.selectAgent('Version two');
      await chat.state('ready');
      await chat.send('running\necho\nreceipt\nsay Hello from two.\nidle end_turn');
      const end = chat.frame.locator('[role=separator][data-barrier="state"]');
      await end.waitFor();
      assert.equal(await end.getAttribute('data-stop-reason'), 'end_turn');
      await chat.entries('agent').getByText('Hello from two.').waitFor();
      assert.equal(await chat.entries('user').count(), 1);
      await screenshot(vscode.window.page, 'version-two');
    });

    it('reaches an agent on another machine with a key that the settings do not hold', async () => {
      const chosen = chat.selectAgent('Far away');
      const box = quickInput(vscode.window.page).locator('input[type=password]');
      await box.waitFor();
      await screenshot(vscode.window.page, 'secret');
      await box.fill('open-sesame');
      await box.press('Enter');
      await chosen;
      await chat.state('ready');
      await chat.send('hello');
      assert.equal(await chat.turnEnd(), 'end_turn');
      await chat.entries('agent').getByText('You said hello.').waitFor();
    });

    it('lists and opens the sessions that the agent keeps', async () => {
      await chat.selectAgent('Keeper');
      await chat.state('ready');
      await chat.send('say remember me');
      assert.equal(await chat.turnEnd(), 'end_turn');
      await command(vscode.window.page, 'Parley: Close Session');
      await chat.selectAgent('Keeper');
      await chat.state('ready');
      await inList(vscode.window.page, 'Parley: Sessions', async (list, patience) => {
        const row = list.locator('.monaco-list-row', { hasText: 'keeper-' }).or(list.getByText(/Keeper: earlier/));
        await row.first().waitFor(patience);
      });
      await screenshot(vscode.window.page, 'sessions');
      await vscode.window.page.keyboard.press('Escape');
    });
  });
});
