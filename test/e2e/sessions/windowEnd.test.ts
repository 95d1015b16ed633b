// The window ends while an agent works: the agent is told, and the turn is kept with what happened to it.
import { strict as assert } from 'node:assert';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AgentLogLine, calledMethods, readAgentLog, scriptedAgent } from '../../support/agents/definition';
import { sessionScript } from '../../support/agents/sessionScript';
import { goneFrom } from '../../support/processes';
import { removeFolder } from '../../support/scratch';
import { Chat } from '../../support/vscode/chat';
import { openWindow, type Window } from '../../support/vscode/openWindow';
import { descendants, kill } from '../../support/vscode/processTree';
import { vsixPath } from '../../support/vscode/repository';
import { type Server, startServer } from '../../support/vscode/startServer';
import { useVsCode } from '../../support/vscode/useVsCode';
import { command } from '../../support/vscode/workbench';

const scratch = mkdtempSync(join(tmpdir(), 'parley-window-end-'));
const log = join(scratch, 'agent.ndjson');

after(() => removeFolder(scratch));

describe('an agent whose window is reloaded in the middle of a turn', () => {
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

  it('receives session/close and the end of its input, and its turn says that the window was reloaded', async () => {
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

describe('a window whose VS Code server is killed in the middle of a turn', () => {
  const place = join(scratch, 'killed');
  const killedLog = join(scratch, 'killed.ndjson');
  const options = {
    folder: join(place, 'workspace'),
    dataDir: join(place, 'data'),
    settings: {
      'parley.agents': { plain: { ...scriptedAgent('plain', killedLog), name: 'Plain' } },
      'parley.defaultAgent': 'plain',
      'parley.background': 'off',
    },
  };
  const vscode = useVsCode(options);
  let again: Server | undefined;
  let window: Window | undefined;

  after('end the second server', async () => {
    await window?.close();
    await again?.stop();
  });

  it('shows the session, the interrupted turn and the queue again', async () => {
    const chat = await Chat.open(vscode.window.page);
    await chat.send('say Working.\nwait');
    await chat.entries('agent').getByText('Working.').waitFor();
    for (const word of ['one', 'two', 'three']) await chat.send(`say ${word}`);
    await chat.queue.nth(2).waitFor();
    const agent = readAgentLog(killedLog).find(({ ev }) => ev === 'start')?.pid ?? 0;
    const { server } = vscode;
    const own = descendants(server.pid).filter(({ command }) => /bootstrap-fork|server-main|--type=/.test(command));
    for (const { pid } of [...own].reverse()) kill(pid);
    kill(server.pid);
    await server.exited;
    await goneFrom(agent);

    // Another browser as well: nothing is left of what VS Code remembers of the workspace.
    again = await startServer({ ...options, extensions: [vsixPath] });
    window = await openWindow(again);
    const back = await Chat.open(window.page);
    await back.entries('agent').getByText('Working.').waitFor();
    await back.queue.nth(2).waitFor();
    assert.deepEqual(await back.queue.locator('.queue-text').allTextContents(), ['say one', 'say two', 'say three']);
    assert.equal(await back.turnEnd(), 'error');
    await back.button('Send 3 queued messages').waitFor();
  });
});
