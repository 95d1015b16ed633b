// The connection to an agent on another machine is lost in the middle of a turn, or its window is reloaded: the turn goes on over the next connection.
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

  it('goes on when its connection is lost, with what was said meanwhile, and the queue follows', async () => {
    const { page } = vscode.window;
    await chat.send('go');
    await far.until(() => far.sessions.size === 1 && far.only.prompts.length === 1);
    far.say(far.only, 'This was said before. ');
    await chat.send('next');
    await chat.queue.first().waitFor();
    await chat.entries('agent').getByText('This was said before.').waitFor();
    far.leave();
    await chat.frame
      .getByText(/Connection lost, reconnecting \(\d of \d\)/)
      .first()
      .waitFor();
    await screenshot(page, 'lost-connection-dark');
    await chat.frame
      .getByText(/reconnecting \(3 of \d\)/)
      .first()
      .waitFor();
    assert.equal(await chat.frame.locator('[role=separator][data-turn-id]').count(), 0, 'the turn is open');
    far.say(far.only, 'This was said meanwhile. ');
    far.back();
    await chat.state('running');
    await chat.entries('agent').getByText('This was said meanwhile.').waitFor();
    await screenshot(page, 'lost-connection-back-dark');
    far.say(far.only, 'And this after it.');
    far.end(far.only, 'max_tokens');
    await chat.frame.locator('[role=separator][data-turn-id="t1"][data-stop-reason="max_tokens"]').waitFor();
    await far.until(() => far.only.prompts.length === 2);
    far.end(far.only, 'end_turn');
    await chat.frame.locator('[role=separator][data-turn-id="t2"][data-stop-reason="end_turn"]').waitFor();
    assert.deepEqual(far.only.prompts, ['go', 'next']);
    assert.equal(await chat.entries('error').count(), 0);
    assert.equal(
      (await chat.entries('agent').first().innerText()).includes(
        'This was said before. This was said meanwhile. And this after it.',
      ),
      true,
    );
  });

  it('goes on when its window is reloaded, with what was said meanwhile, and ends with the reason of the agent', async () => {
    const { page } = vscode.window;
    await chat.send('once more');
    await far.until(() => far.only.prompts.length === 3);
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
    await chat.frame.locator('[role=separator][data-turn-id="t3"][data-stop-reason="max_tokens"]').waitFor();
    assert.equal(
      (await chat.entries('agent').last().innerText()).trim(),
      'Before the reload. During the reload. And after it.',
    );
    assert.deepEqual(far.only.prompts, ['go', 'next', 'once more']);
    assert.equal(await chat.entries('error').count(), 0);
    assert.equal(await chat.entries('notice').count(), 0);
  });
});
