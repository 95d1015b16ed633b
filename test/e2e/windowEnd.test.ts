// The window ends while an agent works: the agent is told, and the turn is kept with what happened to it.
import { strict as assert } from 'node:assert';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AgentLogLine, calledMethods, readAgentLog } from '../support/agents/definition';
import { goneFrom } from '../support/processes';
import { Chat } from '../support/vscode/chat';
import { useVsCode } from '../support/vscode/useVsCode';
import { command } from '../support/vscode/workbench';

const scratch = mkdtempSync(join(tmpdir(), 'parley-window-end-'));
const log = join(scratch, 'agent.ndjson');

after(() => rmSync(scratch, { recursive: true, force: true }));

describe('an agent whose window is reloaded in the middle of a turn', () => {
  const script = { store: join(scratch, 'sessions.json'), offers: ['close', 'resume'], mute: ['session/prompt'] };
  const vscode = useVsCode({
    settings: {
      'parley.agents': {
        keeper: {
          name: 'Keeper',
          command: process.execPath,
          args: [join(process.cwd(), 'out/support/agents/sessionAgent.js'), JSON.stringify(script)],
          env: { AGENT_LOG: log },
        },
      },
      'parley.defaultAgent': 'keeper',
    },
  });

  it('hears session/close and the end of its input, and its turn says that the window was reloaded', async () => {
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
