// Who types right after the key that leads to the chat writes into the message, on a loaded machine
// too.
import { strict as assert } from 'node:assert';
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { Chat } from '../support/vscode/chat';
import { useVsCode } from '../support/vscode/useVsCode';
import { command, openFile } from '../support/vscode/workbench';

const TEXT = 'quick brown foxes jump';
const NOTES = 'Notes that nobody changes.\n';
/** As a fast typist, ms. */
const BETWEEN_KEYS = 60;
const ROUNDS = 50;

describe('typing right after the key that leads to the chat', () => {
  const vscode = useVsCode({ settings: { 'parley.defaultAgent': 'demo', 'files.autoSave': 'off' } });
  const load: ChildProcess[] = [];
  const file = (): string => join(vscode.server.folder, 'notes.md');

  before(() => {
    for (const _ of cpus()) load.push(spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }));
  });

  after(() => {
    for (const one of load) one.kill();
  });

  async function typeRounds(chat: Chat, rounds: number): Promise<void> {
    const { page } = vscode.window;
    const arrived: number[] = [];
    for (let round = 0; round < rounds; round++) {
      await page.locator('.tab', { hasText: 'notes.md' }).click();
      await page.locator('.monaco-editor .view-line').first().click();
      await page.locator('.monaco-editor.focused').waitFor();
      arrived.push(await typed(chat));
    }
    // On a machine as busy as this, VS Code sometimes gives the focus to no element: then the
    // letters are in no file either.
    assert.ok(arrived.filter((count) => count === 0).length <= rounds / 10, arrived.join(' '));
    process.stdout.write(`${arrived.join(' ')} of ${TEXT.length} letters\n`);
  }

  /** @returns how many letters reached the message, which has all since the first one */
  async function typed(chat?: Chat): Promise<number> {
    const { page } = vscode.window;
    await page.keyboard.press('Control+k');
    await page.keyboard.press('a');
    await page.keyboard.type(TEXT, { delay: BETWEEN_KEYS });
    const { composer, frame } = chat ?? (await Chat.at(page, 'panel'));
    await composer
      .and(frame.locator(':focus'))
      .waitFor({ timeout: 10_000 })
      .catch(() => undefined);
    const value = await composer.inputValue();
    assert.ok(TEXT.endsWith(value), `“${value}” has holes`);
    await composer.fill('');
    return value.length;
  }

  async function notesAreUnchanged(): Promise<void> {
    await command(vscode.window.page, 'File: Save All Files');
    assert.equal(readFileSync(file(), 'utf8'), NOTES);
  }

  it('puts no letter into the file while the chat is opened for the first time', async () => {
    const { page } = vscode.window;
    writeFileSync(file(), NOTES);
    await openFile(page, 'notes.md');
    await page.locator('.monaco-editor.focused').waitFor();
    await typed();
    await notesAreUnchanged();
  });

  it('puts no letter into the file, and all that reach the page into the message', async function () {
    this.timeout(300_000);
    await typeRounds(await Chat.at(vscode.window.page, 'panel'), ROUNDS - 20);
    await notesAreUnchanged();
  });

  it('puts no letter into the file with the chat in the side bar', async function () {
    this.timeout(300_000);
    const { page } = vscode.window;
    await page.locator('.tab', { hasText: 'Parley' }).click();
    await command(page, 'Parley: Move Chat…');
    await page.keyboard.type('Side Bar');
    await page.keyboard.press('Enter');
    const chat = await Chat.at(page, 'view');
    await typeRounds(chat, 20);
    await notesAreUnchanged();
  });
});
