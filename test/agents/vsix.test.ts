// The real agents in the installed extension, with the scripted model behind them: what a user does
// with each on the first day, and that nothing of what an agent sends is lost.
import { strict as assert } from 'node:assert';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import { Chat } from '../support/vscode/chat';
import { screenshot } from '../support/vscode/openWindow';
import { useVsCode } from '../support/vscode/useVsCode';
import { command, toolFrame, turnEnd } from '../support/vscode/workbench';
import type { ScriptName } from './modelScripts';
import { type ModelServer, startModelServer } from './modelServer';
import type { Message, Wild } from './rawClient';
import { type RealAgent, realAgents } from './realAgents';

const scratch = mkdtempSync(join(tmpdir(), 'parley-vsix-agents-'));

/** What the panel shows of each kind of update; another kind would go by unseen here. */
const shown = new Set([
  'agent_message_chunk',
  'agent_thought_chunk',
  'tool_call',
  'tool_call_update',
  'available_commands_update',
  'usage_update',
  'session_info_update',
  'current_mode_update',
  'config_option_update',
]);

describe('real agents in the installed extension', () => {
  let model: ModelServer;
  let agents: readonly RealAgent[];

  before(async () => {
    model = await startModelServer();
    agents = await realAgents(join(scratch, 'homes'), model.url);
    for (const agent of agents) {
      const { command: program, args, env } = agent.definition;
      const recorder = join(process.cwd(), 'out/support/agents/wireRecorder.js');
      settings[agent.id] = {
        name: agent.name,
        command: process.execPath,
        args: [recorder, wireOf(agent.id), program, ...args],
        env,
      };
    }
  });

  after(async () => {
    await model?.close();
    rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
  });

  const settings: Record<string, unknown> = {};
  const wireOf = (id: string): string => join(scratch, `${id}.ndjson`);

  for (const id of ['claude', 'gemini', 'opencode'] as const) {
    describe(id, function () {
      this.timeout(120_000);
      const folder = join(scratch, `work ${id}`);
      mkdirSync(folder, { recursive: true });
      const vscode = useVsCode({
        theme: 'dark',
        folder,
        settings: { 'parley.agents': settings, 'parley.defaultAgent': id },
      });
      let chat: Chat;
      let agent: RealAgent;
      /** Lines of the wire before the turn that is looked at. */
      let from = 0;
      let tools = 0;

      before('open the chat', async function () {
        this.timeout(120_000);
        agent = agents.find((one) => one.id === id) ?? assert.fail();
        await command(vscode.window.page, 'Parley: Focus Chat');
        chat = await Chat.at(vscode.window.page, 'panel');
        await chat.state('ready', 90_000);
      });

      const wire = (): Message[] =>
        readFileSync(wireOf(id), 'utf8')
          .split('\n')
          .filter((line) => line.trim() !== '')
          .map((line) => JSON.parse(line) as Message);

      async function send(script: ScriptName): Promise<void> {
        from = wire().length;
        tools = await chat.entries('tool').count();
        await chat.send(agent.prompt(script, folder));
      }

      /**
       * Holds what the panel shows of the last turn against what went over the wire.
       * @returns how many updates that was
       */
      async function nothingIsDropped(): Promise<number> {
        const updates: Wild[] = wire()
          .slice(from)
          .flatMap((message) => (message.method === 'session/update' ? [message.params.update] : []));
        assert.deepEqual(
          updates.map(({ sessionUpdate }) => sessionUpdate).filter((kind) => !shown.has(kind)),
          [],
        );
        const said = textOf(updates, 'agent_message_chunk');
        if (said !== '') assert.equal(bare(await chat.copyTurn()), bare(said));
        const thought = textOf(updates, 'agent_thought_chunk');
        if (thought !== '') {
          const row = chat.entries('thought').last().getByRole('button', { expanded: false });
          await row.click();
          assert.ok(bare(thought).endsWith(bare(await bodyOf(chat.entries('thought').last()))));
        }
        // Some agents describe a call only in their question about it, and never speak of it again
        // when it is refused.
        const calls: Wild[] = wire()
          .slice(from)
          .flatMap(({ method, params }) =>
            method === 'session/update'
              ? [params.update]
              : method === 'session/request_permission'
                ? [params.toolCall]
                : [],
          );
        const statuses = new Map<string, string>();
        for (const { toolCallId, status } of calls)
          if (toolCallId) statuses.set(toolCallId, status ?? statuses.get(toolCallId) ?? 'pending');
        const entries = await chat.entries('tool').all();
        const drawn = await Promise.all(entries.slice(tools).map((one) => one.getAttribute('data-tool-status')));
        assert.equal(drawn.length, statuses.size);
        [...statuses.values()].forEach((status, index) => {
          // What a cancelled or a finished turn left open, the client closes by itself.
          if (status === 'completed' || status === 'failed') assert.equal(drawn[index], status);
        });
        return updates.length;
      }

      /**
       * Returns what the page holds of the transcript, as soon as that is all of it: kinds and
       * texts, with the ends of turns.
       */
      async function transcript(): Promise<[kind: string, text: string][]> {
        await chat.frame.locator('[role=separator][data-turn-id=t1]').waitFor();
        return chat.log
          .locator('[role=article], [role=separator][data-turn-id]')
          .evaluateAll((entries) =>
            entries.map((entry) => [entry.getAttribute('data-kind') ?? 'turn', entry.textContent ?? '']),
          );
      }

      it('streams its text', async () => {
        await send('text');
        assert.equal(await chat.turnEnd(60_000), 'end_turn');
        const answerText = chat.entries('agent').last();
        await answerText.locator('strong', { hasText: 'scripted' }).waitFor();
        await answerText.locator('.code-block', { hasText: 'const answer' }).waitFor();
        assert.ok((await nothingIsDropped()) > 3);
      });

      it('shows a change before it writes the file', async () => {
        const path = join(folder, 'written.txt');
        await send('write');
        await chat.permission.locator('.diff-line.added', { hasText: 'line one' }).waitFor({ timeout: 60_000 });
        assert.equal(existsSync(path), false);
        await chat.answerable();
        await screenshot(vscode.window.page, `agent-${id}-permission`);
        await chat.permission.locator('button[data-option-kind=allow_once]').first().click();
        assert.equal(await chat.turnEnd(60_000), 'end_turn');
        assert.equal(readFileSync(path, 'utf8'), 'line one\nline two\n');
        await nothingIsDropped();
      });

      it('has all its updates handled', async () => {
        const { page } = vscode.window;
        const sent = wire().filter(({ method }) => method === 'session/update').length;
        await command(page, 'Parley: Show Protocol Traffic');
        const inspector = toolFrame(page);
        await inspector.getByRole('combobox', { name: 'Direction' }).selectOption({ label: 'From agent' });
        await inspector.getByRole('searchbox').fill('"method":"session/update"');
        // Until the answer is there, it counts otherwise.
        const count = inspector.locator('.traffic-count');
        await count.filter({ hasText: new RegExp(`^${sent.toLocaleString('en')} of `) }).waitFor();
        process.stdout.write(`      ${id}: ${sent} updates sent and heard\n`);
      });

      it('adds only the next turn to the transcript after a reload of the window', async () => {
        const { page } = vscode.window;
        // The page holds only what is near the eye: here that is to be all of it.
        const size = page.viewportSize() ?? assert.fail();
        await page.setViewportSize({ ...size, height: 3000 });
        await command(page, 'Parley: Focus Chat');
        const before = await transcript();
        const turns = before.filter(([kind]) => kind === 'turn').length;
        assert.deepEqual(
          before.filter(([kind]) => kind === 'user').map(([, text]) => /<(\w+)>/.exec(text)?.[1]),
          ['text', 'write'],
        );
        await agent.settle?.();
        await Promise.all([page.waitForEvent('load'), command(page, 'Developer: Reload Window')]);
        await page.locator('.monaco-workbench .part.statusbar').waitFor({ timeout: 60_000 });
        await command(page, 'Parley: Focus Chat');
        chat = await Chat.at(page, 'panel');
        await chat.send(agent.prompt('text', folder));
        assert.equal(await turnEnd(chat.frame, turns + 1), 'end_turn');
        await screenshot(page, `agent-${id}-reopened`);
        const after = await transcript();
        assert.deepEqual(after.slice(0, before.length), before);
        assert.deepEqual(
          after.slice(before.length).map(([kind]) => kind),
          ['user', 'agent', 'turn'],
        );
        await page.setViewportSize(size);
      });
    });
  }
});

function textOf(updates: readonly Wild[], kind: string): string {
  return updates
    .filter(({ sessionUpdate }) => sessionUpdate === kind)
    .map(({ content }) => content?.text ?? '')
    .join('');
}

async function bodyOf(entry: Locator): Promise<string> {
  return (await entry.locator('.blocks').textContent()) ?? '';
}

/** Words without what Markdown and the joints between messages add. */
function bare(text: string): string {
  return text.replace(/[\s*`_#-]/g, '');
}
