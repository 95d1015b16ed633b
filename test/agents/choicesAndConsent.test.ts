// What the user chose, saw and stopped, in the installed extension with real agents and the
// scripted model: a mode outlives every start of the agent, a question shows what it is about, Stop
// ends what runs, and an unwanted server costs no session.
import { strict as assert } from 'node:assert';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { goneFrom } from '../support/processes';
import { removeFolder } from '../support/scratch';
import { Chat } from '../support/vscode/chat';
import { tabIsKept } from '../support/vscode/keptState';
import { screenshot } from '../support/vscode/openWindow';
import { commandsIn, descendants, kill, processes } from '../support/vscode/processTree';
import { useVsCode, type VsCodeUnderTest } from '../support/vscode/useVsCode';
import { command, turnEnd } from '../support/vscode/workbench';
import { type GuestId, startGuest, useGuest } from './guestAgents';
import { scriptPrompt } from './modelScripts';
import { type ModelServer, startModelServer } from './modelServer';
import type { AgentDefinition, Message, Wild } from './rawClient';
import { realAgents } from './realAgents';

const scratch = mkdtempSync(join(tmpdir(), 'parley-choices-'));
const homes = join(scratch, 'homes');

describe('choices and consent with real agents in the installed extension', () => {
  let model: ModelServer;
  const agents: Record<string, unknown> = {};

  before('start the model', async () => {
    model = await startModelServer();
    const codex = (await realAgents(homes, model.url)).find(({ id }) => id === 'codex') ?? assert.fail();
    // As users have it: it starts in a mode that writes without a question.
    const { INITIAL_AGENT_MODE: _, ...env } = codex.definition.env;
    add('codex', 'Codex', { ...codex.definition, env });
  });

  after(async () => {
    await model?.close();
    await removeFolder(scratch);
  });

  function add(id: string, name: string, { command: program, args, env }: AgentDefinition): void {
    const recorder = join(process.cwd(), 'out/support/agents/wireRecorder.js');
    agents[id] = { name, command: process.execPath, args: [recorder, wireOf(id), program, ...args], env };
  }

  /** Installs an agent for the tests of a suite, and adds it to the settings. */
  function useAgent(id: GuestId, folder: string): void {
    useGuest(id, async () => {
      const guest = await startGuest(id, homes, model.url, folder);
      add(id, guest.agent.name, guest.agent.definition);
      return guest;
    });
  }

  describe('the mode that the user chose', function () {
    this.timeout(240_000);
    const folder = workFolder('codex');
    const vscode = useVsCode({
      theme: 'dark',
      folder,
      settings: { 'parley.agents': agents, 'parley.defaultAgent': 'codex', 'parley.background': 'finishTurn' },
    });
    let chat: Chat;
    const path = join(folder, 'written.txt');

    before('open the chat', async () => {
      chat = await openChat(vscode.window.page);
    });

    /**
     * Begins a session in which one turn has run in Read-only.
     * @returns the processes of its agent
     */
    async function chooseReadOnly(): Promise<readonly number[]> {
      rmSync(path, { force: true });
      const others = processesOf('codex');
      await command(vscode.window.page, 'Parley: New Session');
      await chat.entries('user').first().waitFor({ state: 'detached' });
      await chat.state('ready', 60_000);
      await chat.pick('Mode', 'Read-only');
      await chat.send(scriptPrompt('text', folder));
      assert.equal(await turnEnd(chat.frame), 'end_turn');
      assert.equal(sandboxInForce(), 'read-only');
      return processesOf('codex').filter((pid) => !others.includes(pid));
    }

    /** Sends a message that would write a file to an agent that has started since. */
    async function isStillReadOnly(picture: string): Promise<void> {
      await chat.button('Mode: Read-only').waitFor({ timeout: 60_000 });
      await chat.send(scriptPrompt('write', folder));
      await Promise.race([chat.permission.waitFor({ timeout: 60_000 }), turnEnd(chat.frame, 2)]);
      await screenshot(vscode.window.page, picture);
      assert.equal(existsSync(path), false, 'it has written without a question');
      assert.equal(sandboxInForce(), 'read-only');
      assert.equal(modeOnTheWire('codex'), 'read-only');
      await chat.answerable();
      await chat.permission.locator('button[data-option-kind^=reject]').first().click();
      await turnEnd(chat.frame, 2);
      await chat.button('Mode: Read-only').waitFor();
      assert.equal(existsSync(path), false);
    }

    it('is in effect after the window was closed while the agent waits for it', async () => {
      await chooseReadOnly();
      chat = await closeAndOpen(vscode, 'codex');
      await isStillReadOnly('choices-window-closed');
    });

    it('is in effect after the agent was killed', async () => {
      const running = await chooseReadOnly();
      assert.ok(running.length > 0);
      for (const pid of running) kill(pid);
      await Promise.all(running.map(goneFrom));
      await isStillReadOnly('choices-agent-killed');
    });

    it('is in effect after the window was closed with its agent', async () => {
      vscode.server.configure({ 'parley.background': 'off' });
      await chooseReadOnly();
      chat = await closeAndOpen(vscode, 'codex');
      await isStillReadOnly('choices-agent-closed');
    });

    /** Returns the sandbox in which the agent's last turn ran, by its own record. */
    function sandboxInForce(): string {
      const opened = wire('codex').findLast(({ result }) => result?.sessionId !== undefined);
      const sessions = join(homes, 'codex/.codex/sessions');
      const record = readdirSync(sessions, { recursive: true, encoding: 'utf8' }).find((path) =>
        path.endsWith(`${opened?.result.sessionId}.jsonl`),
      );
      const turn = linesOf(join(sessions, record ?? assert.fail('the agent has no record'))).findLast(
        ({ type }) => type === 'turn_context',
      );
      return turn?.payload.sandbox_policy.type;
    }
  });

  describe('Kimi Code', function () {
    this.timeout(120_000);
    const folder = workFolder('kimi');
    useAgent('kimi', folder);
    const path = join(folder, 'written.txt');
    const vscode = useVsCode({
      theme: 'dark',
      folder,
      settings: { 'parley.agents': agents, 'parley.defaultAgent': 'kimi' },
    });
    let chat: Chat;

    before('open the chat', async () => {
      chat = await openChat(vscode.window.page);
    });

    /**
     * Waits for the end of a turn in which it may want to read its own plan, which lies outside of
     * the workspace.
     */
    async function planned(turn: number): Promise<string | null> {
      const card = chat.frame.getByRole('group').filter({ hasText: 'outside its folders' }).last();
      const end = turnEnd(chat.frame, turn);
      await Promise.race([end, card.waitFor({ timeout: 60_000 })]);
      if (await card.isVisible()) await chat.answer('Deny All in This Turn', card);
      return end;
    }

    // It says then that its first mode is in force, plans nevertheless, and refuses the mode that
    // it has.
    it('is in the mode that the user chose after the window was closed', async () => {
      await chat.pick('Mode', 'Plan');
      await chat.send(scriptPrompt('text', folder));
      assert.equal(await planned(1), 'end_turn');
      chat = await closeAndOpen(vscode, 'kimi');
      await chat.button('Mode: Plan').waitFor({ timeout: 60_000 });
      await chat.send(scriptPrompt('write', folder));
      assert.equal(await planned(2), 'end_turn');
      await screenshot(vscode.window.page, 'choices-plan');
      await chat.button('Mode: Plan').waitFor();
      assert.equal(existsSync(path), false);
      assert.equal(modeOnTheWire('kimi'), 'plan');
    });

    it('asks to write a new file, and the question shows path and content', async () => {
      await command(vscode.window.page, 'Parley: New Session');
      await chat.entries('user').first().waitFor({ state: 'detached' });
      await chat.state('ready', 60_000);
      await chat.pick('Mode', 'Default');
      await chat.send(scriptPrompt('write', folder));
      await chat.answerable();
      await screenshot(vscode.window.page, 'consent-new-file');
      assert.equal(existsSync(path), false);
      for (const shown of ['written.txt', 'line one', 'line two'])
        await chat.permission.getByText(shown).first().waitFor({ timeout: 5_000 });
      await chat.permission.locator('button[data-option-kind=allow_once]').click();
      assert.equal(await turnEnd(chat.frame), 'end_turn');
      assert.equal(readFileSync(path, 'utf8'), 'line one\nline two\n');
    });
  });

  describe('a command that Grok leaves to the client', function () {
    this.timeout(120_000);
    const folder = workFolder('grok');
    useAgent('grok', folder);
    const vscode = useVsCode({
      theme: 'dark',
      folder,
      settings: { 'parley.agents': agents, 'parley.defaultAgent': 'grok' },
    });
    let chat: Chat;

    it('runs in the allowed call, with its output', async () => {
      chat = await openChat(vscode.window.page);
      await chat.send(scriptPrompt('wait', folder));
      await chat.answerable();
      await screenshot(vscode.window.page, 'consent-command');
      await chat.permission.getByText('sleep 600').first().waitFor({ timeout: 5_000 });
      await chat.permission.locator('button[data-option-kind=allow_once]').click();
      while (commandsIn(folder, 'sleep 600').length === 0) await vscode.window.page.waitForTimeout(50);
      const call = chat.entries('tool').last();
      await chat.frame.locator('[data-tool-status=in_progress]').first().waitFor({ timeout: 5_000 });
      await call.locator('.terminal').getByText('it waits').first().waitFor({ timeout: 5_000 });
      await screenshot(vscode.window.page, 'consent-terminal');
    });

    it('ends with Stop, and its call shows that', async () => {
      const running = commandsIn(folder, 'sleep 600');
      assert.ok(running.length > 0);
      await chat.button('Stop').click();
      assert.equal(await chat.turnEnd(30_000), 'cancelled');
      await withinSeconds(5, Promise.all(running.map(goneFrom)));
      const call = chat.entries('tool').last();
      await screenshot(vscode.window.page, 'consent-stopped');
      assert.equal(await call.getAttribute('data-tool-status'), 'cancelled');
      await call
        .getByText(/stopped/i)
        .first()
        .waitFor({ timeout: 5_000 });
    });
  });

  describe('an agent without support for MCP servers', function () {
    this.timeout(180_000);
    const folder = workFolder('openclaw');
    useAgent('openclaw', folder);

    const settings = {
      'parley.agents': agents,
      'parley.defaultAgent': 'openclaw',
      'parley.editorTools': { '*': 'all' },
    };
    const refusals = (): number => wire('openclaw').filter(({ error }) => error?.code === -32603).length;

    async function answers(chat: Chat): Promise<void> {
      await chat.send(scriptPrompt('text', folder));
      assert.equal(await chat.turnEnd(60_000), 'end_turn');
      await chat.entries('agent').last().locator('strong', { hasText: 'scripted' }).waitFor();
    }

    describe('without servers of the user', () => {
      const vscode = useVsCode({ theme: 'dark', folder, settings });
      let chat: Chat;

      it("opens a session, and the chat does not mention the editor's tools", async () => {
        const before = refusals();
        chat = await openChat(vscode.window.page);
        await answers(chat);
        await screenshot(vscode.window.page, 'consent-no-servers');
        assert.equal(refusals(), before + 1);
        assert.equal(await chat.entries('notice').count(), 0);
      });

      it('is not offered them again in the next session', async () => {
        const before = refusals();
        await chat.newSession();
        await answers(chat);
        assert.equal(refusals(), before);
      });
    });

    describe('with a server of the user', () => {
      const servers = { 'parley.mcpServers': { notes: { command: 'true' } } };
      const vscode = useVsCode({ theme: 'dark', folder, settings: { ...settings, ...servers } });

      it('opens a session, and the chat names the server that is missing', async () => {
        const chat = await openChat(vscode.window.page);
        await answers(chat);
        await screenshot(vscode.window.page, 'consent-own-servers');
        await chat.entries('notice').getByText('notes').first().waitFor({ timeout: 5_000 });
      });
    });
  });
});

const wireOf = (id: string): string => join(scratch, `${id}.ndjson`);

/** Everything that an agent has said. */
function wire(id: string): readonly Message[] {
  return existsSync(wireOf(id)) ? linesOf(wireOf(id)) : [];
}

/** Returns the mode that an agent named last. */
function modeOnTheWire(id: string): string | undefined {
  const named = wire(id).flatMap(({ result, params }) => {
    const options: Wild[] = result?.configOptions ?? params?.update?.configOptions ?? [];
    return options.filter((option) => option.id === 'mode').map(({ currentValue }) => currentValue);
  });
  return named.at(-1);
}

function linesOf(path: string): readonly Wild[] {
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line));
}

/** The processes of an agent that runs behind the recorder of its wire. */
function processesOf(id: string): readonly number[] {
  const recorders = processes().filter(({ command: line }) => line.includes(`wireRecorder.js ${wireOf(id)}`));
  return recorders.flatMap(({ pid }) => [pid, ...descendants(pid).map((child) => child.pid)]);
}

function workFolder(id: string): string {
  const folder = join(scratch, `work ${id}`);
  mkdirSync(folder);
  return folder;
}

/**
 * Opens the chat and waits for its agent.
 * @throws Error with the words of an agent that can't be started
 */
async function openChat(page: Page): Promise<Chat> {
  await command(page, 'Parley: Focus Chat');
  const chat = await Chat.at(page, 'panel');
  const failed = chat.failure.waitFor({ timeout: 90_000 }).then(async () => {
    throw new Error(await chat.failure.innerText());
  });
  await Promise.race([chat.state('ready', 90_000), failed]);
  return chat;
}

/** Leaves the window as a person does, until its agent has ended, and opens it again. */
async function closeAndOpen({ window, server }: VsCodeUnderTest, id: string): Promise<Chat> {
  const { page } = window;
  await tabIsKept(page);
  const running = processesOf(id);
  assert.ok(running.length > 0);
  await page.goto('about:blank');
  await Promise.all(running.map(goneFrom));
  await page.goto(server.url);
  await page.locator('.monaco-workbench .part.statusbar').waitFor({ timeout: 60_000 });
  await command(page, 'Parley: Focus Chat');
  return Chat.at(page, 'panel');
}

async function withinSeconds(seconds: number, done: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not within ${seconds} seconds`)), seconds * 1_000);
  });
  await Promise.race([done, late]).finally(() => clearTimeout(timer));
}
