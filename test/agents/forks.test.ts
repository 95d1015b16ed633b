// Real agents that fork a session at a message: what the fork remembers is what the agent itself
// repeats of it in another process.
// The process of the forked session still runs, as in a chat.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { snapshotOf } from '../../src/client/view/snapshot';
import { forkPointBefore } from '../../src/session/model/forkPoint';
import { pastOf } from '../../src/session/model/pastOf';
import { Chat } from '../support/vscode/chat';
import { screenshot } from '../support/vscode/openWindow';
import { useVsCode } from '../support/vscode/useVsCode';
import { command, turnEnd } from '../support/vscode/workbench';
import { AgentRun } from './agentRun';
import { scriptPrompt } from './modelScripts';
import { type ModelServer, startModelServer } from './modelServer';
import { realAgents } from './realAgents';

const names = { claude: 'Claude', gemini: 'Gemini', opencode: 'OpenCode', codex: 'Codex' } as const;

const runs = [
  ['claude', 1, true],
  ['claude', 2, true],
  ['codex', 1, true],
  ['codex', 2, true],
  ['opencode', 1, false],
] as const;

describe('real agents that fork a session at a message', function () {
  this.timeout(120_000);
  let folder: string;
  let model: ModelServer;

  before(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'parley-forks-')));
    model = await startModelServer();
  });

  after(async () => {
    await model?.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  });

  for (const [id, protocol, forks] of runs)
    it(`${id} in version ${protocol} ${forks ? 'remembers what was said up to it' : 'gets the transcript'}`, async () => {
      const scratch = join(folder, `${id} ${protocol}`);
      const cwd = join(scratch, 'work');
      await mkdir(cwd, { recursive: true });
      const agents = await realAgents(join(scratch, 'homes'), model.url);
      const agent = agents.find((one) => one.id === id) ?? assert.fail(`no ${id}`);
      const run = new AgentRun(agent, protocol, cwd, scratch);
      const origin = new AgentRun(agent, protocol, cwd, join(scratch, 'work'));
      try {
        await origin.open('a new session', { kind: 'new' });
        await origin.play('write');
        const { sessionId = '', model } = origin.conversation;
        const past = pastOf(model.state);
        const messageId = forkPointBefore(model.state.entries, model.state.entries.length) ?? assert.fail('no point');
        await origin.play('text');
        await run.open('forked before the second message', { kind: 'fork', sessionId, messageId }, past);
        const notices = snapshotOf(run.conversation).entries.flatMap(({ kind, text }) =>
          kind === 'notice' ? [text] : [],
        );
        const said = forks ? /The agent knows the messages above/ : /can't fork sessions at a message/;
        assert.match(notices.join('\n'), said);
        assert.equal(await run.play('think'), 'end_turn');
        const { sessionId: fork = '' } = run.conversation;
        assert.notEqual(fork, sessionId);
        await run.open('opened again', { kind: 'reopen', sessionId: fork, transcript: 'replay' });
        const repeated = run.standing().filter((line) => line.startsWith('user'));
        const scripts = repeated.map((line) => /<(\w+)>/.exec(line)?.[1]);
        assert.deepEqual(scripts.at(-1), 'think');
        assert.deepEqual(scripts, forks ? ['write', 'think'] : ['think']);
      } finally {
        await run.close();
        await origin.close();
      }
      const wire = await readFile(join(scratch, `${id}.v${protocol}.1.ndjson`), 'utf8');
      assert.equal(wire.split('"code":-32602').length - 1, forks ? 1 : 0, 'refuses the message that does not exist');
    });
});

describe('forks at a message in the installed extension', function () {
  this.timeout(120_000);
  const scratch = mkdtempSync(join(tmpdir(), 'parley-vsix-forks-'));
  const folder = join(scratch, 'work');
  mkdirSync(folder);
  const settings: Record<string, unknown> = {};
  let model: ModelServer;

  before(async () => {
    model = await startModelServer();
    for (const { id, definition } of await realAgents(join(scratch, 'homes'), model.url))
      settings[id] = { name: names[id], ...definition };
  });

  after(async () => {
    await model?.close();
    await rm(scratch, { recursive: true, force: true, maxRetries: 5 });
  });

  const vscode = useVsCode({ theme: 'dark', folder, settings: { 'parley.agents': settings } });

  for (const id of ['claude', 'codex', 'opencode'] as const)
    it(`edits a message and sends it again with ${names[id]}`, async () => {
      const { page } = vscode.window;
      await command(page, 'Parley: Focus Chat');
      const chat = await Chat.at(page, 'panel');
      await chat.selectAgent(names[id]);
      await chat.state('ready', 60_000);
      await chat.send(scriptPrompt('text', folder));
      assert.equal(await chat.turnEnd(60_000), 'end_turn');
      await chat.send(scriptPrompt('text', folder));
      assert.equal(await chat.turnEnd(60_000), 'end_turn');
      await chat.entries('user').last().hover();
      await chat.button('Edit and send again').last().click();
      const said = id === 'opencode' ? /The transcript is sent/ : /The agent knows the messages above/;
      await chat.entries('notice').filter({ hasText: said }).waitFor({ timeout: 60_000 });
      assert.equal(await chat.entries('user').count(), 1);
      await chat.send(scriptPrompt('think', folder));
      assert.equal(await turnEnd(chat.frame, 1), 'end_turn');
      // The script in a transcript is the last one that the model sees.
      const answer = id === 'opencode' ? 'That was all of it.' : 'I have thought about it.';
      await chat.entries('agent').filter({ hasText: answer }).last().waitFor();
      await screenshot(page, `fork-${id}`);
    });
});
