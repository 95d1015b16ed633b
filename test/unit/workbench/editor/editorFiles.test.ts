// Agents' writes to files in any editor state preserve unedited bytes.
import assert from 'node:assert/strict';
import { lstat, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { silentLog } from '../../../../src/base/log';
import { AgentFiles } from '../../../../src/client/requests/agentFiles';
import type { FakeDocuments } from '../../../support/fakeDocuments';
import { useFakeDocuments } from '../../../support/fakeEditor';
import { removeScratch, scratchFolder } from '../../../support/scratch';

const NEVER = new AbortController().signal;

describe("an agent's write to a file", () => {
  let folder: string;
  let editor: FakeDocuments;
  let agent: AgentFiles;

  beforeEach(async () => {
    folder = await scratchFolder();
    editor = useFakeDocuments();
    const { EditorFiles } = await import('../../../../src/workbench/editor/editorFiles');
    agent = new AgentFiles(new EditorFiles({ log: silentLog }), { agentName: 'A' });
  });

  afterEach(removeScratch);

  async function seed(name: string, content: string | Buffer): Promise<string> {
    const path = join(folder, name);
    await writeFile(path, content);
    return path;
  }

  async function read(path: string, lines: { line?: number; limit?: number } = {}): Promise<string> {
    return (await agent.read({ sessionId: 's', path, ...lines }, [folder], async () => false, NEVER)).content;
  }

  async function write(path: string, content: string): Promise<void> {
    const ports = { ask: async () => false, beforeWrite: async () => undefined };
    await agent.write({ sessionId: 's', path, content }, [folder], ports, NEVER);
  }

  const hasCode = (code: string) => (error: unknown) => {
    assert.equal((error as { data?: { code?: string } }).data?.code, code);
    return true;
  };

  it('is rejected if the user changed the same lines since, until the agent has read them', async () => {
    const path = await seed('same.txt', 'one\ntwo\nthree\n');
    const document = editor.open(path);
    const given = await read(path);
    document.type('one\nmine\nthree\n');
    for (let times = 0; times < 2; times++) {
      await assert.rejects(write(path, given.replace('two', 'TWO')), hasCode('file-changed'));
      assert.equal(document.getText(), 'one\nmine\nthree\n');
      assert.equal(await readFile(path, 'utf8'), 'one\ntwo\nthree\n');
    }
    await read(path, { line: 1, limit: 1 });
    await assert.rejects(write(path, given.replace('two', 'TWO')), hasCode('file-changed'), 'other lines than those');
    assert.equal(await read(path, { line: 2, limit: 2 }), 'mine\nthree\n');
    await write(path, 'one\nyours\nthree\n');
    assert.equal(await readFile(path, 'utf8'), 'one\nyours\nthree\n');
  });

  it("preserves the user's unsaved text if the agent has never read the file", async () => {
    const path = await seed('unread.txt', 'one\ntwo\nthree\n');
    const document = editor.open(path);
    document.type('one\ntwo\nthree\nmine\n');
    await write(path, 'ONE\ntwo\nthree\n');
    assert.equal(await readFile(path, 'utf8'), 'ONE\ntwo\nthree\nmine\n');
  });

  it('may revert what the user typed without saving, and preserves line endings', async () => {
    const path = await seed('back.txt', 'one\r\ntwo\r\n');
    const document = editor.open(path);
    document.type('one\r\nmine\r\n');
    await read(path);
    await write(path, 'one\ntwo\n');
    assert.equal(document.getText(), 'one\r\ntwo\r\n');
    await assert.rejects(write(path, 'one\ntwo\n'), hasCode('line-ends-kept'));
    assert.equal(await readFile(path, 'utf8'), 'one\r\ntwo\r\n');
  });

  it('is rejected if the user created the file after the agent found none', async () => {
    const path = join(folder, 'made.txt');
    await assert.rejects(read(path));
    await writeFile(path, 'mine\n');
    await assert.rejects(write(path, 'yours\n'), hasCode('file-changed'));
    assert.equal(await readFile(path, 'utf8'), 'mine\n');
  });

  it('succeeds once the user stops typing', async () => {
    const path = await seed('typing.txt', 'one\ntwo\nthree\n');
    const document = editor.open(path);
    const given = await read(path);
    document.type('one\ntwo\nthree\na');
    let keys = 1;
    editor.beforeEdit = () => {
      if (keys-- > 0) document.type(`${document.getText()}b`);
    };
    await write(path, given.replace('one', 'ONE'));
    assert.equal(await readFile(path, 'utf8'), 'ONE\ntwo\nthree\nab');
  });

  it('leaves the file to the user if the disk differs from what the document started with', async () => {
    const path = await seed('conflict.txt', 'old\n');
    const document = editor.open(path);
    document.type('typed\nold\n');
    await writeFile(path, 'changed by somebody else\n');
    await assert.rejects(write(path, 'by the agent\n'), hasCode('file-changed'));
    assert.equal(document.getText(), 'typed\nold\n');
    assert.equal(await readFile(path, 'utf8'), 'changed by somebody else\n');
  });

  it('follows links, using unsaved text of whichever name is open', async () => {
    const path = await seed('target.txt', 'one\ntwo\n');
    const link = join(folder, 'link.txt');
    await symlink(path, link);
    const document = editor.open(link);
    document.type('one\ntwo\nmine\n');
    assert.equal(await read(path), 'one\ntwo\nmine\n');
    await write(path, 'ONE\ntwo\nmine\n');
    assert.equal(await readFile(path, 'utf8'), 'ONE\ntwo\nmine\n');
    document.follow();
    await write(link, 'TWO\n');
    assert.equal(await readFile(path, 'utf8'), 'TWO\n');
    assert.ok((await lstat(link)).isSymbolicLink());
    const dangling = join(folder, 'dangling');
    await symlink(join(folder, 'later.txt'), dangling);
    await write(dangling, 'made\n');
    assert.equal(await readFile(join(folder, 'later.txt'), 'utf8'), 'made\n');
  });

  it('preserves what the user saved since the agent read it under another name', async () => {
    const path = await seed('target.txt', 'one\ntwo\nthree\n');
    const link = join(folder, 'link.txt');
    await symlink(path, link);
    const given = await read(link);
    await writeFile(path, 'one\ntwo\nthree\nmine\n');
    await write(path, given.replace('one', 'ONE'));
    assert.equal(await readFile(path, 'utf8'), 'ONE\ntwo\nthree\nmine\n');
  });

  it('is rejected if too large, a folder or below a file', async () => {
    const path = await seed('a', 'x');
    await mkdir(join(folder, 'b'));
    await assert.rejects(write(path, 'x'.repeat(51 * 1024 * 1024)), hasCode('file-too-large'));
    await assert.rejects(write(join(folder, 'b'), 'x'), hasCode('file-unreadable'));
    await assert.rejects(write(join(path, 'below'), 'x'));
    assert.equal(await readFile(path, 'utf8'), 'x');
    assert.deepEqual((await readdir(folder)).sort(), ['a', 'b']);
  });

  it('is rejected in an untrusted workspace', async () => {
    const path = await seed('a', 'x');
    Object.assign(editor, { isTrusted: false });
    await assert.rejects(write(path, 'y'), hasCode('workspace-untrusted'));
    assert.equal(await readFile(path, 'utf8'), 'x');
  });
});
