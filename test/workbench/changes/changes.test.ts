// Review and restore of files in a real VS Code: undoable edits, versions, comparisons.

import { strict as assert } from 'node:assert';
import { existsSync } from 'node:fs';
import { chmod, lstat, mkdir, mkdtemp, readFile, readlink, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import * as vscode from 'vscode';
import { silentLog } from '../../../src/base/log';
import type { FileEdit } from '../../../src/changes/model/fileChange';
import { VersionDocuments, versionUri } from '../../../src/workbench/changes/documents/versionDocuments';
import { EditorWorkingFiles } from '../../../src/workbench/changes/documents/workingFiles';
import { removeFolder } from '../../support/scratch';
import { discard, once, openFile, typeInto } from '../editing';

describe('changed files in the editor', function () {
  this.timeout(60_000);
  let folder: string;
  let files: EditorWorkingFiles;

  before(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'parley-workbench-changes-')));
    files = new EditorWorkingFiles(silentLog);
  });

  afterEach(() => vscode.commands.executeCommand('workbench.action.closeAllEditors'));
  after(() => removeFolder(folder));

  async function seed(name: string, content: string | Uint8Array): Promise<string> {
    const path = join(folder, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
    return path;
  }

  const edit = (path: string, expected: string | undefined, content: string | undefined): FileEdit => ({
    path,
    root: folder,
    expected: expected === undefined ? undefined : Buffer.from(expected, 'latin1'),
    ...(content !== undefined && { content: Buffer.from(content, 'latin1') }),
  });

  const apply = (...edits: FileEdit[]): Promise<readonly string[]> => files.apply(edits, 'Undoing changes…');
  const onDisk = (path: string): Promise<string> => readFile(path, 'latin1');

  async function undo(document: vscode.TextDocument): Promise<void> {
    const undone = changeOf(document);
    await vscode.commands.executeCommand('undo');
    await undone;
  }

  function changeOf(document: vscode.TextDocument): Promise<vscode.TextDocumentChangeEvent> {
    return once(
      vscode.workspace.onDidChangeTextDocument,
      (event) => event.document === document && event.contentChanges.length > 0,
    );
  }

  const tabs = (): number => vscode.window.tabGroups.all.reduce((sum, group) => sum + group.tabs.length, 0);

  describe('reading', () => {
    it('reads unsaved text before the disk, in the bytes that saving would write', async () => {
      const path = await seed('read.txt', '\ufeffone\r\ntwo\r\n');
      assert.equal((await files.read(path))?.content.toString(), '\ufeffone\r\ntwo\r\n');
      const editor = await openFile(path);
      await typeInto(editor, 'zero\n');
      const found = await files.read(path);
      assert.equal(found?.content.toString(), '\ufeffzero\r\none\r\ntwo\r\n');
      assert.equal(found?.isDirty, true);
      await discard(editor);
    });

    it('reads a link as a link and recognizes executable files', async () => {
      const path = await seed('run.sh', 'x');
      await chmod(path, 0o755);
      assert.equal((await files.read(path))?.mode, '100755');
      const link = join(folder, 'a-link');
      await symlink('run.sh', link);
      const found = await files.read(link);
      assert.deepEqual([found?.mode, found?.content.toString()], ['120000', 'run.sh']);
      assert.equal(await files.read(join(folder, 'none')), undefined);
      assert.equal(await files.read(folder), undefined);
    });
  });

  describe('applying', () => {
    it('edits an open document line by line and saves it, and Undo reverts that', async () => {
      const path = await seed('open.txt', 'a\nB\nc\nd\nE\n');
      const editor = await openFile(path);
      editor.selection = new vscode.Selection(3, 1, 3, 1);
      const changed = changeOf(editor.document);
      assert.deepEqual(await apply(edit(path, 'a\nB\nc\nd\nE\n', 'a\nb\nb2\nc\nd\ne\n')), []);
      const ranges = (await changed).contentChanges.map(({ range, text }) => [range.start.line, range.end.line, text]);
      assert.deepEqual(ranges.sort(), [
        [1, 1, 'b\nb2'],
        [4, 4, 'e'],
      ]);
      assert.deepEqual([editor.selection.active.line, editor.selection.active.character], [4, 1]);
      assert.equal(await onDisk(path), 'a\nb\nb2\nc\nd\ne\n');
      assert.equal(editor.document.isDirty, false);
      await undo(editor.document);
      assert.equal(editor.document.getText(), 'a\nB\nc\nd\nE\n');
      await discard(editor);
    });

    it('does not save a document that had unsaved changes', async () => {
      const path = await seed('unsaved.txt', 'two\n');
      const editor = await openFile(path);
      await typeInto(editor, 'mine\n');
      assert.deepEqual(await apply(edit(path, 'mine\ntwo\n', 'mine\n2\n')), []);
      assert.equal(editor.document.getText(), 'mine\n2\n');
      assert.equal(editor.document.isDirty, true);
      assert.equal(await onDisk(path), 'two\n');
      await discard(editor);
    });

    it('skips a file with unexpected content, and changes the others', async () => {
      const changed = await seed('changed.txt', 'by the user\n');
      const typed = await seed('typed.txt', 'x\n');
      const editor = await openFile(typed);
      await typeInto(editor, 'typed\n');
      const there = await seed('there.txt', 'already\n');
      const fine = await seed('fine.txt', 'x\n');
      const refused = await apply(
        edit(changed, 'as it was\n', 'y\n'),
        edit(typed, 'x\n', 'y\n'),
        edit(there, undefined, 'y\n'),
        edit(fine, 'x\n', 'y\n'),
      );
      assert.deepEqual([...refused].sort(), [changed, there, typed].sort());
      assert.equal(await onDisk(changed), 'by the user\n');
      assert.equal(editor.document.getText(), 'typed\nx\n');
      assert.equal(await onDisk(fine), 'y\n');
      await discard(editor);
    });

    it('edits, creates and deletes closed files without opening an editor', async () => {
      const changed = await seed('closed/changed.txt', 'one\ntwo\n');
      const gone = await seed('closed/fresh/gone.txt', 'x\n');
      const made = join(folder, 'closed/deep/made.txt');
      assert.deepEqual(
        await apply(edit(changed, 'one\ntwo\n', 'one\n2\n'), edit(gone, 'x\n', undefined), edit(made, undefined, 'm')),
        [],
      );
      assert.deepEqual([await onDisk(changed), existsSync(gone), await onDisk(made)], ['one\n2\n', false, 'm']);
      assert.equal(existsSync(dirname(gone)), false, 'no empty folder is left');
      assert.equal(tabs(), 0);
    });

    it('writes bytes that no document can hold: mixed line endings, another encoding, binary', async () => {
      const mixed = await seed('mixed.txt', 'a\nb\r\nc\n');
      await openFile(mixed);
      assert.deepEqual(await apply(edit(mixed, 'a\nb\r\nc\n', 'a\r\nB\nc\n')), []);
      assert.equal(await onDisk(mixed), 'a\r\nB\nc\n');
      const latin = await seed('latin.txt', Buffer.from('gr\xfc\xdfe\n', 'latin1'));
      assert.deepEqual(await apply(edit(latin, 'gr\xfc\xdfe\n', 'Gr\xfc\xdfe\n')), []);
      assert.equal(await onDisk(latin), 'Gr\xfc\xdfe\n');
      const image = await seed('image.png', Buffer.from([137, 80, 0, 255, 0]));
      assert.deepEqual(await apply(edit(image, '\x89P\0\xff\0', '\x89P\0\0\0\xff')), []);
      assert.equal(await onDisk(image), '\x89P\0\0\0\xff');
    });

    it('changes all line endings, the byte order mark and the final newline', async () => {
      const path = await seed('ends.txt', 'a\r\nb\r\n');
      const editor = await openFile(path);
      assert.deepEqual(await apply(edit(path, 'a\r\nb\r\n', 'a\nb')), []);
      assert.equal(await onDisk(path), 'a\nb');
      await undo(editor.document);
      assert.equal(editor.document.getText(), 'a\r\nb\r\n');
      await discard(editor);
      const marked = await seed('marked.txt', '\ufeffa\n');
      assert.deepEqual(await apply(edit(marked, '\xef\xbb\xbfa\n', 'a\n')), []);
      assert.equal(await onDisk(marked), 'a\n');
    });

    it('sets modes and creates links, without following them', async () => {
      const path = await seed('tool.sh', 'x\n');
      assert.deepEqual(await apply({ ...edit(path, 'x\n', 'x\n'), mode: '100755' }), []);
      assert.equal((await lstat(path)).mode & 0o111, 0o111 & (await lstat(path)).mode);
      assert.notEqual((await lstat(path)).mode & 0o100, 0);
      assert.deepEqual(await apply({ ...edit(path, 'x\n', 'y\n'), mode: '100644' }), []);
      assert.equal((await lstat(path)).mode & 0o111, 0);
      const target = await seed('target.txt', 'target\n');
      const link = join(folder, 'link');
      assert.deepEqual(await apply({ ...edit(link, undefined, 'target.txt'), mode: '120000' }), []);
      assert.equal(await readlink(link), 'target.txt');
      assert.deepEqual(await apply({ ...edit(link, 'target.txt', 'now a file\n'), mode: '100644' }), []);
      assert.deepEqual([await onDisk(link), await onDisk(target)], ['now a file\n', 'target\n']);
    });

    it('rejects read-only files, and paths that lead out of the folder through a link', async () => {
      const outside = await realpath(await mkdtemp(join(tmpdir(), 'parley-outside-')));
      await writeFile(join(outside, 'x.txt'), 'x\n');
      await symlink(outside, join(folder, 'out'));
      const locked = await seed('locked.txt', 'x\n');
      await chmod(locked, 0o444);
      const through = join(folder, 'out/x.txt');
      const fresh = join(folder, 'out/new/y.txt');
      const refused = await apply(
        edit(through, 'x\n', 'y\n'),
        edit(fresh, undefined, 'y\n'),
        edit(locked, 'x\n', 'y\n'),
      );
      assert.deepEqual([...refused].sort(), [through, fresh, locked].sort());
      assert.deepEqual([await onDisk(join(outside, 'x.txt')), await onDisk(locked)], ['x\n', 'x\n']);
      await rm(outside, { recursive: true });
    });

    it('writes the exact bytes although the user formats on save', async () => {
      const settings = vscode.workspace.getConfiguration('files');
      await settings.update('insertFinalNewline', true, vscode.ConfigurationTarget.Global);
      try {
        const path = await seed('formatted.txt', 'a\nb\n');
        await openFile(path);
        assert.deepEqual(await apply(edit(path, 'a\nb\n', 'a\nc')), []);
        assert.equal(await onDisk(path), 'a\nc');
      } finally {
        await settings.update('insertFinalNewline', undefined, vscode.ConfigurationTarget.Global);
      }
    });

    it("uses what a command has just written as an open file's content", async () => {
      const path = await seed('stale.txt', 'before\n');
      const editor = await openFile(path);
      await writeFile(path, 'by a command\n');
      assert.deepEqual(await apply(edit(path, 'by a command\n', 'before\n')), []);
      assert.equal(await onDisk(path), 'before\n');
      assert.equal(editor.document.isDirty, false);
    });
  });

  describe('versions', () => {
    const versions = new Map<string, Buffer>();
    let documents: VersionDocuments;

    before(() => {
      documents = new VersionDocuments(async ({ version }) => {
        const found = versions.get(version.oid);
        if (!found) throw vscode.FileSystemError.FileNotFound(version.oid);
        return found;
      });
    });

    after(() => documents.dispose());

    const uriOf = (name: string, content: Buffer): vscode.Uri => {
      const oid = (versions.size + 1).toString(16).padStart(40, '0');
      versions.set(oid, content);
      const version = { oid, mode: '100644', size: content.length } as const;
      return versionUri(join(folder, name), { session: 'key', root: folder, version });
    };

    it('are read-only documents that show texts in any encoding', async () => {
      const narrow = uriOf('x.py', Buffer.from('ä = 1\r\n'));
      const wide = uriOf('w.txt', Buffer.from('\ufeffwide ä\n', 'utf16le'));
      const textOf = async (uri: vscode.Uri): Promise<string> =>
        new TextDecoder().decode(await documents.readFile(uri));
      assert.deepEqual([await textOf(narrow), await textOf(wide)], ['ä = 1\r\n', 'wide ä\n']);
      assert.throws(() => documents.writeFile(narrow), /NoPermissions/);
    });
  });
});
