// Files, comparisons, links and terminals of agents in a real VS Code.

import { strict as assert } from 'node:assert';
import { mkdtemp, readFile, realpath, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { Deferred } from '../../../src/base/deferred';
import { silentLog } from '../../../src/base/log';
import { AgentFiles } from '../../../src/client/requests/agentFiles';
import { Terminals } from '../../../src/client/terminals/terminals';
import { DiffEditor } from '../../../src/workbench/editor/diffEditor';
import { EditorFiles } from '../../../src/workbench/editor/editorFiles';
import { EditorLinks, openLink } from '../../../src/workbench/editor/linkOpener';
import { openLocation } from '../../../src/workbench/editor/openLocation';
import { OutputEditor } from '../../../src/workbench/editor/readOnlyTexts';
import { AgentPty, RealTerminals } from '../../../src/workbench/editor/realTerminal';
import { removeFolder } from '../../support/scratch';
import { discard, hasText, openFile, typeInto, undoIn, until } from '../editing';

const hasCode = (code: string, message = /./) => ({ name: 'ParleyError', code, message });

async function activeEditor(test: (editor: vscode.TextEditor) => boolean): Promise<vscode.TextEditor> {
  const { window } = vscode;
  await until(
    () => window.activeTextEditor !== undefined && test(window.activeTextEditor),
    window.onDidChangeActiveTextEditor,
    window.onDidChangeTextEditorSelection,
  );
  return window.activeTextEditor ?? assert.fail();
}

describe("agents' file access in the editor", () => {
  let folder: string;
  let port: EditorFiles;

  before(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'parley-workbench-files-')));
  });

  beforeEach(() => {
    port = new EditorFiles({ log: silentLog });
  });

  afterEach(async () => {
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  });

  after(() => removeFolder(folder));

  async function seed(name: string, content: string | Uint8Array): Promise<string> {
    const path = join(folder, name);
    await writeFile(path, content);
    return path;
  }

  describe('reading', () => {
    it('returns what the user has typed without saving', async () => {
      const path = await seed('unsaved.txt', 'one\ntwo\n');
      const editor = await openFile(path);
      await typeInto(editor, 'zero\n');
      assert.equal(await port.readText(path), 'zero\none\ntwo\n');
      const link = join(folder, 'unsaved-link');
      await symlink(path, link);
      assert.equal(await port.readText(link), 'zero\none\ntwo\n');
      await discard(editor);
    });

    it("returns what the agent's command has just written, although the file is open", async () => {
      const path = await seed('stale.txt', 'before\n');
      await openFile(path);
      await writeFile(path, 'after\n');
      assert.equal(await port.readText(path), 'after\n');
    });

    it('decodes closed files, without byte order mark, with their line endings', async () => {
      assert.equal(await port.readText(await seed('bom.txt', '\ufeffä\r\nb')), 'ä\r\nb');
      const wide = Buffer.from('\ufeffwide ä\n', 'utf16le');
      assert.equal(await port.readText(await seed('wide.txt', wide)), 'wide ä\n');
      assert.equal(await port.readText(await seed('empty.txt', '')), '');
    });

    it("reports why a file can't be read: missing, a folder, a device, not text, too large", async () => {
      const read = (path: string) => port.readText(path);
      await assert.rejects(read(join(folder, 'missing')), hasCode('file-not-found'));
      await assert.rejects(read(folder), hasCode('file-unreadable', /folder/));
      await assert.rejects(read('/dev/zero'), hasCode('file-unreadable', /regular/));
      await assert.rejects(
        read(await seed('image.png', Buffer.from([137, 80, 0, 0, 0, 1, 0, 7, 255, 0]))),
        hasCode('file-not-text'),
      );
      const large = await seed('large.txt', '');
      await truncate(large, 60 * 1024 * 1024);
      await assert.rejects(read(large), hasCode('file-too-large', /60 MB.*50 MB/));
      await rm(large);
    });
  });

  describe('writing', () => {
    it('updates an open document, preserving cursor and Undo', async () => {
      const path = await seed('open.txt', 'alpha\nbeta\ngamma\n');
      const editor = await openFile(path);
      const cursor = new vscode.Position(2, 3);
      editor.selection = new vscode.Selection(cursor, cursor);
      await port.writeText(path, 'alpha\nBETTER\ngamma\n');
      assert.equal(await readFile(path, 'utf8'), 'alpha\nBETTER\ngamma\n');
      await hasText(editor.document, 'alpha\nBETTER\ngamma\n');
      assert.ok(editor.selection.active.isEqual(cursor));
      assert.equal(editor.document.isDirty, false);
      await undoIn(editor);
      assert.equal(editor.document.getText(), 'alpha\nbeta\ngamma\n');
      await discard(editor);
    });

    it('does not lose a write to an open file that a command has just changed on disk', async () => {
      const path = await seed('stale-write.txt', 'before\n');
      const editor = await openFile(path);
      await writeFile(path, 'by a command\n');
      await port.writeText(path, 'by the agent\n');
      assert.equal(await readFile(path, 'utf8'), 'by the agent\n');
      assert.equal(editor.document.isDirty, false);
    });

    it('preserves encoding, byte order mark and line endings of a closed file', async () => {
      const marked = await seed('marked.txt', '\ufeffä\r\nb\r\n');
      await port.writeText(marked, 'ö\nb\n');
      assert.equal(await readFile(marked, 'utf8'), '\ufeffö\r\nb\r\n');
      const wide = await seed('wide-write.txt', Buffer.from('\ufeffä\r\n', 'utf16le'));
      await port.writeText(wide, 'ö😀\n');
      assert.equal((await readFile(wide)).toString('utf16le'), '\ufeffö😀\r\n');
      const plain = await seed('plain.txt', 'a\nb\n');
      await port.writeText(plain, 'a\r\nc\r\n');
      await assert.rejects(port.writeText(plain, 'a\r\nc\r\n'), hasCode('line-ends-kept', /plain/));
      assert.equal(await readFile(plain, 'utf8'), 'a\nc\n');
      assert.equal(
        vscode.workspace.textDocuments.some(({ uri }) => uri.fsPath === plain),
        false,
      );
    });

    it('writes a file in its encoding, and rejects unsupported characters', async () => {
      const files = vscode.workspace.getConfiguration('files');
      await files.update('encoding', 'windows1252', vscode.ConfigurationTarget.Global);
      try {
        const path = await seed('western.txt', Buffer.from('gr\xfc\xdfe\n', 'latin1'));
        assert.equal(await port.readText(path), 'grüße\n');
        await port.writeText(path, 'Grüße\n');
        assert.deepEqual(await readFile(path), Buffer.from('Gr\xfc\xdfe\n', 'latin1'));
        await assert.rejects(port.writeText(path, '漢字\n'), hasCode('file-encoding', /western/));
        assert.deepEqual(await readFile(path), Buffer.from('Gr\xfc\xdfe\n', 'latin1'));
      } finally {
        await files.update('encoding', undefined, vscode.ConfigurationTarget.Global);
      }
    });

    it('creates a file with its folders, and empties one', async () => {
      const path = join(folder, 'new/deep/file.txt');
      await port.writeText(path, 'x\r\ny\n');
      assert.equal(await readFile(path, 'utf8'), 'x\r\ny\n');
      await port.writeText(path, '');
      assert.equal(await readFile(path, 'utf8'), '');
    });

    it('keeps the last of many writes to one file, open or closed, by any agent', async () => {
      for (const name of ['race-open.txt', 'race-closed.txt']) {
        const path = await seed(name, 'seed\n');
        if (name === 'race-open.txt') await openFile(path);
        const texts = Array.from({ length: 8 }, (_, n) => `write ${n}\n`);
        for (const content of texts) {
          // Calls of different agents are ordered only after each was looked up once.
          await Promise.all([
            new AgentFiles(port, { agentName: 'A' }).write(
              { path, content },
              [folder],
              { ask: async () => false, beforeWrite: async () => undefined },
              new AbortController().signal,
            ),
            port.readText(path),
          ]);
        }
        await Promise.all(texts.map((text) => port.writeText(path, text)));
        assert.equal(await readFile(path, 'utf8'), 'write 7\n');
      }
    });

    it('changes no byte outside the edit, whatever opened the file and however the user saves', async () => {
      const files = vscode.workspace.getConfiguration('files');
      for (const name of ['trimTrailingWhitespace', 'insertFinalNewline', 'trimFinalNewlines'])
        await files.update(name, true, vscode.ConfigurationTarget.Global);
      try {
        const path = await seed('mixed.txt', 'a  \r\nb\nc\t\r\nd');
        await port.writeText(path, 'a  \r\nB\nc\t\r\nd');
        assert.equal(await readFile(path, 'utf8'), 'a  \r\nB\nc\t\r\nd');
        const editor = await openFile(path);
        await port.writeText(path, 'a  \nBB\nc\t\nd');
        assert.equal(await readFile(path, 'utf8'), 'a  \r\nBB\nc\t\r\nd');
        await hasText(editor.document, 'a  \r\nBB\r\nc\t\r\nd');
        await typeInto(editor, 'mine  \n');
        const seen = await port.readText(path);
        await port.writeText(path, seen.replace('BB', 'BBB'));
        assert.equal(await readFile(path, 'utf8'), 'mine  \r\na  \r\nBBB\nc\t\r\nd');
        assert.equal(editor.document.isDirty, false);
      } finally {
        for (const name of ['trimTrailingWhitespace', 'insertFinalNewline', 'trimFinalNewlines'])
          await files.update(name, undefined, vscode.ConfigurationTarget.Global);
      }
    });

    it('rejects writes to a file of unknown encoding, open or not, without opening it', async () => {
      const bytes = Buffer.from('gr\xfc\xdfe\nmore\n', 'latin1');
      const path = await seed('unknown-twice.txt', bytes);
      const isOpen = () => vscode.workspace.textDocuments.some(({ uri }) => uri.fsPath === path);
      for (const opens of [false, true]) {
        if (opens) await openFile(path);
        for (let times = 0; times < 2; times++) {
          const seen = await port.readText(path);
          await assert.rejects(port.writeText(path, seen.replace('more', 'less')), hasCode('file-encoding'));
          assert.deepEqual(await readFile(path), bytes);
          assert.equal(isOpen(), opens);
        }
      }
    });

    it('writes a file whose encoding VS Code detects, without opening it', async () => {
      const files = vscode.workspace.getConfiguration('files');
      await files.update('autoGuessEncoding', true, vscode.ConfigurationTarget.Global);
      try {
        const line = 'Die Stra\xdfe f\xfchrt \xfcber die Br\xfccke nach K\xf6ln.\n';
        const path = await seed('guessed.txt', Buffer.from(line.repeat(20), 'latin1'));
        const seen = await port.readText(path);
        assert.match(seen, /Straße führt über/);
        await port.writeText(path, `${seen}Ende\n`);
        assert.deepEqual(await readFile(path), Buffer.from(`${line.repeat(20)}Ende\n`, 'latin1'));
        assert.ok(!vscode.workspace.textDocuments.some(({ uri }) => uri.fsPath === path));
      } finally {
        await files.update('autoGuessEncoding', undefined, vscode.ConfigurationTarget.Global);
      }
    });
  });

  describe('opening', () => {
    it('opens the line named by an agent, counted from 1, in existing files only', async () => {
      const path = await seed('place.txt', 'one\ntwo\nthree\n');
      await openLocation({ path, line: 2 });
      const editor = await activeEditor(
        ({ document, selection }) => document.uri.fsPath === path && selection.active.line === 1,
      );
      assert.equal(editor.selection.active.character, 0);
      await openLocation({ path: 'place.txt', line: 3, column: 2 }, [folder]);
      await activeEditor(({ selection }) => selection.active.line === 2 && selection.active.character === 1);
      await openLocation({ path, line: 5_000 });
      await assert.rejects(openLocation({ path: join(folder, 'none') }), hasCode('location-not-found'));
      await assert.rejects(
        openLocation({ path: 'command:workbench.action.quit' }, [folder]),
        hasCode('location-not-found'),
      );
      await assert.rejects(openLocation({ path: '' }, [folder]), hasCode('location-refused'));
      await assert.rejects(openLocation({ path: '/dev/null' }), hasCode('location-refused'));
    });

    it("opens a path relative to the session's folders from the chat", async () => {
      const path = await seed('relative.txt', 'one\ntwo\n');
      const links = new EditorLinks(async () => false);
      await links.openLocation('relative.txt', 2, [folder]);
      await activeEditor(({ document, selection }) => document.uri.fsPath === path && selection.active.line === 1);
      await assert.rejects(links.openLocation('none.txt', 1, [folder]), hasCode('location-not-found'));
    });

    it('does not cover the chat with the file', async () => {
      const path = await seed('beside.txt', 'x\n');
      const panel = vscode.window.createWebviewPanel('parley.test', 'Chat', vscode.ViewColumn.One);
      const shown = panel.visible;
      await openLocation({ path });
      await activeEditor(({ document }) => document.uri.fsPath === path);
      assert.equal(shown, true);
      assert.equal(panel.visible, true);
      panel.dispose();
    });

    it('follows links to files and web pages, and rejects those with effects', async () => {
      const path = await seed('my file.txt', '1\n2\n3\n');
      const external: string[] = [];
      const follow = (href: string) =>
        openLink(href, [folder], async (url) => {
          external.push(url);
          return true;
        });
      await follow('my%20file.txt#L3');
      await activeEditor(({ document, selection }) => document.uri.fsPath === path && selection.active.line === 2);
      await follow(`${vscode.Uri.file(path)}:2`);
      await activeEditor(({ selection }) => selection.active.line === 1);
      const signed = 'https://example.com/?q=a%26b%3Dc&next=https%3A%2F%2Fx.example%2F%3Fy%3D1%262';
      await follow(signed);
      assert.deepEqual(external, [signed]);
      await assert.rejects(follow('command:workbench.action.closeWindow'), hasCode('link-refused', /command:/));
      await assert.rejects(follow('vscode://x/y'), hasCode('link-refused'));
      await assert.rejects(follow('missing.ts:3'), hasCode('location-not-found', /missing.ts/));
      assert.equal(external.length, 1);
    });

    it("compares an agent's change in VS Code's diff editor, read-only, in the file's language", async () => {
      const diffs = new DiffEditor();
      const path = join(folder, 'change.py');
      await diffs.show({ path, oldText: 'a = 1\n', newText: 'a = 2\n' }, 'Ada');
      const editor = await activeEditor(({ document }) => document.uri.scheme === 'parley-diff');
      assert.equal(editor.document.getText(), 'a = 2\n');
      assert.equal(editor.document.languageId, 'python');
      const tab = vscode.window.tabGroups.activeTabGroup.activeTab;
      assert.ok(tab?.input instanceof vscode.TabInputTextDiff);
      assert.equal(tab.label, 'change.py (changed by Ada)');
      const old = await vscode.workspace.openTextDocument(tab.input.original);
      assert.equal(old.getText(), 'a = 1\n');
      await diffs.show({ path, oldText: 'a = 1\n', newText: 'a = 2\n' }, 'Ada');
      const count = vscode.window.tabGroups.all
        .flatMap(({ tabs }) => tabs)
        .filter(({ input }) => input instanceof vscode.TabInputTextDiff);
      assert.equal(count.length, 1);
      await diffs.show({ path: join(folder, 'fresh.md'), newText: '# new\n' }, 'Ada');
      assert.equal(vscode.window.tabGroups.activeTabGroup.activeTab?.label, 'fresh.md (new file, Ada)');
      await vscode.commands.executeCommand('workbench.action.closeAllEditors');
      diffs.dispose();
    });
  });

  describe("a tool call's output", () => {
    it('opens in full and read-only, once however often requested', async () => {
      const outputs = new OutputEditor();
      for (let times = 0; times < 2; times++) await outputs.show('npm test ../a\nmore', 'one\ntwo\n');
      const editor = await activeEditor(({ document }) => document.uri.scheme === 'parley-output');
      assert.equal(editor.document.getText(), 'one\ntwo\n');
      const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs.map(({ label }) => label));
      assert.deepEqual(tabs, ['npm test .._a.log']);
      await vscode.commands.executeCommand('workbench.action.closeAllEditors');
      outputs.dispose();
    });
  });

  describe('terminals', () => {
    it('show a running command: earlier output, new output, its exit; Ctrl+C kills it', async () => {
      const terminals = new Terminals({
        log: silentLog,
        env: async () => ({ PATH: process.env.PATH ?? '' }),
        isTrusted: () => true,
      });
      const first = new Deferred<void>();
      const listening = terminals.onDidChange(({ append }) => append?.includes('before') && first.resolve());
      const { terminalId } = await terminals.create('s', { command: 'echo before; read -r _ </dev/null; sleep 1000' }, [
        folder,
      ]);
      await first.promise;
      listening.dispose();
      const pty = new AgentPty(terminals, terminalId, 'echo\x1b[2J before');
      let shown = '';
      const ended = new Deferred<void>();
      pty.onDidWrite((text) => {
        shown += text;
        if (text.includes('ended by')) ended.resolve();
      });
      pty.open();
      assert.equal(shown, '\x1b[2m$ echo[2J before\x1b[0m\r\nbefore\r\n');
      const real = new RealTerminals(terminals);
      const terminal = real.show(terminalId, 'echo before');
      assert.equal(real.show(terminalId, 'echo before'), terminal);
      assert.equal(terminal.name, 'echo before');
      pty.handleInput('\x03');
      await ended.promise;
      assert.match(shown, /was ended by SIGTERM/);
      pty.close();
      real.dispose();
      await terminals.closeSession('s');
      terminals.dispose();
    });
  });
});
