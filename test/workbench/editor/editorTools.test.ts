// The editor tools in a real VS Code with its TypeScript, called by an MCP client.
import { strict as assert } from 'node:assert';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import * as vscode from 'vscode';
import type { PermissionAsk } from '../../../src/acp/protocol/dialect';
import { silentLog } from '../../../src/base/log';
import { within } from '../../../src/base/within';
import type { Conversation } from '../../../src/client/conversation/conversation';
import type { ToolGrant } from '../../../src/client/mcp/editorTools';
import type { SessionEvent } from '../../../src/session/events/event';
import { EditorWorkingFiles } from '../../../src/workbench/changes/documents/workingFiles';
import { EditorToolHost } from '../../../src/workbench/editorTools/editorToolHost';
import { ProblemsAfterTurn } from '../../../src/workbench/sessions/problemsAfterTurn';
import { removeFolder } from '../../support/scratch';
import { once } from '../editing';

const USERS = 20;

describe('the editor tools', function () {
  this.timeout(60_000);
  const { workspaceFolders: [folder] = [] } = vscode.workspace;
  const root = join(folder?.uri.fsPath ?? '', 'editor-tools');
  const files: Record<string, string> = {
    'tsconfig.json': '{ "compilerOptions": { "strict": true, "module": "commonjs" }, "include": ["src"] }\n',
    'src/area.ts':
      'export interface Shape {\n  sides: number;\n}\n\n/** The area of a square. */\nexport function area(side: number): number {\n  return side * side;\n}\n',
    'src/square.ts':
      "import { area, type Shape } from './area';\n\nexport class Square implements Shape {\n  sides = 4;\n  size = area(2);\n}\n",
    'src/sorted.ts': "import { sep } from 'path';\nimport { join } from 'path';\n\nexport const   x = join('a');\n",
  };
  for (let index = 1; index < USERS; index++)
    files[`src/use${index}.ts`] = `import { area } from './area';\n\nexport const use${index} = area(${index});\n`;

  let host: EditorToolHost;
  let grant: ToolGrant;
  let client: Client;
  let outside: string;
  const asked: PermissionAsk[] = [];
  const events: SessionEvent[] = [];
  const written: string[] = [];
  const logged = new vscode.EventEmitter<string>();
  let answer = 'allow';
  let isAtWork = true;

  before(async () => {
    for (const folder of [root, join(root, 'src')]) await makeFolder(folder);
    for (const [name, text] of Object.entries(files)) writeFileSync(join(root, name), text);
    await watched(join(root, 'src/square.ts'));
    outside = await mkdtemp(join(tmpdir(), 'parley-outside-'));
    writeFileSync(join(outside, 'secret.ts'), "export const secret: number = 'hidden';\n");
    symlinkSync(join(outside, 'secret.ts'), join(root, 'src', 'link.ts'));
    const extension = vscode.extensions.getExtension('parley.parley');
    assert.ok(extension);
    host = new EditorToolHost({
      context: { extension, extensionPath: extension.extensionPath } as vscode.ExtensionContext,
      files: new EditorWorkingFiles(silentLog),
      asAgent: async (paths, change) => {
        written.push(...paths);
        return change();
      },
      log: { ...silentLog, debug: (text) => logged.fire(text) },
    });
    grant =
      (await host.grant({ type: 'process', id: 'a', name: 'A', command: 'a', args: [], env: {} } as never, {
        key: 'k',
        roots: [root],
        isAtWork: () => isAtWork,
        ask: async (question) => {
          asked.push(question);
          return answer;
        },
        apply: (event) => void events.push(event),
        changed: () => [join(root, 'src/square.ts')],
        beforeWrite: async () => undefined,
      })) ?? assert.fail('no tools');
    client = new Client({ name: 'test', version: '1' });
    const { command, args, env } = grant.program;
    await client.connect(new StdioClientTransport({ command, args: [...args], env: { ...env } }));
  });

  after(async () => {
    await client?.close();
    grant?.dispose();
    host?.dispose();
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await removeFolder(root);
    if (outside) await removeFolder(outside);
  });

  beforeEach(() => {
    asked.length = 0;
    events.length = 0;
    written.length = 0;
    answer = 'allow';
    isAtWork = true;
  });

  async function call(name: string, args: Record<string, unknown> = {}): Promise<string[]> {
    const started = performance.now();
    const { content } = await client.callTool({ name, arguments: args });
    const [{ text = '' } = {}] = content as { text?: string }[];
    process.stdout.write(`      ${name}: ${Math.round(performance.now() - started)} ms, ${text.length} characters\n`);
    return text.split('\n');
  }

  /** Creates a folder that the file watcher notices: it misses nested folders created together. */
  async function makeFolder(path: string): Promise<void> {
    const watcher = vscode.workspace.createFileSystemWatcher(`**/${basename(path)}`);
    const seen = new Promise<void>((resolve) => watcher.onDidCreate(({ fsPath }) => fsPath === path && resolve()));
    mkdirSync(path);
    while (!(await within(1000, seen))) {
      rmSync(path, { recursive: true });
      mkdirSync(path);
    }
    watcher.dispose();
  }

  async function watched(path: string): Promise<void> {
    const document = await vscode.workspace.openTextDocument(path);
    const text = document.getText();
    for (let attempt = 0; document.getText() === text; attempt++) {
      writeFileSync(path, `${text}// ${attempt}\n`);
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
    // Of two consecutive writes, the editor may read only the first.
    while (document.getText() !== text) {
      writeFileSync(path, text);
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
  }

  const read = (name: string): string => readFileSync(join(root, name), 'utf8');

  it('find an error just written to disk, and its fix with the next call', async () => {
    assert.deepEqual(await call('get_diagnostics', { path: 'src/square.ts' }), ['No problems in src/square.ts']);
    writeFileSync(join(root, 'src/square.ts'), files['src/square.ts']!.replace('area(2)', "area('2')"));
    const [summary, line] = await call('get_diagnostics', { path: 'src/square.ts' });
    assert.equal(summary, '1 error in src/square.ts');
    assert.match(line ?? '', /^src\/square\.ts:5:15 error ts 2345: Argument of type 'string'/);
    writeFileSync(join(root, 'src/square.ts'), files['src/square.ts']!);
    assert.deepEqual(await call('get_diagnostics', { path: 'src/square.ts' }), ['No problems in src/square.ts']);
  });

  it('check the files changed by the session if no path is given', async () => {
    writeFileSync(join(root, 'src/square.ts'), files['src/square.ts']!.replace('sides = 4', "sides = 'four'"));
    assert.match((await call('get_diagnostics'))[0] ?? '', /^1 error;/);
    writeFileSync(join(root, 'src/square.ts'), files['src/square.ts']!);
    assert.match((await call('get_diagnostics', { path: 'src' }))[0] ?? '', /^No problems in src/);
  });

  it('return one page of 100,000 problems', async () => {
    const known = vscode.languages.createDiagnosticCollection('flood');
    const range = new vscode.Range(0, 0, 0, 4);
    const many = Array.from({ length: 100 }, (_, index) => new vscode.Diagnostic(range, `Problem ${index}`));
    try {
      known.set(
        Array.from({ length: 1000 }, (_, file) => [vscode.Uri.file(join(root, `src/flood/f${file}.ts`)), many]),
      );
      const page = await call('get_diagnostics', { path: 'src' });
      assert.match(page[0] ?? '', /^100000 errors in src;/);
      assert.match(page.at(-1) ?? '', /^… 99800 more: call again with offset 200$/);
      const last = await call('get_diagnostics', { path: 'src', offset: 99_990 });
      assert.equal(last.length, 11);
      assert.equal(last.at(-1), 'src/flood/f999.ts:1:1 error: Problem 99');
    } finally {
      known.dispose();
    }
  });

  it('find the references that the editor finds', async () => {
    const uri = vscode.Uri.file(join(root, 'src/area.ts'));
    const own = await vscode.commands.executeCommand<vscode.Location[]>(
      'vscode.executeReferenceProvider',
      uri,
      new vscode.Position(5, 17),
    );
    const [summary, ...lines] = await call('find_references', { symbol: 'area', path: 'src/area.ts' });
    assert.equal(summary, `${own.length} references of area in ${USERS + 1} files`);
    assert.deepEqual(
      lines.map((line) => line.split('  ')[0]).sort(),
      own
        .map(
          ({ uri: { fsPath }, range: { start } }) =>
            `${fsPath.slice(root.length + 1)}:${start.line + 1}:${start.character + 1}`,
        )
        .sort(),
    );
    assert.ok(lines.includes('src/use3.ts:3:21  export const use3 = area(3);'));
  });

  it('find definitions, implementations, callers, types and outlines by name', async () => {
    assert.deepEqual(await call('go_to_definition', { symbol: 'area', path: 'src/use1.ts', line: 3 }), [
      '1 definition of area',
      'src/area.ts:6:17  export function area(side: number): number {',
    ]);
    assert.deepEqual(await call('find_implementations', { symbol: 'Shape' }), [
      '1 implementation of Shape',
      'src/square.ts:3:14  export class Square implements Shape {',
    ]);
    const callers = await call('call_hierarchy', { symbol: 'area()', path: 'src/area.ts' });
    assert.equal(callers.length, USERS + 1);
    assert.match(callers.join('\n'), /src\/square\.ts:5:10 {2}Square/);
    assert.match(
      (await call('hover', { symbol: 'area', path: 'src/use1.ts', line_text: 'use1 = area(1)' })).join('\n'),
      /area\(side: number\): number[\s\S]*The area of a square/,
    );
    assert.match(
      (await call('document_symbols', { path: 'src/square.ts' })).join('\n'),
      /3-6 {2}class Square\n4 {2}property Square\.sides/,
    );
    assert.deepEqual((await call('workspace_symbols', { query: 'Square' })).slice(1), [
      'src/square.ts:3  class Square',
    ]);
  });

  it('return what the user sees, and open a file for them', async () => {
    await call('open_file', { path: 'src/area.ts', line: 6 });
    const editor = vscode.window.activeTextEditor ?? assert.fail();
    editor.selection = new vscode.Selection(5, 0, 5, 6);
    assert.deepEqual(await call('get_selection'), ['Selected in src/area.ts:6-6', 'export']);
    assert.deepEqual(await call('open_editors'), ['1 files are open', 'src/area.ts  active']);
    await editor.edit((edit) => edit.insert(new vscode.Position(0, 0), '// mine\n'));
    assert.deepEqual(await call('get_unsaved'), ['1 files have unsaved changes', 'src/area.ts']);
    await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
  });

  it("return nothing from outside the session's folders", async () => {
    for (const path of ['../README.md', join(outside, 'secret.ts'), 'src/link.ts', '/etc/hosts', 'a\0b']) {
      const text = (await call('get_diagnostics', { path })).join('\n');
      assert.match(text, /outside of the session's folders|not a path/);
    }
    assert.doesNotMatch((await call('get_diagnostics')).join('\n'), /hidden|secret/);
    assert.doesNotMatch(
      (await call('find_references', { symbol: 'join', path: 'src/sorted.ts' })).join('\n'),
      /node_modules/,
    );
  });

  it('rename across 20 files as one change, after the user saw all of it', async () => {
    const [summary] = await call('rename_symbol', { symbol: 'area', path: 'src/area.ts', new_name: 'surface' });
    assert.equal(summary, `Changed ${USERS + 1} files`);
    assert.equal(asked.length, 1);
    const [{ title, patch } = assert.fail()] = asked;
    assert.equal(title, 'Rename area to surface');
    assert.equal(patch?.content?.length, USERS + 1);
    assert.match(read('src/use7.ts'), /import \{ surface \}.*\n\nexport const use7 = surface\(7\)/);
    assert.equal(written.length, USERS + 1);
    assert.deepEqual(
      events.map((event) => event.type === 'tool_call' && event.patch.status),
      ['in_progress', 'completed'],
    );
    for (const [name, text] of Object.entries(files)) writeFileSync(join(root, name), text);
  });

  it('change no byte outside the change, and no file of unknown encoding', async () => {
    const path = join(root, 'src/bytes.ts');
    const bytes = 'export const wide = 1;  \r\nexport const other = wide;\nexport const last = 2;\t';
    const settings = vscode.workspace.getConfiguration('files');
    await settings.update('trimTrailingWhitespace', true, vscode.ConfigurationTarget.Global);
    try {
      writeFileSync(path, bytes);
      await call('rename_symbol', { symbol: 'wide', path: 'src/bytes.ts', new_name: 'broad' });
      assert.equal(read('src/bytes.ts'), bytes.replaceAll('wide', 'broad'));
      const latin = Buffer.from('// gr\xfcn\nexport const tall = 1;\n', 'latin1');
      writeFileSync(join(root, 'src/latin.ts'), latin);
      const said = await call('rename_symbol', { symbol: 'tall', path: 'src/latin.ts', new_name: 'high' });
      assert.match(said.join('\n'), /encoding/);
      assert.deepEqual(readFileSync(join(root, 'src/latin.ts')), latin);
    } finally {
      await settings.update('trimTrailingWhitespace', undefined, vscode.ConfigurationTarget.Global);
    }
  });

  it('change nothing if the user declines, or outside of turns', async () => {
    answer = 'refuse';
    const rename = { symbol: 'area', path: 'src/area.ts', new_name: 'surface' };
    assert.deepEqual(await call('rename_symbol', rename), ['The user did not allow this']);
    isAtWork = false;
    assert.match((await call('rename_symbol', rename))[0] ?? '', /only be done while/);
    assert.equal(asked.length, 1);
    assert.equal(read('src/use7.ts'), files['src/use7.ts']);
    assert.equal(written.length, 0);
  });

  it('reject a change that also moves or creates files', async () => {
    const path = join(root, 'src/plain.txt');
    writeFileSync(path, 'plain text\n');
    const uri = vscode.Uri.file(path);
    const edit = (): vscode.WorkspaceEdit => {
      const made = new vscode.WorkspaceEdit();
      made.replace(uri, new vscode.Range(0, 0, 0, 5), 'other');
      return made;
    };
    const filter = { pattern: path };
    const providers = [
      vscode.languages.registerRenameProvider(filter, {
        provideRenameEdits() {
          const made = edit();
          made.renameFile(uri, vscode.Uri.file(join(root, 'src/other.txt')));
          return made;
        },
      }),
      vscode.languages.registerCodeActionsProvider(filter, {
        provideCodeActions() {
          const [whole, move, snippet] = ['Whole', 'Move', 'Snippet'].map((title) => {
            const action = new vscode.CodeAction(title, vscode.CodeActionKind.QuickFix);
            action.edit = edit();
            return action;
          });
          move?.edit?.createFile(vscode.Uri.file(join(root, 'src/made.txt')));
          snippet?.edit?.set(uri, [
            new vscode.SnippetTextEdit(new vscode.Range(0, 0, 0, 1), new vscode.SnippetString('$1')),
          ]);
          return [whole, move, snippet].filter((one) => one !== undefined);
        },
      }),
    ];
    try {
      const target = { path: 'src/plain.txt', line: 1 };
      for (const [name, args] of [
        ['rename_symbol', { ...target, symbol: 'plain', new_name: 'other' }],
        ['apply_code_action', { ...target, title: 'Move' }],
        ['apply_code_action', { ...target, title: 'Snippet' }],
      ] as const)
        assert.match((await call(name, args))[0] ?? '', /^Nothing was changed: this would also create, move or delete/);
      assert.deepEqual(asked, []);
      assert.equal(readFileSync(path, 'utf8'), 'plain text\n');
      assert.ok(existsSync(path));
      const [summary, ...titles] = await call('apply_code_action', target);
      assert.equal(summary, '1 code actions for src/plain.txt:1');
      assert.deepEqual(titles, ['Whole']);
      assert.equal((await call('apply_code_action', { ...target, title: 'Whole' }))[0], 'Changed 1 file');
      assert.equal(readFileSync(path, 'utf8'), 'other text\n');
    } finally {
      for (const one of providers) one.dispose();
    }
  });

  it('stop waiting for a hanging language server when the agent cancels its call', async () => {
    const path = join(root, 'src/hang.txt');
    writeFileSync(path, 'hang here\n');
    let askedServer = (): void => undefined;
    const never = (): Promise<never> => {
      askedServer();
      return new Promise(() => undefined);
    };
    const filter = { pattern: path };
    const providers = [
      vscode.languages.registerReferenceProvider(filter, { provideReferences: never }),
      vscode.languages.registerHoverProvider(filter, { provideHover: never }),
      vscode.languages.registerRenameProvider(filter, { provideRenameEdits: never }),
      vscode.languages.registerDocumentSymbolProvider(filter, { provideDocumentSymbols: never }),
      vscode.languages.registerCodeActionsProvider(filter, { provideCodeActions: never }),
      vscode.languages.registerCallHierarchyProvider(filter, {
        prepareCallHierarchy: never,
        provideCallHierarchyIncomingCalls: never,
        provideCallHierarchyOutgoingCalls: never,
      }),
    ];
    const use = { symbol: 'hang', path: 'src/hang.txt', line: 1 };
    try {
      for (const [name, args] of [
        ['find_references', use],
        ['hover', use],
        ['call_hierarchy', use],
        ['rename_symbol', { ...use, new_name: 'go' }],
        ['document_symbols', { path: use.path }],
        ['organize_imports', { path: use.path }],
      ] as const) {
        const abort = new AbortController();
        const isAsked = new Promise<void>((resolve) => {
          askedServer = resolve;
        });
        const isOver = once(logged.event, (text) => text.startsWith(`editor tools: ${name} took`));
        const answer = client.callTool({ name, arguments: args }, undefined, { signal: abort.signal });
        await isAsked;
        abort.abort();
        await assert.rejects(answer);
        await isOver;
      }
      assert.deepEqual(asked, []);
    } finally {
      for (const one of providers) one.dispose();
    }
  });

  it('format, sort imports and apply a quick fix', async () => {
    await call('format', { path: 'src/sorted.ts' });
    assert.match(read('src/sorted.ts'), /const x = join/);
    await call('organize_imports', { path: 'src/sorted.ts' });
    assert.match(read('src/sorted.ts'), /^import \{ join \} from 'path';/);
    writeFileSync(join(root, 'src/fix.ts'), "export const y = join('a');\n");
    const [, ...titles] = await call('apply_code_action', { path: 'src/fix.ts', line: 1 });
    const title = titles.find((one) => one === "Add missing function declaration 'join'") ?? assert.fail(titles.join());
    await call('apply_code_action', { path: 'src/fix.ts', line: 1, title });
    assert.match(read('src/fix.ts'), /function join\(/);
  });

  describe('after a turn', () => {
    const changed = new vscode.EventEmitter<string>();
    const removed = new vscode.EventEmitter<Conversation>();
    let sent: string[];
    let notices: SessionEvent[];
    let state: { turn: object | undefined; turns: object[] };
    let problems: ProblemsAfterTurn;
    let conversation: Conversation;
    let before: string;
    let told: () => void;

    beforeEach(() => {
      sent = [];
      notices = [];
      state = { turn: undefined, turns: [] };
      const change = { root, path: 'src/old.ts', before: { oid: 'a', mode: '100644', size: 1 }, added: 1, removed: 0 };
      conversation = {
        key: 'p',
        roots: [root],
        model: { state },
        changes: {
          isReviewed: true,
          settled: async () => undefined,
          changesOf: async () => [change],
          states: async () => ({ read: async () => Buffer.from(before) }),
        },
        queue: { items: [] },
        isBusy: false,
        note: (events: readonly { event: SessionEvent }[]) => {
          notices.push(...events.map(({ event }) => event));
          told();
        },
        send: (text: string) => {
          sent.push(text);
          told();
        },
      } as unknown as Conversation;
      problems = new ProblemsAfterTurn({
        conversations: {
          find: () => conversation,
          onDidChange: (listener) => changed.event(listener),
          onDidRemove: (listener) => removed.event(listener),
        },
        diagnoser: host.diagnoser,
        log: silentLog,
      });
    });

    afterEach(async () => {
      problems.dispose();
      const settings = vscode.workspace.getConfiguration('parley');
      await settings.update('problemsAfterTurn', undefined, vscode.ConfigurationTarget.Global);
    });

    async function turn(text: string, first: () => Promise<unknown> = async () => undefined): Promise<void> {
      const path = join(root, 'src/old.ts');
      before = existsSync(path) ? readFileSync(path, 'utf8') : '';
      const isTold = new Promise<void>((resolve) => {
        told = resolve;
      });
      const one = { id: `t${state.turns.length}`, startedAt: Date.now(), stopReason: 'end_turn' };
      state.turn = one;
      state.turns.push(one);
      changed.fire('p');
      await first();
      writeFileSync(path, text);
      state.turn = undefined;
      changed.fire('p');
      await isTold;
    }

    it('show the number of new errors, and ask the agent to fix them on request', async () => {
      writeFileSync(join(root, 'src/old.ts'), "export const old: number = 'old';\n");
      await turn("export const old: number = 'old';\nexport const fresh: number = 'fresh';\n");
      const [notice = assert.fail()] = notices;
      assert.deepEqual(notice.type === 'notice' && [notice.said, notice.action], [
        { code: 'new-problems', args: [1] },
        { id: 'fixProblems' },
      ]);
      assert.deepEqual(sent, []);
      await problems.fix(conversation);
      assert.match(sent[0] ?? '', /^Fix these problems:\n- src\/old\.ts:1: .*\n- src\/old\.ts:2: Type 'string'/);
    });

    it("don't count what the agent saw before it changed the line", async () => {
      const path = join(root, 'src/old.ts');
      writeFileSync(path, "export const old: number = 'old';\n");
      utimesSync(path, 1, 1);
      const { signal } = new AbortController();
      const look = () => host.diagnoser.problems([path], [root], signal);
      await turn("export const renamed: number = 'old';\nexport const fresh: boolean = 1;\n", look);
      const [notice = assert.fail()] = notices;
      assert.deepEqual(notice.type === 'notice' && notice.said, { code: 'new-problems', args: [1] });
    });

    it('leave no additional document open', async () => {
      const path = join(root, 'src/unopened.ts');
      writeFileSync(path, "export const one: number = 'one';\n");
      const closed = once(vscode.workspace.onDidCloseTextDocument, ({ uri }) => uri.fsPath === path);
      const found = await host.diagnoser.problems([path], [path], new AbortController().signal);
      assert.equal(found.count('error'), 1);
      // VS Code closes documents of `openTextDocument` after minutes.
      await closed;
    });

    it('ask the agent once automatically if so configured', async () => {
      const settings = vscode.workspace.getConfiguration('parley');
      await settings.update('problemsAfterTurn', 'send', vscode.ConfigurationTarget.Global);
      await turn("export const one: number = 'one';\n");
      assert.equal(sent.length, 1);
      await turn('export const two: boolean = 2;\n');
      assert.equal(sent.length, 1);
      assert.equal(notices.length, 1);
    });
  });

  it('are available only to the holder of the token', async () => {
    const { command, args, env } = grant.program;
    const other = new Client({ name: 'other', version: '1' });
    await assert.rejects(
      other.connect(
        new StdioClientTransport({
          command,
          args: [...args],
          env: { ...env, PARLEY_EDITOR_TOOLS: 'x' },
          stderr: 'ignore',
        }),
      ),
    );
    assert.ok(existsSync(args[1] ?? ''));
  });

  it('are those named in the settings', async () => {
    const settings = vscode.workspace.getConfiguration('parley');
    const names = async (): Promise<string[]> => (await client.listTools()).tools.map(({ name }) => name);
    try {
      await settings.update('editorTools', { a: ['hover'], '*': 'off' }, vscode.ConfigurationTarget.Global);
      assert.deepEqual(await names(), ['hover']);
      assert.match((await call('get_selection'))[0] ?? '', /There is no tool/);
      await settings.update('editorTools', { '*': 'off' }, vscode.ConfigurationTarget.Global);
      assert.deepEqual(await names(), []);
      assert.equal(await host.grant({ type: 'process', id: 'b' } as never, {} as never), undefined);
    } finally {
      await settings.update('editorTools', undefined, vscode.ConfigurationTarget.Global);
    }
    assert.equal(await host.grant({ type: 'remote', id: 'far' } as never, {} as never), undefined);
  });
});
