// The tools of the editor in the installed extension, called by an agent: what they ask, what they
// do, and how the user takes it back.
import { strict as assert } from 'node:assert';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import { TOOL_CALLER } from '../support/agents/toolCaller';
import type { Chat } from '../support/vscode/chat';
import { screenshot } from '../support/vscode/openWindow';
import { tinyExtension } from '../support/vscode/tinyExtension';
import { useChat } from '../support/vscode/useChat';
import { command, openFile } from '../support/vscode/workbench';

const scratch = mkdtempSync(join(tmpdir(), 'parley-tools-'));
const folder = join(scratch, 'work');
const agent = join(scratch, 'agent.cjs');
const names = ['one.txt', 'two.txt', 'three.txt'];
const extensions: string[] = [];

/**
 * Renames the word `area` in all files; finds an error in those that begin with `broken`; has two
 * tests, and a tool for models.
 */
const EXTENSION = `
const vscode = require('vscode');
exports.activate = ({ subscriptions }) => {
  const renames = {
    async provideRenameEdits(document, position, name) {
      const edit = new vscode.WorkspaceEdit();
      for (const uri of await vscode.workspace.findFiles('*.txt')) {
        const text = (await vscode.workspace.openTextDocument(uri)).getText();
        const at = text.indexOf('area');
        edit.replace(uri, new vscode.Range(0, at, 0, at + 4), name);
      }
      return edit;
    },
  };
  const controller = vscode.tests.createTestController('tiny', 'Tiny');
  const uri = vscode.Uri.joinPath(vscode.workspace.workspaceFolders[0].uri, 'one.txt');
  for (const name of ['passes', 'fails']) {
    const test = controller.createTestItem(name, name, uri);
    test.range = new vscode.Range(0, 0, 0, 4);
    controller.items.add(test);
  }
  controller.createRunProfile('Run', vscode.TestRunProfileKind.Run, async (request) => {
    const run = controller.createTestRun(request);
    // VS Code's tool misses the end of a run that ends before the window has seen its start.
    for (let trips = 0; trips < 3; trips++)
      await vscode.commands.executeCommand('setContext', 'tiny.trips', trips);
    for (const test of request.include ?? [...controller.items].map(([, item]) => item)) {
      run.started(test);
      if (test.id === 'passes') run.passed(test);
      else {
        const message = new vscode.TestMessage('It is broken');
        message.location = new vscode.Location(uri, new vscode.Position(0, 2));
        run.failed(test, message);
      }
    }
    run.end();
  }, true);
  const errors = vscode.languages.createDiagnosticCollection('tiny');
  const look = ({ uri, getText }) => {
    const range = new vscode.Range(0, 0, 0, 6);
    errors.set(uri, getText().startsWith('broken') ? [new vscode.Diagnostic(range, 'This is broken')] : []);
  };
  subscriptions.push(
    controller,
    errors,
    vscode.workspace.onDidOpenTextDocument(look),
    vscode.workspace.onDidChangeTextDocument(({ document }) => look(document)),
    vscode.languages.registerRenameProvider({ pattern: '**/*.txt' }, renames),
    vscode.lm.registerTool('tiny_echo', {
      invoke: ({ input }) =>
        new vscode.LanguageModelToolResult([new vscode.LanguageModelTextPart('echo ' + input.text)]),
    }),
    vscode.lm.registerTool('tiny_unnamed', { invoke: () => new vscode.LanguageModelToolResult([]) }),
  );
};
`;

const tool = (name: string): object => ({
  name,
  displayName: name,
  modelDescription: `The tool ${name} of a test`,
  inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
});

describe('the tools of the editor in VS Code', function () {
  this.timeout(90_000);

  before(async () => {
    mkdirSync(join(folder, '.vscode'), { recursive: true });
    for (const name of names) writeFileSync(join(folder, name), `area in ${name}\n`);
    const task = { label: 'build', type: 'shell', command: 'echo built > built.log; exit 3' };
    writeFileSync(
      join(folder, '.vscode/tasks.json'),
      JSON.stringify({ version: '2.0.0', tasks: [{ ...task, presentation: { reveal: 'never' } }] }),
    );
    writeFileSync(agent, TOOL_CALLER);
    const contributes = { languageModelTools: [tool('tiny_echo'), tool('tiny_unnamed')] };
    extensions.push(await tinyExtension(scratch, contributes, EXTENSION));
  });

  after(() => rmSync(scratch, { recursive: true, force: true, maxRetries: 5 }));

  let chat: Chat;
  const settings = {
    'parley.agents': { caller: { name: 'Caller', command: process.execPath, args: [agent] } },
    'parley.defaultAgent': 'caller',
    'parley.extensionTools': ['tiny_echo', 'none_such'],
  };
  const vscode = useChat({ folder, extensions, settings }, (opened) => {
    chat = opened;
  });

  const texts = (): string[] => names.map((name) => readFileSync(join(folder, name), 'utf8'));

  const asking = (title: string): Locator => chat.frame.getByRole('group', { name: `Permission: ${title}` });

  /**
   * Sends a call.
   * @param title of the question to allow; absent: there is none
   * @returns what the tool answered
   */
  async function call(name: string, args: object, title?: string): Promise<string> {
    await chat.send(JSON.stringify({ name, arguments: args }));
    if (title !== undefined) {
      await chat.answerable(asking(title));
      await screenshot(vscode.window.page, `editor-tools-${name}`);
      await chat.answer('Allow', asking(title));
    }
    return answered();
  }

  async function answered(): Promise<string> {
    assert.equal(await chat.turnEnd(60_000), 'end_turn');
    return (await chat.entries('agent').last().locator('pre').innerText()).trim();
  }

  it('change three files after the user agreed, which the editor undoes in one step', async () => {
    const { page } = vscode.window;
    const before = texts();
    const answer = await call(
      'rename_symbol',
      { symbol: 'area', path: 'one.txt', line: 1, new_name: 'surface' },
      'Rename area to surface',
    );
    assert.match(answer, /^Changed 3 files\n/);
    assert.deepEqual(
      texts(),
      names.map((name) => `surface in ${name}\n`),
    );
    await openFile(page, 'one.txt');
    const editor = page.locator('.editor-instance').filter({ hasText: 'surface in one.txt' });
    await editor.getByText('surface').first().click();
    await page.keyboard.press('Control+Z');
    await page.locator('.editor-instance').getByText('area in one.txt').waitFor();
    await command(page, 'File: Save All Files');
    while (texts().join() !== before.join()) await page.waitForTimeout(50);
    await command(page, 'Parley: Focus Chat');
  });

  it('run a task after the user agreed, and report how it ended', async () => {
    assert.match(await call('run_task', {}), /^1 task\nbuild {2}echo built > built\.log; exit 3$/);
    const answer = await call('run_task', { name: 'build' }, 'Run task build');
    assert.match(answer, /^build ended with exit code 3;/);
    assert.equal(readFileSync(join(folder, 'built.log'), 'utf8'), 'built\n');
  });

  it('call a tool of another extension after the user agreed', async () => {
    assert.equal(
      await call('tiny_echo', { text: 'hello' }, 'Use the tool tiny_echo of another extension'),
      'echo hello',
    );
    assert.match(await call('tiny_unnamed', {}), /^There is no tool tiny_unnamed/);
  });

  it('run tests after the user agreed, here and in the editor', async () => {
    const { page } = vscode.window;
    await chat.send(JSON.stringify({ name: 'run_tests', arguments: { path: 'one.txt' } }));
    await chat.answer('Allow', asking('Run the tests in one.txt'));
    const dialog = page.locator('.monaco-dialog-box');
    await dialog.waitFor();
    await screenshot(page, 'editor-tools-run_tests-dialog');
    await dialog.getByRole('button', { name: 'Yes', exact: true }).click();
    assert.equal(await answered(), '1 passed, 1 failed\nFailed: fails\nIt is broken\n  at one.txt:1:3');
    assert.equal(await call('test_failures', {}), '1 passed, 1 failed\nFailed: fails\nIt is broken\n  at one.txt:1:3');
  });
});
