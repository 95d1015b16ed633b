// The window is reloaded while an agent on another machine works: the turn goes on over the next connection.
import { strict as assert } from 'node:assert';
import { DurableAgent } from '../../support/servers/durableAgent';
import { Chat } from '../../support/vscode/chat';
import { screenshot } from '../../support/vscode/openWindow';
import { useChat } from '../../support/vscode/useChat';
import { command } from '../../support/vscode/workbench';

/** Filled before VS Code starts, which reads it then. */
const agents: Record<string, object> = {};
const settings: Record<string, unknown> = {
  'parley.agents': agents,
  'parley.defaultAgent': 'far',
  'parley.background': 'finishTurn',
};

describe('a turn of an agent far away', () => {
  let far: DurableAgent;
  let chat: Chat;

  before('serve an agent', async () => {
    far = await DurableAgent.start({ status: 'states', load: true, turnComplete: true });
    agents.far = { name: 'Far away', url: far.url };
  });

  after(() => far.close());

  const vscode = useChat({ theme: 'dark', settings }, (opened) => {
    chat = opened;
  });

  it('continues when its window is reloaded, with what was said in between and the stop reason of the agent', async () => {
    const { page } = vscode.window;
    await chat.send('once more');
    await far.until(() => far.sessions.size === 1 && far.only.prompts.length === 1);
    far.say(far.only, 'Before the reload. ');
    await chat.entries('agent').getByText('Before the reload.').waitFor();
    await command(page, 'Developer: Reload Window');
    const connections = (): number => far.received.filter((method) => method === 'initialize').length;
    const before = connections();
    await far.until(() => connections() > before);
    far.say(far.only, 'During the reload. ');
    chat = await Chat.at(page, 'panel');
    await chat.state('running');
    await chat.entries('agent').getByText('During the reload.').waitFor();
    await screenshot(page, 'remote-reloaded-dark');
    far.say(far.only, 'And after it.');
    far.end(far.only, 'max_tokens');
    await chat.frame.locator('[role=separator][data-turn-id="t1"][data-stop-reason="max_tokens"]').waitFor();
    assert.equal(
      (await chat.entries('agent').last().innerText()).trim(),
      'Before the reload. During the reload. And after it.',
    );
    assert.deepEqual(far.only.prompts, ['once more']);
    assert.equal(await chat.entries('error').count(), 0);
    assert.equal(await chat.entries('notice').count(), 0);
  });
});
