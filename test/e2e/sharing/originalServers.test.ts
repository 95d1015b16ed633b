// HTTP agents on servers that record completed runs alone, in the installed extension: a turn that was stopped, another port, another server, and messages that are lost.
import { strict as assert } from 'node:assert';
import { type OriginalServer, originalServer } from '../../support/servers/originalServer';
import { stopStubs } from '../../support/servers/stubServer';
import type { Chat } from '../../support/vscode/chat';
import { screenshot } from '../../support/vscode/openWindow';
import { useChat } from '../../support/vscode/useChat';
import { chooseInList } from '../../support/vscode/workbench';

/** Filled before VS Code starts, which reads it then. */
const agents: Record<string, object> = {};
const settings = { 'parley.agents': agents, 'parley.defaultAgent': 'first' };

describe('a session with HTTP agents that record completed runs alone', () => {
  let first: OriginalServer;
  let second: OriginalServer;
  let chat: Chat;

  before('serve two agents', async () => {
    first = await originalServer();
    second = await originalServer();
    agents.first = { type: 'communication', name: 'First', url: first.baseUrl, agent: 'a' };
    agents.second = { type: 'communication', name: 'Second', url: second.baseUrl, agent: 'a' };
  });
  after(stopStubs);

  const vscode = useChat({ theme: 'dark', settings }, (opened) => {
    chat = opened;
  });
  const linksElsewhere = ({ links }: OriginalServer): readonly string[] =>
    links.flat().filter((url) => ![first, second].some(({ baseUrl }) => url.startsWith(`${baseUrl}/`)));

  it('continues after Stop, also on another port, without links to this window', async () => {
    await chat.send('stop');
    await chat.entries('agent').getByText('I begin').waitFor();
    await chat.button('Stop').click();
    assert.equal(await chat.turnEnd(), 'cancelled');
    vscode.server.configure({ 'parley.server.port': 4999 });
    assert.equal(await chat.run('Where were we?'), 'end_turn');
    assert.deepEqual(first.knew.at(-1), ['stop', 'I begin', 'Where were we?']);
    assert.equal(await chat.run('Go on.'), 'end_turn');
    assert.deepEqual(linksElsewhere(first), []);
  });

  it('names the message that another server cannot load, and offers two ways to continue', async () => {
    const { page } = vscode.window;
    first.forgetMessages(2);
    await chooseInList(page, 'Parley: Continue with Another Agent…', 'Select an agent to continue with', 'Second');
    await chat.entries('notice').filter({ hasText: 'Continued from First, 6 messages' }).waitFor();
    await chat.send('What do you know?');
    const failed = chat.entries('error').filter({ hasText: '404 Not Found' });
    await failed.getByText(/Message 2 of 6 can't be read from http/).waitFor();
    await failed.getByRole('button', { name: 'Send transcript instead' }).waitFor();
    await screenshot(page, 'history-unreadable-dark');
    await failed.getByRole('button', { name: 'Continue without message 2' }).click();
    await chat.entries('agent').getByText('I know 6').waitFor();
    await chat.state('ready');
    assert.deepEqual(second.knew, [['stop', 'Where were we?', 'I know 3', 'Go on.', 'I know 5', 'What do you know?']]);
    assert.equal(await failed.getByRole('button').filter({ visible: true }).count(), 0, 'it was sent again');
    assert.deepEqual(linksElsewhere(second), []);
  });

  it('sends the transcript where the user chooses it', async () => {
    const { page } = vscode.window;
    second.forgetMessages();
    first.forgetMessages();
    await chat.send('And now?');
    const failed = chat.entries('error').filter({ hasText: /\d of \d messages can't be read/ });
    await failed.getByRole('button', { name: 'Send transcript instead' }).click();
    await chat.state('ready');
    await chat
      .entries('agent')
      .getByText(/^I know/)
      .nth(3)
      .waitFor();
    const knew = second.knew.at(-1) ?? [];
    assert.ok(knew.includes('What do you know?') && knew.at(-1) === 'And now?', JSON.stringify(knew));
    await screenshot(page, 'history-sent-anew-dark');
  });
});
