// What `@` offers in a real VS Code: files as git and the editor list them, the selection, problems, earlier sessions, symbols.

import { strict as assert } from 'node:assert';
import { execFileSync } from 'node:child_process';
import { access, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import type { MentionView } from '../../../src/panel/contract';
import { Mentions } from '../../../src/workbench/chat/mentions';
import { removeFolder } from '../../support/scratch';
import { openFile } from '../editing';

describe('mentions', () => {
  const { signal } = new AbortController();
  let root: string;
  let folder: string;
  let mentions: Mentions;

  before('write files', async () => {
    root = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? assert.fail('no workspace');
    folder = join(root, 'mentioned');
    await mkdir(join(folder, 'built'), { recursive: true });
    await writeFile(join(folder, 'parser.go'), 'func parseEverything() int {\n\treturn 1\n}\n');
    await writeFile(join(folder, 'built', 'parser.js'), '');
    await writeFile(join(folder, '.gitignore'), 'built\n');
  });

  beforeEach(() => {
    mentions = new Mentions({
      sessions: { named: async () => [], attachment: async () => undefined },
      terminals: { offers: () => [], attachment: async () => undefined },
    });
  });

  afterEach(async () => {
    mentions.dispose();
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  after(() => removeFolder(folder));

  /** The last of what is offered. */
  async function offers(query: string): Promise<readonly MentionView[]> {
    let last: readonly MentionView[] = [];
    for await (const some of mentions.offers(query, { key: 'this', roots: [root] }, signal)) last = some;
    return last;
  }

  it('offers files and folders of the workspace, and attaches them by their address', async () => {
    const found = await offers('mentioned/parser.go');
    const [file] = found;
    assert.deepEqual(file, { id: 'path:mentioned/parser.go', kind: 'file', label: 'mentioned/parser.go' });
    const [attachment] = await mentions.attachments(file?.id ?? '', [root]);
    assert.partialDeepStrictEqual(attachment, { kind: 'file', label: 'mentioned/parser.go' });
    assert.deepEqual(attachment?.forms, [
      { type: 'resource_link', uri: vscode.Uri.file(join(folder, 'parser.go')).toString(), name: 'parser.go' },
    ]);
    assert.ok((await offers('mentioned')).some(({ kind, label }) => kind === 'folder' && label === 'mentioned'));
  });

  it('attaches nothing that it has not offered', async () => {
    await offers('parser');
    for (const id of ['path:../secret', 'path:/etc/passwd', 'path:mentioned/none.ts', 'symbol:0:none', 'other'])
      assert.deepEqual(await mentions.attachments(id, [root]), []);
  });

  it('leaves out what git ignores', async () => {
    execFileSync('git', ['init', '-q'], { cwd: root });
    try {
      const labels = (await offers('parser')).map(({ label }) => label);
      assert.ok(labels.includes('mentioned/parser.go'), labels.join());
      assert.ok(!labels.includes('mentioned/built/parser.js'), labels.join());
    } finally {
      await removeFolder(join(root, '.git'));
    }
  });

  it('offers the selection and open editors before anything is typed', async () => {
    const editor = await openFile(join(folder, 'parser.go'));
    editor.selection = new vscode.Selection(0, 0, 1, 5);
    const found = await offers('');
    assert.deepEqual(
      found.filter(({ kind }) => kind !== 'problems').map(({ kind, label }) => [kind, label]),
      [
        ['selection', 'mentioned/parser.go:1–2'],
        ['file', 'mentioned/parser.go'],
      ],
    );
    const [attachment] = await mentions.attachments('selection', [root]);
    assert.equal(attachment?.label, 'mentioned/parser.go:1–2');
  });

  it('offers the problems of the workspace, and attaches them as text', async () => {
    const collection = vscode.languages.createDiagnosticCollection('mentions');
    try {
      const range = new vscode.Range(1, 2, 1, 8);
      collection.set(vscode.Uri.file(join(folder, 'parser.go')), [new vscode.Diagnostic(range, 'Not a number.')]);
      assert.ok((await offers('prob')).some(({ id }) => id === 'problems'));
      const [attachment] = await mentions.attachments('problems', [root]);
      const [form] = attachment?.forms ?? [];
      assert.match(form?.type === 'text' ? form.text : '', /mentioned\/parser\.go:2:3 error: Not a number\./);
    } finally {
      collection.dispose();
    }
    assert.deepEqual(await mentions.attachments('problems', [join(root, 'elsewhere')]), []);
  });

  it('attaches what has changed since the last commit, without running programs of the repository', async () => {
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.c', ...args], { cwd: root });
    assert.deepEqual(await mentions.attachments('changes', [root]), []);
    git('init', '-q');
    try {
      git('add', 'mentioned/parser.go');
      git('commit', '-qm', 'first');
      // Neither an external diff nor a text conversion is asked.
      const ran = join(folder, 'ran');
      git('config', 'diff.external', `touch ${ran}`);
      git('config', 'diff.go.textconv', `touch ${ran};cat`);
      await writeFile(join(folder, '.gitattributes'), '*.go diff=go\n');
      await writeFile(join(folder, 'parser.go'), 'func parseEverything() int {\n\treturn 2\n}\n');
      assert.ok((await offers('chan')).some(({ id }) => id === 'changes'));
      const [attachment] = await mentions.attachments('changes', [root]);
      const [form] = attachment?.forms ?? [];
      const text = form?.type === 'text' ? form.text : '';
      assert.match(text, /-\treturn 1\n\+\treturn 2/);
      assert.match(text, /^\?\? mentioned\/\.gitattributes$/m);
      await assert.rejects(access(ran));
    } finally {
      await removeFolder(join(root, '.git'));
      await writeFile(join(folder, 'parser.go'), 'func parseEverything() int {\n\treturn 1\n}\n');
      await rm(join(folder, '.gitattributes'));
    }
  });

  it('offers symbols after the files, and attaches all of their lines', async () => {
    const provider = vscode.languages.registerWorkspaceSymbolProvider({
      provideWorkspaceSymbols: (query) =>
        'parseEverything'.toLowerCase().includes(query.toLowerCase())
          ? [
              new vscode.SymbolInformation(
                'parseEverything',
                vscode.SymbolKind.Function,
                '',
                new vscode.Location(vscode.Uri.file(join(folder, 'parser.go')), new vscode.Range(0, 16, 0, 31)),
              ),
            ]
          : [],
    });
    const outline = vscode.languages.registerDocumentSymbolProvider('*', {
      provideDocumentSymbols: () => [
        new vscode.DocumentSymbol(
          'parseEverything',
          '',
          vscode.SymbolKind.Function,
          new vscode.Range(0, 0, 2, 1),
          new vscode.Range(0, 16, 0, 31),
        ),
      ],
    });
    try {
      const symbol = (await offers('parseEvery')).find(({ kind }) => kind === 'symbol') ?? assert.fail('no symbol');
      assert.equal(symbol.label, 'parseEverything');
      const [attachment] = await mentions.attachments(symbol.id, [root]);
      assert.equal(attachment?.label, 'parseEverything');
      const [form] = attachment?.forms ?? [];
      assert.match(form?.type === 'resource' ? (form.text ?? '') : '', /^func[\s\S]*\}$/);
    } finally {
      provider.dispose();
      outline.dispose();
    }
  });

  it('attaches dropped files of the workspace, and no others', async () => {
    const addresses = [join(folder, 'parser.go'), '/etc/passwd'].map((path) => vscode.Uri.file(path).toString());
    const attachments = await mentions.dropped([
      ...addresses,
      `file://${root}/../secret`,
      'not an address',
      'command:nothing',
    ]);
    assert.deepEqual(
      attachments.map(({ label }) => label),
      ['mentioned/parser.go'],
    );
  });

  it('shows files that were made since', async () => {
    await offers('parser');
    const made = join(folder, 'quite-new.go');
    const told = new Promise<void>((resolve) => {
      const watcher = vscode.workspace.createFileSystemWatcher('**/quite-new.go');
      watcher.onDidCreate(() => {
        watcher.dispose();
        resolve();
      });
    });
    await writeFile(made, '');
    await told;
    // The first search begins a new list, and is answered from the old one.
    while (!(await offers('quite-new')).some(({ label }) => label === 'mentioned/quite-new.go'))
      await new Promise((resolve) => setImmediate(resolve));
  });
});
