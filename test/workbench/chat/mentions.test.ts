// What `@` offers in a real VS Code: files, the selection, problems, commits, sessions, symbols.

import { strict as assert } from 'node:assert';
import { execFileSync } from 'node:child_process';
import { access, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import type { MentionView } from '../../../src/panel/contract';
import { Mentions } from '../../../src/workbench/chat/mentions';
import { removeFolder, removeScratch, scratchFolder } from '../../support/scratch';
import { once, openFile } from '../editing';

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

  async function offers(query: string, place = root): Promise<readonly MentionView[]> {
    let last: readonly MentionView[] = [];
    for await (const some of mentions.offers(query, { key: 'this', roots: [place] }, signal)) last = some;
    return last;
  }

  it('offer files and folders of the workspace, and attach them by address', async () => {
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

  it('attach nothing that was not offered', async () => {
    await offers('parser');
    for (const id of ['path:../secret', 'path:/etc/passwd', 'path:mentioned/none.ts', 'symbol:0:none', 'other'])
      assert.deepEqual(await mentions.attachments(id, [root]), []);
  });

  it('offer recently used files, latest first, but no deleted ones', async () => {
    const gone = join(folder, 'parser-gone.go');
    await writeFile(gone, '');
    await writeFile(join(folder, 'later.go'), '');
    for (const path of [gone, join(folder, 'parser.go'), join(folder, 'later.go')]) await openFile(path);
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await offers('parser');
    await rm(gone);
    const labels = (found: readonly MentionView[]) => found.map(({ label }) => label);
    assert.deepEqual(labels(await offers('')).slice(0, 2), ['mentioned/later.go', 'mentioned/parser.go']);
    for (const query of ['', 'parser', 'parser-gone.go'])
      assert.ok(!labels(await offers(query)).includes('mentioned/parser-gone.go'), query);
  });

  it('offer only the kind before the colon, and kinds by the beginning of their name', async () => {
    const [folders] = await offers('fold');
    assert.partialDeepStrictEqual(folders, { kind: 'folder', label: 'Folders', prefix: 'folder:' });
    assert.deepEqual(
      (await offers('folder:ment')).map(({ kind, label }) => [kind, label]),
      [
        ['folder', 'mentioned'],
        ['folder', 'mentioned/built'],
      ],
    );
    assert.ok((await offers('file:mentioned')).every(({ kind }) => kind === 'file'));
  });

  it('rank all kinds together: an exact title is above files that only contain its letters', async () => {
    mentions.dispose();
    mentions = new Mentions({
      sessions: {
        named: async () => [{ id: 'session:1', kind: 'session', label: 'Mend parse' }],
        attachment: async () => undefined,
      },
      terminals: { offers: () => [], attachment: async () => undefined },
    });
    const found = await offers('mendparse');
    assert.equal(found[0]?.id, 'session:1');
    assert.ok((await offers('parser.go')).findIndex(({ kind }) => kind === 'session') > 0);
  });

  it('exclude what git ignores', async () => {
    execFileSync('git', ['init', '-q'], { cwd: root });
    try {
      const labels = (await offers('parser')).map(({ label }) => label);
      assert.ok(labels.includes('mentioned/parser.go'), labels.join());
      assert.ok(!labels.includes('mentioned/built/parser.js'), labels.join());
    } finally {
      await removeFolder(join(root, '.git'));
    }
  });

  it('offer the selection and open editors before anything is typed', async () => {
    const editor = await openFile(join(folder, 'parser.go'));
    editor.selection = new vscode.Selection(0, 0, 1, 5);
    const found = await offers('');
    const [file, ...others] = found.filter(({ kind }) => kind !== 'problems');
    assert.deepEqual([file?.label, file?.description], ['mentioned/parser.go', 'Open editor']);
    assert.equal(others[0]?.label, 'mentioned/parser.go:1–2');
    assert.deepEqual(
      found.flatMap(({ prefix }) => prefix ?? []),
      ['file:', 'folder:', 'symbol:'],
    );
    const [attachment] = await mentions.attachments('selection', [root]);
    assert.equal(attachment?.label, 'mentioned/parser.go:1–2');
  });

  it("offer the workspace's problems, and attach them as text", async () => {
    const collection = vscode.languages.createDiagnosticCollection('mentions');
    try {
      const range = new vscode.Range(1, 2, 1, 8);
      collection.set(vscode.Uri.file(join(folder, 'parser.go')), [new vscode.Diagnostic(range, 'Not a number.')]);
      assert.ok((await offers('prob')).some(({ id }) => id === 'problems'));
      const [attachment] = await mentions.attachments('problems', [root]);
      const [form] = attachment?.forms ?? [];
      assert.match(
        form?.type === 'resource' ? (form.text ?? '') : '',
        /mentioned\/parser\.go:2:3 error: Not a number\./,
      );
    } finally {
      collection.dispose();
    }
    assert.deepEqual(await mentions.attachments('problems', [join(root, 'elsewhere')]), []);
  });

  it('attach changes since the last commit, without running programs of the repository', async () => {
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.c', ...args], { cwd: root });
    assert.deepEqual(await mentions.attachments('changes', [root]), []);
    git('init', '-q');
    try {
      git('add', 'mentioned/parser.go');
      git('commit', '-qm', 'first');
      // Neither an external diff nor a text conversion is run.
      const ran = join(folder, 'ran');
      git('config', 'diff.external', `touch ${ran}`);
      git('config', 'diff.go.textconv', `touch ${ran};cat`);
      await writeFile(join(folder, '.gitattributes'), '*.go diff=go\n');
      await writeFile(join(folder, 'parser.go'), 'func parseEverything() int {\n\treturn 2\n}\n');
      assert.ok((await offers('chan')).some(({ id }) => id === 'changes'));
      const [attachment] = await mentions.attachments('changes', [root]);
      const [form] = attachment?.forms ?? [];
      const text = form?.type === 'resource' ? (form.text ?? '') : '';
      assert.match(text, /-\treturn 1\n\+\treturn 2/);
      assert.match(text, /^\?\? mentioned\/\.gitattributes$/m);
      await assert.rejects(access(ran));
    } finally {
      await removeFolder(join(root, '.git'));
      await writeFile(join(folder, 'parser.go'), 'func parseEverything() int {\n\treturn 1\n}\n');
      await rm(join(folder, '.gitattributes'));
    }
  });

  describe('in a repository', () => {
    let repository: string;
    const git = (...args: string[]): string =>
      execFileSync('git', ['-c', 'user.name=Ada\u202e](x)', '-c', 'user.email=a@b.c', ...args], {
        cwd: repository,
        encoding: 'utf8',
      });
    const commit = (message: string): string => {
      git('commit', '-q', '--allow-empty', '--cleanup=verbatim', '-m', message);
      return git('rev-parse', 'HEAD').trim();
    };
    const labels = (found: readonly MentionView[]): readonly string[] =>
      found.filter(({ kind }) => kind === 'commit').map(({ label }) => label.slice(8));

    // Outside the workspace, since VS Code's Git extension would open it.
    beforeEach(async () => {
      repository = await scratchFolder();
      git('init', '-q');
    });
    afterEach(removeScratch);

    it('offer commits by subject or hash, and attach message and diff', async () => {
      await writeFile(join(repository, 'a.go'), 'func a() int\n');
      git('add', 'a.go');
      const hash = commit('Fix the parser');
      commit('Later');
      const [found, ...more] = (await offers('fix-the-pars', repository)).filter(({ kind }) => kind === 'commit');
      const label = `${hash.slice(0, 7)} Fix the parser`;
      assert.deepEqual(found, {
        id: `commit:${hash}`,
        kind: 'commit',
        label,
        description: 'Ada⟨U+202E⟩](x) · now',
      });
      assert.deepEqual(more, []);
      for (const query of [hash, hash.slice(0, 5), hash.slice(0, 8).toUpperCase()])
        assert.deepEqual(labels(await offers(query, repository)), ['Fix the parser'], query);
      const [attachment] = await mentions.attachments(found?.id ?? '', [repository]);
      assert.equal(attachment?.label, label);
      const [resource, text] = attachment?.forms ?? [];
      assert.ok(resource?.type === 'resource' && resource.uri.startsWith(`parley:commit/${hash}/`));
      assert.match(resource.text ?? '', /\n\nFix the parser\n\ndiff --git [\s\S]*\+func a\(\) int$/);
      assert.match(text?.type === 'text' ? text.text : '', /^\n\n<commit>\ncommit [\s\S]*\n<\/commit>\n$/);
    });

    it('offer the newest commits for `@commit:`, and the kind before files', async () => {
      for (let at = 0; at < 10; at++) commit(`number ${at}`);
      await writeFile(join(folder, 'commit.ts'), '');
      assert.deepEqual(
        labels(await offers('commit:', repository)),
        [9, 8, 7, 6, 5, 4, 3, 2, 1, 0].map((at) => `number ${at}`),
      );
      assert.deepEqual(labels(await offers('commit:number-3', repository)), ['number 3']);
      const kinds = (await offers('comm', repository)).map(({ prefix }) => prefix);
      assert.ok(kinds.includes('commit:'), kinds.join());
    });

    it('show invisible and bidirectional characters in a subject, and accept only whole hashes', async () => {
      const hash = commit('evil \u001b[31m\u202egnp](command:x) $(zap) <b>\u200b');
      const [found] = (await offers('evil', repository)).filter(({ kind }) => kind === 'commit');
      const shown = `${hash.slice(0, 7)} evil ⟨U+001B⟩[31m⟨U+202E⟩gnp](command:x) $(zap) <b>⟨U+200B⟩`;
      assert.equal(found?.label, shown);
      for (const id of ['commit:HEAD', `commit:${hash}^`, 'commit:--output=x', `commit:${'0'.repeat(40)}`])
        assert.deepEqual(await mentions.attachments(id, [repository]), []);
      assert.equal((await mentions.attachments(found.id, [repository])).length, 1);
    });

    it('run nothing in an untrusted workspace', async () => {
      const hash = commit('Fix the parser');
      const trust = Object.getOwnPropertyDescriptor(vscode.workspace, 'isTrusted') ?? assert.fail();
      Object.defineProperty(vscode.workspace, 'isTrusted', { value: false, configurable: true });
      try {
        assert.deepEqual(labels(await offers(hash, repository)), []);
        assert.deepEqual(await mentions.attachments(`commit:${hash}`, [repository]), []);
      } finally {
        Object.defineProperty(vscode.workspace, 'isTrusted', trust);
      }
      assert.equal((await mentions.attachments(`commit:${hash}`, [repository])).length, 1);
    });

    it('offer everything else while git hangs', async function () {
      if (process.platform === 'win32') this.skip();
      commit('Fix the parser');
      mentions.dispose();
      mentions = new Mentions({
        sessions: {
          named: async () => [{ id: 'session:1', kind: 'session', label: 'A session' }],
          attachment: async () => undefined,
        },
        terminals: { offers: () => [], attachment: async () => undefined },
      });
      const pipe = join(repository, '.git', 'pipe');
      execFileSync('mkfifo', [pipe]);
      git('config', 'include.path', 'pipe');
      for await (const found of mentions.offers('parser', { key: 'this', roots: [repository] }, signal)) {
        const shown = found.map(({ label }) => label);
        if (shown.includes('mentioned/parser.go') && shown.includes('A session')) return;
      }
      assert.fail('not offered');
    });
  });

  it('offer symbols after files, and attach all of their lines', async () => {
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

  it('attach dropped files of the workspace, and no others', async () => {
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

  it('include files created since', async () => {
    await offers('parser');
    const made = join(folder, 'quite-new.go');
    const watcher = vscode.workspace.createFileSystemWatcher('**/quite-new.go');
    const told = once(watcher.onDidCreate);
    await writeFile(made, '');
    await told;
    watcher.dispose();
    // The first search starts a new list, and is answered from the old one.
    while (!(await offers('quite-new')).some(({ label }) => label === 'mentioned/quite-new.go'))
      await new Promise((resolve) => setImmediate(resolve));
  });
});
