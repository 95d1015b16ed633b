// Messages that are put into the running turns of real agents: between words, while a tool call
// waits for an answer or runs, and at the end.
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Chat } from '../support/vscode/chat';
import { screenshot } from '../support/vscode/openWindow';
import { useVsCode } from '../support/vscode/useVsCode';
import { command } from '../support/vscode/workbench';
import { AgentRun } from './agentRun';
import { scriptPrompt } from './modelScripts';
import { type ModelServer, startModelServer } from './modelServer';
import { realAgents } from './realAgents';

const runs = [
  ['claude', 1],
  ['codex', 1],
  ['codex', 2],
] as const;

describe('a message added to the turn of a real agent', function () {
  this.timeout(120_000);
  let folder: string;
  let model: ModelServer;

  before(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'parley-steering-')));
    model = await startModelServer();
  });

  after(async () => {
    await model?.close();
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  });

  for (const [id, protocol] of runs)
    for (const [when, script] of [
      ['between words', 'brief'],
      ['while a command waits for permission', 'command'],
    ] as const)
      it(`is part of it: ${id} in version ${protocol}, ${when}`, async () => {
        const scratch = join(folder, `${id}-${protocol}-${script}`);
        const cwd = join(scratch, 'work');
        await mkdir(cwd, { recursive: true });
        const agents = await realAgents(join(scratch, 'homes'), model.url);
        const agent = agents.find((one) => one.id === id) ?? assert.fail(`no ${id}`);
        const run = new AgentRun(agent, protocol, cwd, scratch);
        try {
          await run.open('a new session', { kind: 'new' });
          const { outcome, users, stopReason } = await run.steer(script);
          assert.deepEqual([outcome, stopReason], ['injected', 'end_turn'], run.lines.join('\n'));
          assert.deepEqual(users, ['t1', 't1'], 'both messages once, in one turn');
        } finally {
          await run.close();
        }
      });
});

describe('steering in the installed extension', function () {
  this.timeout(120_000);
  const scratch = mkdtempSync(join(tmpdir(), 'parley-vsix-steering-'));
  const folder = join(scratch, 'work');
  mkdirSync(folder);
  const names = { claude: 'Claude', codex: 'Codex' } as const;
  const settings: Record<string, unknown> = {};
  const wireOf = (id: string): string => join(scratch, `${id}.ndjson`);
  let model: ModelServer;

  before(async () => {
    model = await startModelServer();
    const recorder = join(process.cwd(), 'out/support/agents/wireRecorder.js');
    for (const { id, name, definition } of await realAgents(join(scratch, 'homes'), model.url)) {
      const args = [recorder, wireOf(id), definition.command, ...definition.args];
      settings[id] = { ...definition, name, command: process.execPath, args };
    }
  });

  after(async () => {
    await model?.close();
    await rm(scratch, { recursive: true, force: true, maxRetries: 5 });
  });

  const vscode = useVsCode({ theme: 'dark', folder, settings: { 'parley.agents': settings } });

  for (const id of ['claude', 'codex'] as const)
    it(`adds messages to the turn before, during and after a command, and at its end: ${names[id]}`, async () => {
      const { page } = vscode.window;
      await command(page, 'Parley: Focus Chat');
      const chat = await Chat.at(page, 'panel');
      await chat.selectAgent(names[id]);
      await chat.state('ready', 60_000);
      const said = (text: string) => chat.entries('user').filter({ hasText: text }).waitFor();
      const steer = async (text: string): Promise<void> => {
        await chat.composer.fill(text);
        await chat.composer.press('Control+Enter');
        await said(text);
      };
      const words = (text: string) => chat.entries('agent').last().filter({ hasText: text }).waitFor();
      await chat.send(scriptPrompt('long', folder));
      await words('tick5');
      await chat.send('Before.');
      await chat.button('Steer with message').click();
      await said('Before.');
      await chat.permission.waitFor({ timeout: 60_000 });
      await steer('While it asks.');
      await chat.answerable();
      await chat.permission.locator('button[data-option-kind=allow_once]').first().click();
      await chat.permission.waitFor({ state: 'detached' });
      await steer('During.');
      await words('tick5');
      await steer('After.');
      await words('over.');
      await chat.composer.fill('At the end.');
      await chat.composer.press('Control+Enter');
      await said('At the end.');
      await chat.state('ready', 60_000);
      await screenshot(page, `steered-${id}`);
      const texts = await chat.log
        .locator('[role=article]:is([data-kind=user], [data-kind=tool])')
        .evaluateAll((entries) => entries.map((entry) => entry.textContent ?? ''));
      assert.deepEqual(
        texts.map((text) => /Play|Before|Run|While|During|After|At the end/.exec(text)?.[0]),
        ['Play', 'Before', 'Run', 'While', 'During', 'After', 'At the end'],
      );
      const outcomes = [...readFileSync(wireOf(id), 'utf8').matchAll(/"outcome":"(\w+)"/g)].map(
        ([, outcome]) => outcome,
      );
      // The last one may come when the turn has ended.
      assert.deepEqual(outcomes.slice(0, 4), Array(4).fill('injected'));
      process.stdout.write(`      ${id}: ${outcomes.join(', ')}\n`);
    });
});
