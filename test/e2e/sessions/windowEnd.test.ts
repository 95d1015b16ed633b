// The window or its extension host ends while an agent works: the agent learns of it, and turn and
// queue are kept with what happened to them.
import { strict as assert } from 'node:assert';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type AgentLogLine,
  calledMethods,
  plainAgent,
  readAgentLog,
  scriptedAgent,
} from '../../support/agents/definition';
import { sessionScript } from '../../support/agents/sessionScript';
import { goneFrom } from '../../support/processes';
import { removeFolder } from '../../support/scratch';
import { Chat } from '../../support/vscode/chat';
import { draftIsKept } from '../../support/vscode/keptState';
import { screenshot } from '../../support/vscode/openWindow';
import { descendants, kill } from '../../support/vscode/processTree';
import { useChat } from '../../support/vscode/useChat';
import { useVsCode } from '../../support/vscode/useVsCode';
import { command } from '../../support/vscode/workbench';

const scratch = mkdtempSync(join(tmpdir(), 'parley-window-end-'));
const log = join(scratch, 'agent.ndjson');

after(() => removeFolder(scratch));

describe('an agent whose window is reloaded during a turn', () => {
  const script = sessionScript(join(scratch, 'sessions'), { offers: ['close', 'resume'], mute: ['session/prompt'] });
  const vscode = useVsCode({
    settings: {
      'parley.agents': {
        keeper: {
          name: 'Keeper',
          ...scriptedAgent(script, log),
        },
      },
      'parley.defaultAgent': 'keeper',
      'parley.background': 'off',
    },
  });

  it('receives session/close and the end of its input, and its turn notes the reload', async () => {
    const { page } = vscode.window;
    const chat = await Chat.open(page);
    await chat.send('take your time');
    await chat.state('running');
    const agent = readAgentLog(log).find(({ ev }) => ev === 'start')?.pid ?? 0;
    await command(page, 'Developer: Reload Window');
    await goneFrom(agent);
    const heard: readonly AgentLogLine[] = readAgentLog(log);
    assert.equal(calledMethods(heard).at(-1), 'session/close');
    const ended = heard.findIndex(({ ev }) => ev === 'stdin-end');
    const closed = heard.findIndex(({ msg }) => msg?.method === 'session/close');
    assert.ok(closed >= 0 && ended > closed, 'its input ends after session/close');
    assert.deepEqual(
      heard.filter(({ ev }) => ev === 'sigterm'),
      [],
    );

    const again = await Chat.at(page, 'panel');
    await again.entries('user').getByText('take your time').waitFor();
    await again.frame.getByText('the window was closed or reloaded').first().waitFor();
  });
});

describe('a window whose extension host is killed', () => {
  const killedLog = join(scratch, 'killed.ndjson');
  let chat: Chat;
  const vscode = useChat(
    {
      theme: 'dark',
      settings: {
        ...plainAgent(killedLog),
      },
    },
    (opened) => {
      chat = opened;
    },
  );

  const count = (found: (line: AgentLogLine) => boolean): number => readAgentLog(killedLog).filter(found).length;
  const prompts = (): number => count(({ dir, msg }) => dir === 'in' && msg?.method === 'session/prompt');
  const starts = (): number => count(({ ev }) => ev === 'start');

  it('restores the queue and the draft, and sends each message once and only on request', async () => {
    const { page } = vscode.window;
    // A turn of which the agent has said nothing yet.
    await chat.send('sleep 60000');
    await chat.state('running');
    for (const word of ['one', 'two', 'three']) await chat.send(`say ${word}`);
    await chat.queue.nth(2).waitFor();
    await chat.composer.fill('half a thought');
    await draftIsKept(vscode.server, page, 'half a thought');
    const [sent, started] = [prompts(), starts()];
    const hosts = descendants(vscode.server.pid).filter(({ command }) => command.includes('--type=extensionHost'));
    assert.ok(hosts.length > 0);
    for (const { pid } of hosts) kill(pid);

    // VS Code starts another host by itself, and the tab of the one that broke is replaced by one
    // that works.
    await chat.button('Stop').waitFor({ state: 'detached' });
    chat = await Chat.at(page, 'panel');
    await chat.queue.first().waitFor();
    await chat.state('idle');
    assert.equal(await chat.composer.inputValue(), 'half a thought');
    await chat.button(/^Send \d queued messages?$/).waitFor();
    assert.deepEqual(await chat.queue.locator('.queue-text').allTextContents(), [
      'sleep 60000',
      'say one',
      'say two',
      'say three',
    ]);
    await chat.queue.first().getByText('May already have been sent').waitFor();
    await screenshot(page, 'killed-host-dark');
    assert.equal(prompts(), sent, 'nothing is sent by itself');
    assert.equal(starts(), started, 'no agent is started by itself');
  });

  it('keeps the messages of a new session separately, and the unsent text', async () => {
    const { page } = vscode.window;
    await chat.newSession();
    await chat.state('ready');
    const sent = prompts();
    for (const { pid } of descendants(vscode.server.pid).filter(({ command }) =>
      command.includes('--type=extensionHost'),
    ))
      kill(pid);
    await chat.composer.fill('say first');
    await chat.composer.press('Enter');
    await chat.composer.pressSequentially('say second');
    await chat.composer.press('Enter');
    await chat.composer.pressSequentially('half a thought');
    chat = await Chat.at(page, 'panel');
    await chat.queue.nth(1).waitFor();
    assert.deepEqual(await chat.queue.locator('.queue-text').allTextContents(), ['say first', 'say second']);
    assert.equal(await chat.composer.inputValue(), 'half a thought');
    assert.equal(prompts(), sent, 'nothing is sent by itself');
  });
});
