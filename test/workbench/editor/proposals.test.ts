// Editing a proposed change in VS Code's comparison before it is made.
import { strict as assert } from 'node:assert';
import { commands, TabInputTextDiff, Uri, window, workspace } from 'vscode';
import { Emitter } from '../../../src/base/event';
import { silentLog } from '../../../src/base/log';
import type { Conversation } from '../../../src/client/conversation/conversation';
import { FileStore } from '../../../src/client/sharing/fileStore';
import { SessionModel } from '../../../src/session/model/model';
import { EditorFiles } from '../../../src/workbench/editor/editorFiles';
import { Proposals } from '../../../src/workbench/editor/proposals';
import { ReadOnlyTexts } from '../../../src/workbench/editor/readOnlyTexts';
import { removeScratch, scratchFolder } from '../../support/scratch';
import { replaceIn, until } from '../editing';

describe("editing an agent's proposed change", () => {
  let proposals: Proposals;
  let texts: ReadOnlyTexts;
  let model: SessionModel;
  let folder: Uri;
  let answered: [id: string, optionId: string | null, isEdited?: true][];
  const changed = new Emitter<string>();
  let sent: string[];

  before(() => {
    folder = workspace.workspaceFolders?.[0]?.uri ?? assert.fail('no workspace');
    texts = new ReadOnlyTexts('parley-test-diff', 10);
  });

  after(() => texts.dispose());

  beforeEach(async () => {
    [answered, sent] = [[], []];
    model = new SessionModel();
    const conversation = {
      key: 'A',
      agent: { name: 'Claude' },
      roots: [folder.fsPath],
      model,
      answerPermission: (...answer: (typeof answered)[number]) => answered.push(answer),
      cwd: folder.fsPath,
      queueActions: { sendNext: (text: string) => sent.push(text) },
    } as unknown as Conversation;
    proposals = new Proposals({
      store: new FileStore(await scratchFolder()),
      files: new EditorFiles({ log: silentLog }),
      conversations: { find: (key) => (key === 'A' ? conversation : undefined), onDidChange: changed.event },
      texts,
      scheme: 'parley-test-proposal',
    });
    edit = (id) => proposals.edit(conversation, id);
  });

  afterEach(async () => {
    await commands.executeCommand('workbench.action.closeAllEditors');
    proposals.dispose();
    await removeScratch();
  });

  let edit: (id: string) => Promise<void>;

  async function ask(
    id: string,
    name: string,
    before: string | undefined,
    oldText: string | undefined,
    newText: string,
    path?: string,
  ) {
    const uri = Uri.joinPath(folder, name);
    if (before !== undefined) await workspace.fs.writeFile(uri, Buffer.from(before));
    const content = [
      { type: 'diff', path: path ?? uri.fsPath, newText, ...(oldText !== undefined && { oldText }) },
    ] as const;
    model.apply({ type: 'tool_call', toolCallId: id, patch: { title: name, content }, announced: true }, 1);
    const options = (['allow_once', 'reject_once'] as const).map((kind) => ({ optionId: kind, name: kind, kind }));
    model.apply({ type: 'permission_asked', permissionId: id, toolCallId: id, title: name, options }, 1);
    return { uri, text: async () => Buffer.from(await workspace.fs.readFile(uri)).toString() };
  }

  function shown(): Uri {
    const input = window.tabGroups.activeTabGroup.activeTab?.input;
    assert.ok(input instanceof TabInputTextDiff);
    return input.modified;
  }

  function allClosed(): Promise<void> {
    const { tabGroups } = window;
    return until(() => tabGroups.all.every(({ tabs }) => tabs.length === 0), tabGroups.onDidChangeTabs);
  }

  it('writes the edited text, and tells the agent the difference', async () => {
    const file = await ask('p1', 'edited.ts', 'one\r\ntwo\r\nthree\r\n', 'two', 'zwei');
    await edit('p1');
    assert.equal((await workspace.openTextDocument(shown())).getText(), 'one\nzwei\nthree\n');
    await replaceIn(shown(), 'zwei', 'deux');
    await proposals.use(shown());
    assert.equal(await file.text(), 'one\r\ndeux\r\nthree\r\n');
    assert.deepEqual(answered, [['p1', 'reject_once', true]]);
    assert.match(sent.join(), /^I edited your change of edited\.ts and [\s\S]*-zwei\n\+deux/);
    assert.equal(window.tabGroups.all.flatMap(({ tabs }) => tabs).length, 0, 'its comparison is closed');
  });

  it('leaves the file unchanged, with its line endings, if the user reverts everything', async () => {
    const file = await ask('back', 'back.ts', 'one\r\ntwo\r\n', 'two', 'zwei');
    await edit('back');
    await replaceIn(shown(), 'zwei', 'two');
    await proposals.use(shown());
    assert.equal(await file.text(), 'one\r\ntwo\r\n');
    assert.deepEqual(answered, [['back', 'reject_once', true]]);
    assert.match(sent.join(), /-zwei\n\+two/);
  });

  it("writes in the session's folder if the agent uses a relative path", async () => {
    const file = await ask('p0', 'proposal0.txt', 'one\n', 'one', 'two', 'proposal0.txt');
    await edit('p0');
    await replaceIn(shown(), 'two', 'mine');
    await proposals.use(shown());
    assert.equal(await file.text(), 'mine\n');
  });

  it('allows the request if nothing was edited', async () => {
    const file = await ask('p2', 'kept.ts', 'one\n', 'one', 'eins');
    await edit('p2');
    await proposals.use(shown());
    assert.deepEqual(answered, [['p2', 'allow_once', undefined]]);
    assert.deepEqual(sent, []);
    assert.equal(await file.text(), 'one\n', 'the agent makes it');
  });

  it('uses the edited text if the request is allowed in the chat, saved or not', async () => {
    for (const isSaved of [true, false]) {
      const name = `allowed-${isSaved}.ts`;
      const file = await ask(name, name, 'one\ntwo\n', 'two', 'zwei');
      await edit(name);
      await replaceIn(shown(), 'zwei', 'deux');
      if (isSaved) await (await workspace.openTextDocument(shown())).save();
      assert.equal(proposals.useEdited('A', name, 'reject_once'), false);
      assert.ok(proposals.useEdited('A', name, 'allow_once'));
      await allClosed();
      assert.equal(await file.text(), 'one\ndeux\n');
      assert.deepEqual(answered.splice(0), [[name, 'reject_once', true]]);
      assert.match(sent.splice(0).join(), /-zwei\n\+deux/);
    }
    await ask('unedited', 'unedited.ts', 'one\n', 'one', 'eins');
    await edit('unedited');
    assert.equal(proposals.useEdited('A', 'unedited', 'allow_once'), false);
    assert.equal(proposals.useEdited('A', 'never opened', 'allow_once'), false);
  });

  it('closes the comparison when the question is answered elsewhere, unless edits would be lost', async () => {
    const close = (id: string, outcome: 'selected' | 'cancelled'): void => {
      const answer =
        outcome === 'selected' ? ({ optionId: 'reject_once', by: 'user' } as const) : ({ by: 'turn' } as const);
      model.apply({ type: 'permission_closed', permissionId: id, outcome, ...answer }, 2);
      changed.fire('A');
    };
    await ask('denied', 'denied.ts', 'one\n', 'one', 'eins');
    await edit('denied');
    await replaceIn(shown(), 'eins', 'uno');
    close('denied', 'selected');
    await allClosed();
    await ask('stopped', 'stopped.ts', 'one\n', 'one', 'eins');
    await edit('stopped');
    close('stopped', 'cancelled');
    await allClosed();
    await ask('typed', 'typed.ts', 'one\n', 'one', 'eins');
    await edit('typed');
    const right = shown();
    await replaceIn(right, 'eins', 'uno');
    close('typed', 'cancelled');
    assert.equal(shown().toString(), right.toString());
    await (await workspace.openTextDocument(right)).save();
  });

  it("supports files that don't exist yet", async () => {
    const file = await ask('p3', 'folder/fresh.ts', undefined, undefined, 'one\n');
    await edit('p3');
    await replaceIn(shown(), 'one', 'mine');
    await proposals.use(shown());
    assert.equal(await file.text(), 'mine\n');
    await workspace.fs.delete(file.uri);
  });

  it('restores saved edits when opened again', async () => {
    await ask('p4', 'again.ts', 'one\n', 'one', 'eins');
    await edit('p4');
    await replaceIn(shown(), 'eins', 'uno');
    await (await workspace.openTextDocument(shown())).save();
    await commands.executeCommand('workbench.action.closeAllEditors');
    await edit('p4');
    assert.equal((await workspace.openTextDocument(shown())).getText(), 'uno\n');
    assert.deepEqual(answered, []);
  });

  it('does not write if the file has changed since, or the question was answered', async () => {
    const file = await ask('p5', 'moved.ts', 'one\n', 'one', 'eins');
    await edit('p5');
    const uri = shown();
    await replaceIn(uri, 'eins', 'uno');
    await workspace.fs.writeFile(file.uri, Buffer.from('one more\n'));
    await assert.rejects(proposals.use(uri), { code: 'file-changed' });
    await workspace.fs.writeFile(file.uri, Buffer.from('one\n'));
    model.apply({ type: 'permission_closed', permissionId: 'p5', outcome: 'cancelled', by: 'turn' }, 2);
    await assert.rejects(proposals.use(uri), { code: 'question-gone' });
    assert.equal(await file.text(), 'one\n');
    assert.deepEqual(answered, []);
    assert.equal((await workspace.openTextDocument(uri)).getText(), 'uno\n', 'what was typed is still there');
  });

  it("is rejected outside the session's folders, and if the part is not in the file", async () => {
    await ask('p6', '../outside.ts', undefined, undefined, 'x');
    await assert.rejects(edit('p6'), { code: 'file-outside' });
    await ask('p7', 'other.ts', 'one\n', 'two', 'zwei');
    await assert.rejects(edit('p7'), { code: 'change-not-placed' });
    await assert.rejects(edit('never asked'), { code: 'question-gone' });
    await assert.rejects(proposals.use(Uri.joinPath(folder, 'other.ts')), { code: 'no-proposal' });
  });
});
