// The window goes away and comes back while an agent works: the turn continues, as if nothing had
// been.
import { strict as assert } from 'node:assert';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { plainAgent, readAgentLog } from '../../support/agents/definition';
import { removeFolder } from '../../support/scratch';
import { Chat } from '../../support/vscode/chat';
import { openIn, openWindow, screenshot, type Window } from '../../support/vscode/openWindow';
import { descendants, kill } from '../../support/vscode/processTree';
import { vsixPath } from '../../support/vscode/repository';
import { type Server, type ServerOptions, startServer } from '../../support/vscode/startServer';
import { useVsCode } from '../../support/vscode/useVsCode';
import { command } from '../../support/vscode/workbench';

const scratch = mkdtempSync(join(tmpdir(), 'parley-background-'));

after(() => removeFolder(scratch));

/** What the agent was asked to do, and how often it was started. */
function account(log: string): { readonly starts: number; readonly prompts: readonly string[] } {
  const lines = readAgentLog(log);
  return {
    starts: lines.filter(({ ev }) => ev === 'start').length,
    prompts: lines.flatMap(({ dir, msg }) => {
      if (dir !== 'in' || msg?.method !== 'session/prompt') return [];
      const { prompt } = msg.params as { readonly prompt: readonly { readonly text?: string }[] };
      return [prompt[0]?.text ?? ''];
    }),
  };
}

describe('a turn whose window is reloaded', () => {
  const log = join(scratch, 'reload.ndjson');
  const vscode = useVsCode({
    settings: {
      ...plainAgent(log),
      'parley.background': 'finishTurn',
    },
  });

  it('asks for permission again, and accepts one answer', async () => {
    const { page } = vscode.window;
    const chat = await Chat.open(page);
    await chat.send('permission');
    await chat.answerable();
    await command(page, 'Developer: Reload Window');
    const again = await Chat.at(page, 'panel');
    await again.answerable();
    assert.equal(await again.permission.count(), 1);
    await again.permission.locator('.answers button').first().click();
    await again.frame.locator('[role=separator][data-turn-id="t1"]').waitFor();
    assert.equal(await again.permission.count(), 0);
  });
});

/** A program that prints before and after a file is removed, and ends with 5. */
function waitingProgram(held: string, before: string, after: string): string {
  return (
    `console.log("${before}"); const wait = setInterval(() => { if (require("fs").existsSync(${JSON.stringify(held)})) return; ` +
    `clearInterval(wait); console.log("${after}"); process.exitCode = 5; }, 20)`
  );
}

/**
 * The command of the chat's last tool call has printed each of these once, and the agent has it all
 * with its exit code.
 */
async function printedOnce(chat: Chat, log: string, printed: readonly string[]): Promise<void> {
  const said = readAgentLog(log).filter(({ dir, msg }) => dir === 'in' && msg?.result !== undefined);
  const outputs = said.flatMap(({ msg }) => ('output' in Object(msg?.result) ? [msg?.result] : []));
  const output = printed.map((line) => `${line}\n`).join('');
  assert.deepEqual(outputs, [{ output, truncated: false, exitStatus: { exitCode: 5 } }]);
  const tool = chat.entries('tool').last();
  if ((await tool.getByText(printed.at(-1) ?? '').count()) === 0) await tool.getByRole('button').first().click();
  const shown = (await tool.innerText()).split('\n');
  for (const line of printed) assert.equal(shown.filter((one) => one.trim() === line).length, 1, shown.join('\n'));
}

describe('a turn whose VS Code server is killed', () => {
  const place = join(scratch, 'killed');
  const log = join(scratch, 'killed.ndjson');
  const options: ServerOptions = {
    folder: join(place, 'workspace'),
    dataDir: join(place, 'data'),
    settings: {
      ...plainAgent(log),
      'parley.background': 'finishTurn',
    },
  };
  const vscode = useVsCode(options);
  let again: Server | undefined;
  let window: Window | undefined;

  after('end the last server', async () => {
    await window?.close();
    await again?.stop();
  });

  /**
   * Kills a server with its extension hosts, and shows the chat in another one with another
   * browser.
   */
  async function killAndStart(server: Server): Promise<Chat> {
    const own = descendants(server.pid).filter(({ command }) => /bootstrap-fork|server-main|--type=/.test(command));
    for (const { pid } of [...own].reverse()) kill(pid);
    kill(server.pid);
    await server.exited;
    await window?.close();
    again = await startServer({ ...options, extensions: [vsixPath] });
    window = await openWindow(again);
    await command(window.page, 'Parley: Focus Chat');
    return Chat.at(window.page, 'panel');
  }

  it('continues with its agent, and the queue follows', async () => {
    const chat = await Chat.open(vscode.window.page);
    await chat.send('flood 1200 50 END');
    for (const word of ['one', 'two']) await chat.send(`say ${word}`);
    await chat.queue.nth(1).waitFor();
    await chat.entries('agent').first().waitFor();
    const back = await killAndStart(vscode.server);
    await back.frame.locator('[role=separator][data-turn-id="t3"]').waitFor({ timeout: 60_000 });
    const reasons = back.frame.locator('[role=separator][data-stop-reason]');
    assert.deepEqual(await reasons.evaluateAll((all) => all.map((one) => one.getAttribute('data-stop-reason'))), [
      'end_turn',
      'end_turn',
      'end_turn',
    ]);
    assert.deepEqual(account(log), { starts: 1, prompts: ['flood 1200 50 END', 'say one', 'say two'] });
  });

  it('continues with its command, with the output once and the exit code', async () => {
    const chat = await Chat.at((window as Window).page, 'panel');
    const held = join(scratch, 'killed-held');
    writeFileSync(held, '');
    await chat.send(`terminal ${waitingProgram(held, 'before the kill', 'after the kill')}`);
    await chat.entries('tool').getByText('before the kill').waitFor();
    const back = await killAndStart(again as Server);
    await back.state('running');
    rmSync(held);
    await back.frame.locator('[role=separator][data-turn-id="t4"][data-stop-reason="end_turn"]').waitFor();
    await printedOnce(back, log, ['before the kill', 'after the kill']);
    await screenshot((window as Window).page, 'background-killed-terminal-dark');
    assert.equal(account(log).starts, 1);
  });
});

describe('the queue of a session whose window is closed', () => {
  const place = join(scratch, 'queue');
  const other = join(place, 'other');
  const log = join(scratch, 'queue.ndjson');
  const vscode = useVsCode({
    own: true,
    folder: join(place, 'workspace'),
    settings: {
      ...plainAgent(log),
      'parley.background': 'keep',
      'parley.queue.inBackground': true,
    },
  });

  it('is sent by a window of another folder, and is complete afterwards', async () => {
    const { page, context } = vscode.window;
    const chat = await Chat.open(page);
    await chat.send('say first\nsleep 4000');
    for (const word of ['second', 'third']) await chat.send(`say ${word}`);
    await chat.queue.nth(1).waitFor();
    await chat.entries('agent').first().waitFor();
    mkdirSync(other, { recursive: true });
    const browser = { context, close: async () => {} };
    const elsewhere = await openIn(browser, vscode.server, { folder: other });
    await Chat.open(elsewhere.page);
    const prompts = ['say first\nsleep 4000', 'say second', 'say third'];
    const own = (): readonly string[] => account(log).prompts.filter((text) => prompts.includes(text));
    while (own().length < 3) await elsewhere.page.waitForTimeout(100);
    await screenshot(elsewhere.page, 'queue-in-background-dark');
    const again = await openIn(browser, vscode.server, {});
    await command(again.page, 'Parley: Focus Chat');
    const back = await Chat.at(again.page, 'panel');
    await back.frame.locator('[role=separator][data-turn-id="t3"]').waitFor();
    const reasons = back.frame.locator('[role=separator][data-stop-reason]');
    assert.deepEqual(await reasons.evaluateAll((all) => all.map((one) => one.getAttribute('data-stop-reason'))), [
      'end_turn',
      'end_turn',
      'end_turn',
    ]);
    assert.deepEqual(own(), prompts);
  });
});
