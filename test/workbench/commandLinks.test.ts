// Error messages of commands, for people and programs, and names given by agents.
import { strict as assert } from 'node:assert';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type CodeAction,
  commands,
  Diagnostic,
  Location,
  languages,
  Position,
  Range,
  Selection,
  TestMessage,
  tests,
  Uri,
  version,
  window,
  workspace,
} from 'vscode';
import { RpcError } from '../../src/acp/jsonrpc/rpcError';
import { ParleyError } from '../../src/base/errors';
import type { Conversation } from '../../src/client/conversation/conversation';
import { agents } from '../../src/workbench/agents/agents.contribution';
import { addCommands } from '../../src/workbench/commands/addContext';
import { failureFor, isProgram, showFailure } from '../../src/workbench/commands/commandErrors';
import { runCommand } from '../../src/workbench/commands/runCommand';
import { newTerminal } from '../../src/workbench/ui/places';
import { fakeWorkbench } from '../support/workbench/fakeWorkbench';

const LINK = '[Open the report](command:workbench.action.quit)';

describe('command errors', () => {
  it('reach a program without a link, and keep their code', () => {
    const thrown = failureFor(new ParleyError('no-modes', `${LINK} offers no modes.`));
    assert.ok(thrown instanceof ParleyError);
    assert.equal(thrown.code, 'no-modes');
    assert.doesNotMatch(thrown.message, /\]\(/);
    const plain = new ParleyError('x', 'Nothing special.');
    assert.equal(failureFor(plain), plain);
  });

  it('are thrown only to programs', () => {
    const menu: unknown[][] = [
      [],
      [undefined],
      [null],
      [Uri.file('/x'), [Uri.file('/x')]],
      [{ groupId: 1, editorIndex: 0 }],
      [{ webview: 'parley.chat' }],
    ];
    for (const args of menu) assert.equal(isProgram(args), false, String(args));
    for (const args of [[{ mode: 'x' }], ['x'], [{}]]) assert.equal(isProgram(args), true);
  });

  it('are shown in the transcript if they come from the agent and the chat is visible', () => {
    const noted: unknown[] = [];
    const conversation = { agent: { name: 'Ada' }, note: (events: unknown[]) => noted.push(...events) };
    showFailure(new RpcError(-32603, LINK), conversation as unknown as Conversation);
    assert.match(JSON.stringify(noted), /"code":"command-refused","args":\["Ada"\]/);
  });
});

describe('commands', () => {
  const attached: string[] = [];
  const inserted: string[] = [];
  const surface = {
    conversation: { unsent: { attach: ({ detail }: { detail: string }) => attached.push(detail) } },
    focus() {},
    insertWhenPainted: async (text: string) => void inserted.push(text),
  };
  const parts = {
    Conversations: { peek: () => undefined },
    AgentCatalog: { find: () => undefined },
    ChatHome: { open: () => surface, isVisible: false, current: [] as unknown[] },
    TerminalCommands: { attachmentOf: async () => ({ detail: 'output' }) },
  };
  const workbench = fakeWorkbench(parts, {});
  addCommands(workbench);
  agents.commands?.(workbench);
  const run = (id: string, ...args: unknown[]): Promise<unknown> => runCommand(workbench, id, args);

  it('attach all files selected in the Explorer', async () => {
    const [one, two] = [Uri.file('/tmp/a.txt'), Uri.file('/tmp/b.txt')];
    await run('addFile', one, [one, two]);
    await run('addFile', two, { groupId: 1 });
    assert.deepEqual(attached, ['/tmp/a.txt', '/tmp/b.txt', '/tmp/b.txt']);
  });

  it('attach files from Source Control, and nothing else', async () => {
    attached.length = 0;
    await run('addFile', { resourceUri: Uri.file('/tmp/a.txt') }, { resourceUri: Uri.file('/tmp/b.txt') });
    await run('addFile', { resourceUri: 'file:///tmp/c.txt' }, 'file:///tmp/d.txt', null);
    assert.deepEqual(attached, ['/tmp/a.txt', '/tmp/b.txt']);
  });

  it('draft a message about problems, with their lines, without sending', async () => {
    attached.length = 0;
    const folder = await mkdtemp(join(tmpdir(), 'parley-problem-'));
    const file = Uri.file(join(folder, 'a.txt'));
    await writeFile(file.fsPath, 'one\ntwo\nthree\n');
    const argument = { uri: file.toString(), first: 2, last: 900, problems: ['two is\nwrong', '[x](command:y)'] };
    await run('fixProblem', argument);
    assert.deepEqual(inserted, [
      `Fix these problems in ${workspace.asRelativePath(file)}:2–4:\n\n- two is wrong\n- [x](command:y)\n`,
    ]);
    assert.deepEqual(attached, ['10 characters']);
    for (const wrong of [{}, { ...argument, problems: [] }, { ...argument, uri: 'untitled:x' }])
      await assert.rejects(run('explainProblem', wrong));
    assert.equal(inserted.length, 1);
    await rm(folder, { recursive: true });
  });

  it('draft a message about a failed test, with its lines, from its menu', async () => {
    attached.length = inserted.length = 0;
    const folder = await mkdtemp(join(tmpdir(), 'parley-test-'));
    const file = Uri.file(join(folder, 'a.test.ts'));
    await writeFile(file.fsPath, "it('adds', () => {\n  equal(add(1, 1), 2);\n});\n");
    const controller = tests.createTestController('parley-failed', 'Failed');
    const test = controller.createTestItem('adds', 'adds', file);
    test.range = new Range(0, 0, 2, 3);
    const message = new TestMessage('\u001b[31mExpected 2\u001b[39m,\n  got 3');
    message.location = new Location(file, new Position(1, 2));
    await run('fixProblem', { test, message });
    // A helper in another file failed.
    message.location = new Location(Uri.file(join(folder, 'b.ts')), new Position(1, 0));
    await writeFile(join(folder, 'b.ts'), 'one\ntwo\n');
    await run('explainProblem', { test, message });
    const place = (name: string): string => workspace.asRelativePath(join(folder, name));
    assert.deepEqual(inserted, [
      `Fix this problem in ${place('a.test.ts')}:1–3:\n\n- adds: Expected 2, got 3\n`,
      `Explain this problem in ${place('b.ts')}:2:\n\n- adds: Expected 2, got 3\n`,
    ]);
    assert.equal(attached.length, 2);
    controller.dispose();
    await rm(folder, { recursive: true });
  });

  it('are offered as quick fixes for problems', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'parley-problem-'));
    const file = Uri.file(join(folder, 'b.txt'));
    await writeFile(file.fsPath, 'one\ntwo\n');
    const problems = languages.createDiagnosticCollection('test');
    await workspace.openTextDocument(file);
    const range = new Range(1, 0, 1, 3);
    const offered = async (): Promise<readonly CodeAction[]> =>
      (await commands.executeCommand<CodeAction[]>('vscode.executeCodeActionProvider', file, range)).filter(
        ({ command }) => command?.command.startsWith('parley.'),
      );
    assert.deepEqual(await offered(), [], 'where there is no problem');
    problems.set(file, [new Diagnostic(range, 'two is wrong')]);
    const actions = await offered();
    assert.deepEqual(
      actions.map(({ title }) => title),
      ['Fix with Parley', 'Explain with Parley'],
    );
    assert.deepEqual(actions[0]?.command?.arguments, [
      { uri: file.toString(), first: 2, last: 2, problems: ['two is wrong'] },
    ]);
    problems.dispose();
    await rm(folder, { recursive: true });
  });

  describe('that add to a chosen session', () => {
    const chosen: string[] = [];
    let rows: readonly { label: string; description?: string }[] = [];
    let choose = (_labels: readonly string[]): number => 0;
    const sessions = ['one', 'two'].map((key) => ({
      key,
      agent: { name: `Agent $(zap) ${key}` },
      model: { state: { title: `Title [x](command:${key})`, entries: [] } },
      unsent: { draft: { text: '' } },
    }));
    const made = { ...sessions[0], key: 'made' };
    const withSessions = fakeWorkbench({
      ...parts,
      Conversations: {
        list: () => sessions,
        get: (key: string) => sessions.find((one) => one.key === key),
        create: () => made,
      },
      ChatHome: {
        ...parts.ChatHome,
        current: [sessions[1]],
        open: () => assert.fail('not the one of last'),
        present: ({ key }: { key: string }) => {
          chosen.push(key);
          return surface;
        },
      },
    });
    addCommands(withSessions);
    const addToSession = (...args: unknown[]): Promise<unknown> => runCommand(withSessions, 'addToSession', args);
    const { showQuickPick } = window;

    before(() => {
      Object.assign(window, {
        showQuickPick: async (items: readonly { label: string }[]) => {
          rows = items;
          return items[choose(items.map(({ label }) => label))];
        },
      });
    });
    beforeEach(() => {
      attached.length = chosen.length = 0;
      choose = () => 0;
    });
    after(() => Object.assign(window, { showQuickPick }));
    afterEach(() => commands.executeCommand('workbench.action.closeAllEditors'));

    it('offer open sessions, with the visible one selected, and a new one', async () => {
      await addToSession(Uri.file('/tmp/a.txt'), [Uri.file('/tmp/a.txt'), Uri.file('/tmp/b.txt')]);
      assert.deepEqual(
        rows.map(({ label }) => label),
        ['Title [x]\u2060(command:one)', '$(check) Title [x]\u2060(command:two)', '$(add) New session'],
      );
      assert.deepEqual([chosen, attached], [['one'], ['/tmp/a.txt', '/tmp/b.txt']]);
      choose = (labels) => labels.length - 1;
      await addToSession({ resourceUri: Uri.file('/tmp/c.txt') });
      assert.deepEqual([chosen.at(-1), attached.at(-1)], ['made', '/tmp/c.txt']);
    });

    it('add nothing if no session is chosen', async () => {
      choose = () => -1;
      await addToSession(Uri.file('/tmp/a.txt'));
      assert.deepEqual([chosen, attached], [[], []]);
    });

    it("add the selection from the palette, otherwise the editor's file", async () => {
      const folder = await mkdtemp(join(tmpdir(), 'parley-add-'));
      const file = Uri.file(join(folder, 'a.txt'));
      await writeFile(file.fsPath, 'one\ntwo\n');
      const editor = await window.showTextDocument(file);
      await addToSession();
      editor.selection = new Selection(0, 0, 0, 3);
      await addToSession();
      await addToSession(file, { groupId: 0, editorIndex: 0 });
      await addToSession(Uri.file('/tmp/b.txt'), [Uri.file('/tmp/b.txt')]);
      assert.deepEqual(attached, [file.fsPath, '3 characters', file.fsPath, '/tmp/b.txt']);
      await rm(folder, { recursive: true });
    });

    it("add a terminal's output from its menu", async function () {
      if (/^1\.10\d\./.test(version)) this.skip();
      const terminal = window.createTerminal('added');
      await addToSession(terminal, [terminal]);
      terminal.dispose();
      assert.deepEqual(attached, ['output']);
    });
  });

  it('end silently for a person when cancelled, and throw for a program', async () => {
    assert.equal(await run('addSelection'), undefined);
    await assert.rejects(
      run('selectAgent', { agent: 'none' }),
      (error: unknown) => error instanceof ParleyError && error.code === 'no-such-agent',
    );
  });
});

describe('names given by agents', () => {
  it('are text in a terminal', () => {
    const terminal = newTerminal(`$(zap~spin) ${LINK}\nsecond line`, {});
    assert.doesNotMatch(terminal.name, /\]\(|\$\(|\n/);
    terminal.dispose();
  });
});
