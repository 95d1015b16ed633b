// An agent that nobody needs gives its process back, and is there again with the next look at its session.
import { strict as assert } from 'node:assert';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { calledMethods, readAgentLog, scriptedAgent } from '../../support/agents/definition';
import { sessionScript } from '../../support/agents/sessionScript';
import { goneFrom, isAlive } from '../../support/processes';
import { removeFolder } from '../../support/scratch';
import type { Chat } from '../../support/vscode/chat';
import { useChat } from '../../support/vscode/useChat';
import { inList } from '../../support/vscode/workbench';

const scratch = mkdtempSync(join(tmpdir(), 'parley-idle-'));
const log = join(scratch, 'agent.ndjson');
const script = sessionScript(join(scratch, 'sessions'), { load: true });
const settings = {
  // Two seconds.
  'parley.idleMinutes': 1 / 30,
  'parley.defaultAgent': 'keeper',
  'parley.agents': {
    keeper: {
      name: 'Keeper',
      ...scriptedAgent(script, log),
    },
  },
};

after(() => removeFolder(scratch));

describe('an idle agent', () => {
  let chat: Chat;
  const vscode = useChat({ settings }, (opened) => {
    chat = opened;
  });

  /** The agents that were started, in order. */
  const started = (): number[] => [...new Set(readAgentLog(log).map(({ pid }) => pid))];
  const loaded = (): number =>
    readAgentLog(log).filter(({ dir, msg }) => dir === 'in' && msg?.method === 'session/load').length;

  it('is stopped once its session is hidden, and resumes the session when it is shown again', async () => {
    assert.equal(await chat.run('the first session'), 'end_turn');
    const [first] = started();
    assert.ok(first !== undefined);
    await chat.newSession();
    assert.equal(await chat.run('the second session'), 'end_turn');
    const second = started().at(-1);
    assert.ok(second !== undefined && second !== first);
    await goneFrom(first);
    assert.equal(isAlive(second), true, 'the session in sight keeps its agent');

    await inList(vscode.window.page, 'Parley: Sessions', (list, patience) =>
      list.locator('.monaco-list-row', { hasText: 'the first session' }).click(patience),
    );
    await chat.entries('agent').getByText('Heard the first session').waitFor();
    await chat.state('ready');
    assert.equal(await chat.entries('user').count(), 1);
    await chat.send('and on');
    await chat.entries('agent').getByText('Heard and on').waitFor();
    await chat.state('ready');
    assert.deepEqual(await chat.entries('agent').allInnerTexts(), ['Heard the first session', 'Heard and on']);
    assert.equal(loaded(), 1);
    assert.equal(started().length, 3);
    await goneFrom(second);
  });
});

describe('the agent of the next new session', () => {
  const warmLog = join(scratch, 'warm.ndjson');
  let chat: Chat;
  useChat(
    {
      settings: {
        'parley.agents': { plain: { ...scriptedAgent('plain', warmLog), name: 'Plain' } },
        'parley.defaultAgent': 'plain',
        'parley.warmAgent': true,
      },
    },
    (opened) => {
      chat = opened;
    },
  );

  /** What each agent was called, in the order of their starts. */
  function called(): readonly (readonly string[])[] {
    const lines = readAgentLog(warmLog);
    const pids = [...new Set(lines.map(({ pid }) => pid))];
    return pids.map((pid) => calledMethods(lines.filter((line) => line.pid === pid)));
  }

  it('is started ahead without a session, and is the one that answers there', async () => {
    while (called()[1]?.[0] !== 'initialize') await new Promise((resolve) => setTimeout(resolve, 50));
    assert.equal(await chat.run('say first'), 'end_turn');
    assert.deepEqual(called()[1], ['initialize']);
    await chat.newSession();
    assert.equal(await chat.run('say second'), 'end_turn');
    assert.deepEqual(called().slice(0, 2), [
      ['initialize', 'session/new', 'session/prompt'],
      ['initialize', 'session/new', 'session/prompt'],
    ]);
  });
});
