// The chat with the keyboard alone: an agent is added, asked and answered, and what it did is
// reviewed, undone, forked and steered.
import { strict as assert } from 'node:assert';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { plainAgent } from '../support/agents/definition';
import { tinyAgent } from '../support/agents/tinyAgent';
import { removeFolder } from '../support/scratch';
import { closeLoopbacks } from '../support/servers/loopback';
import { RegistryServer } from '../support/servers/registryServer';
import { Chat } from '../support/vscode/chat';
import { gitFolder } from '../support/vscode/gitFolder';
import { useVsCode } from '../support/vscode/useVsCode';
import { inList, openFile, paletteTaken } from '../support/vscode/workbench';

const BEFORE = 'one\ntwo\nthree\nfour\nfive\n';

describe('the chat with the keyboard alone', function () {
  this.timeout(120_000);
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'parley-keyboard-')));
  const bin = join(home, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'gemini'), tinyAgent('Found on this machine.'), { mode: 0o755 });
  writeFileSync(join(home, '.profile'), `export PATH="${bin}:${dirname(process.execPath)}:${process.env.PATH}"\n`);
  const settings: Record<string, unknown> = { ...plainAgent(), 'files.autoSave': 'off' };

  before('start the registry', async () => {
    settings['parley.registry.url'] = (await RegistryServer.start()).list();
  });

  after(async () => {
    await closeLoopbacks();
    await removeFolder(home);
  });

  const vscode = useVsCode({ theme: 'dark', settings, env: { HOME: home, SHELL: '/bin/sh' } });
  let chat: Chat;

  const path = (): string => join(vscode.server.folder, 'a.txt');
  const type = (text: string): Promise<void> => vscode.window.page.keyboard.type(text);
  const atMessage = (): Promise<void> => chat.focused('textbox', 'Message');

  /** Types into a list of VS Code and takes its first row. */
  function choose(how: () => Promise<void>, text: string): Promise<void> {
    const { page } = vscode.window;
    return inList(page, how, async (list, patience) => {
      await list.locator('input.input').and(page.locator(':focus')).waitFor(patience);
      await type(text);
      await list.locator('.monaco-list-row.focused', { hasText: text }).waitFor(patience);
      await page.keyboard.press('Enter');
    });
  }

  async function palette(title: string): Promise<void> {
    const { page } = vscode.window;
    await choose(() => page.keyboard.press('F1'), title);
    await paletteTaken(page);
  }

  async function sessionWith(agent: string): Promise<void> {
    await choose(() => palette('Parley: New Session with…'), agent);
    await chat.frame.locator('.agent-name', { hasText: agent }).waitFor();
    chat = await Chat.at(vscode.window.page, 'panel');
    await chat.state('ready');
    await atMessage();
  }

  async function say(...lines: readonly string[]): Promise<void> {
    for (const [index, line] of lines.entries()) {
      if (index > 0) await chat.press('Shift+Enter');
      await type(line);
    }
    await chat.press('Enter');
  }

  async function onDisk(text: string): Promise<void> {
    while (readFileSync(path(), 'utf8') !== text) await sleep(50);
  }

  it('opens, and adds an agent that answers', async () => {
    const { page } = vscode.window;
    gitFolder(vscode.server.folder, { 'a.txt': BEFORE });
    await page
      .locator('.statusbar')
      .getByRole('button', { name: /Parley/ })
      .waitFor();
    for (const key of ['Control+k', 'a']) await page.keyboard.press(key);
    chat = await Chat.at(page, 'panel');
    await chat.state('ready');
    await atMessage();
    const gemini = chat.frame.locator('.agent-name', { hasText: 'Gemini' });
    // VS Code closes a list that loses the focus, also just before Enter.
    for (let isAdded = false; !isAdded; ) {
      await choose(() => palette('Parley: Add Agent…'), 'Gemini');
      isAdded = await gemini.waitFor({ timeout: 20_000 }).then(
        () => true,
        () => false,
      );
    }
    await chat.state('ready');
    await atMessage();
    await say('hello');
    await chat.entries('agent').getByText('Found on this machine.').waitFor();
  });

  it('completes a command and a mention, and answers a question by its number', async () => {
    await sessionWith('Demo');
    await chat.button('/stream').waitFor();
    await type('/ed');
    await chat
      .named('option', /\/edit/)
      .and(chat.frame.locator('[aria-selected=true]'))
      .waitFor();
    await chat.press('Tab');
    await type('about @a.t');
    await chat.named('option', 'a.txt').and(chat.frame.locator('[aria-selected=true]')).waitFor();
    await chat.press('Enter');
    await chat.named('button', 'Remove a.txt').waitFor();
    await chat.press('Enter');
    await chat.answerable();
    await chat.press('1');
    await chat.focused('button', 'Allow');
    await chat.press('Enter');
    assert.equal(await chat.turnEnd(), 'end_turn');
    await atMessage();
  });

  it('answers three questions of a turn in place', async () => {
    await sessionWith('Plain');
    await say('permission', 'permission', 'permission');
    await chat.answerable();
    await chat.press('1');
    await chat.focused('button', 'Allow');
    await chat.press('Enter');
    const next = chat.frame.locator('[data-permission-id]:not(.answered):focus');
    for (const [number, answer] of [
      ['3', 'Reject'],
      ['1', 'Allow'],
    ] as const) {
      await next.waitFor();
      await chat.answerable(next);
      await chat.press(number);
      await chat.focused('button', answer);
      await chat.press('Enter');
    }
    assert.equal(await chat.turnEnd(), 'end_turn');
    await atMessage();
    const said = await chat.entries('agent').allInnerTexts();
    const answers = [...said.join('\n').matchAll(/"optionId":\s*"(\w+)"/g)].map(([, id]) => id);
    assert.deepEqual(answers, ['allow', 'reject', 'allow']);
  });

  it('reviews changes hunk by hunk in the editor, and returns to the message', async () => {
    const { page } = vscode.window;
    await say(`write ${join(vscode.server.folder, 'first.txt')} first\\n`);
    assert.equal(await chat.turnEnd(), 'end_turn');
    await say('edit a.txt ONE\\ntwo\\nthree\\nfour\\nFIVE\\n');
    assert.equal(await chat.turnEnd(), 'end_turn');
    await openFile(page, 'a.txt');
    await page.locator('.monaco-editor.focused').waitFor();
    await page.locator('.contentWidgets, .codelens-decoration').getByText('Undo').first().waitFor();
    for (const key of ['Control+Home', 'Control+k', 'Alt+n', 'Control+k', 'Alt+u']) await page.keyboard.press(key);
    await onDisk('ONE\ntwo\nthree\nfour\nfive\n');
    await page.keyboard.press('Control+k');
    await page.keyboard.press('Alt+c');
    await atMessage();
  });

  it('undoes the rest from the chat, and redoes it', async () => {
    const after = readFileSync(path(), 'utf8');
    await chat.reach('button', 'Undo All', 'Shift+Tab');
    await chat.press('Enter');
    await onDisk(BEFORE);
    await chat.focused('button', 'Redo');
    await chat.press('Enter');
    await onDisk(after);
    await type('and on');
    assert.equal(await chat.composer.inputValue(), 'and on');
    await chat.composer.fill('');
  });

  it('steers a turn, and forks the session', async () => {
    await sessionWith('Demo');
    await say('/steer');
    await chat.entries('tool').first().waitFor();
    await type('and mind the tests');
    await chat.press('Control+Enter');
    await chat.entries('agent').getByText('and mind the tests').waitFor();
    assert.equal(await chat.turnEnd(60_000), 'end_turn');
    await palette('Parley: Fork Session');
    await chat.frame
      .getByText(/\(fork\)/)
      .first()
      .waitFor();
    await chat.state('ready');
    await atMessage();
    await type('on');
    assert.equal(await chat.composer.inputValue(), 'on');
  });
});
