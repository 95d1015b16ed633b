// Comments on lines of an agent's changes, in VS Code's own threads, become one message.
import { strict as assert } from 'node:assert';
import { type CommentController, type CommentThread, comments, type Memento, Range, Uri, workspace } from 'vscode';
import { Emitter } from '../../../src/base/event';
import type { Conversation } from '../../../src/client/conversation/conversation';
import { versionUri } from '../../../src/workbench/changes/documents/versionDocuments';
import { Feedback } from '../../../src/workbench/chat/feedback';

describe("comments on an agent's changes", () => {
  let controller: CommentController;
  let feedback: Feedback;
  let delivered: [session: string, text: string][];
  let counts: number[];
  let folder: Uri;
  let stored: Map<string, unknown>;
  let added: Emitter<Conversation>;
  const conversation = (key: string): Conversation => ({ key }) as Conversation;

  beforeEach(() => {
    folder = workspace.workspaceFolders?.[0]?.uri ?? assert.fail('no workspace');
    controller = comments.createCommentController('parley-test', 'Test');
    delivered = [];
    counts = [];
    stored = new Map();
    added = new Emitter();
    feedback = open();
  });

  function open(): Feedback {
    const memento = {
      get: (key: string) => stored.get(key),
      update: async (key: string, value: unknown) => void stored.set(key, JSON.parse(JSON.stringify(value ?? null))),
    } as Pick<Memento, 'get' | 'update'>;
    return new Feedback({
      memento,
      reviews: {
        at: (path) => (path.endsWith('waits.ts') ? ({ conversation: conversation('A') } as never) : undefined),
        onDidChange: () => ({ dispose: () => {} }),
      },
      conversations: {
        find: (key) => (key === 'A' || key === 'B' ? conversation(key) : undefined),
        peek: () => conversation('A'),
        list: () => [],
        onDidAdd: added.event,
      },
      deliver: async ({ key }, text) => void delivered.push([key, text]),
      onCount: (count) => counts.push(count),
    });
  }

  afterEach(() => {
    feedback.dispose();
    controller.dispose();
  });

  const file = async (name: string, text: string): Promise<Uri> => {
    const uri = Uri.joinPath(folder, name);
    await workspace.fs.writeFile(uri, Buffer.from(text));
    return uri;
  };
  const thread = (uri: Uri, first: number, last = first): CommentThread =>
    controller.createCommentThread(uri, new Range(first - 1, 0, last - 1, 0), []);

  it('are sent as one message with their places and lines, and removed', async () => {
    const uri = await file('waits.ts', 'one\ntwo\nthree\n');
    const version = { oid: 'a'.repeat(40), mode: '100644' as const, size: 3 };
    const before = versionUri(Uri.joinPath(folder, 'waits.ts').fsPath, { session: 'A', root: folder.fsPath, version });
    const lines = thread(uri, 2, 3);
    feedback.add({ thread: lines, text: 'Use a constant.' });
    feedback.add({ thread: lines, text: 'And name it.' });
    feedback.add({ thread: thread(before, 1), text: 'Why is this gone?' });
    assert.equal(lines.comments.length, 2);
    await feedback.send();
    const [[session, text] = []] = delivered;
    assert.equal(delivered.length, 1);
    assert.equal(session, 'A');
    assert.equal(
      text,
      [
        'My comments:',
        '',
        '`waits.ts:2–3`',
        '> two',
        '> three',
        '',
        'Use a constant.',
        'And name it.',
        '',
        '`waits.ts:1` (before the change)',
        '',
        'Why is this gone?',
        '',
      ].join('\n'),
    );
    await feedback.send();
    assert.equal(delivered.length, 1);
    assert.deepEqual(counts, [1, 2, 3, 1, 0]);
  });

  it('are sent to their own sessions', async () => {
    const version = { oid: 'b'.repeat(40), mode: '100644' as const, size: 3 };
    const other = versionUri('/w/b.ts', { session: 'B', root: '/w', version });
    feedback.add({ thread: thread(await file('waits.ts', 'one\n'), 1), text: 'a' });
    feedback.add({ thread: thread(other, 1), text: 'b' });
    await feedback.send();
    assert.deepEqual(
      delivered.map(([session]) => session),
      ['A', 'B'],
    );
  });

  it('are removed one by one, and are not offered on files that no agent has changed', async () => {
    const some = thread(await file('waits.ts', 'one\n'), 1);
    feedback.add({ thread: some, text: 'first' });
    feedback.add({ thread: some, text: 'second' });
    feedback.remove(some.comments[0]!);
    assert.deepEqual(
      some.comments.map(({ body }) => body),
      ['second'],
    );
    feedback.remove(some.comments[0]!);
    feedback.add({ thread: thread(await file('other.ts', 'one\n'), 1), text: 'nobody' });
    const whole = thread(await file('waits.ts', 'one\n'), 1);
    feedback.add({ thread: whole, text: 'first' });
    feedback.remove();
    feedback.remove(whole);
    await feedback.send();
    assert.deepEqual(delivered, []);
  });

  describe('after the window was reloaded', () => {
    let name = '';
    let count = 0;

    // VS Code may still have an earlier text of a file that it has opened before.
    beforeEach(() => {
      count += 1;
      name = `${count}-waits.ts`;
    });

    afterEach(async () => {
      for (const written of [name, name.replace('again-', '')])
        await workspace.fs.delete(Uri.joinPath(folder, written)).then(undefined, () => {});
    });

    async function reload(text: string, first: number, last = first): Promise<Uri> {
      const uri = await file(name, text);
      feedback.add({ thread: thread(uri, first, last), text: 'Use a constant.' });
      const lines = text.split('\n').slice(first - 1, last);
      while (!JSON.stringify([...stored.values()]).includes(JSON.stringify(lines)))
        await new Promise((resolve) => setImmediate(resolve));
      feedback.dispose();
      return uri;
    }

    async function sessionReturns(): Promise<void> {
      feedback = open();
      const before = counts.length;
      added.fire(conversation('A'));
      while (counts.length === before) await new Promise((resolve) => setImmediate(resolve));
    }

    it('reappear once their session returns', async () => {
      await reload('one\ntwo\nthree\n', 2, 3);
      feedback = open();
      await feedback.send();
      assert.deepEqual(delivered, [], 'before it returns');
      feedback.dispose();
      await sessionReturns();
      assert.equal(counts.at(-1), 1);
      await feedback.send();
      assert.deepEqual(delivered, [['A', `My comments:\n\n\`${name}:2–3\`\n> two\n> three\n\nUse a constant.\n`]]);
      feedback.dispose();
      feedback = open();
      added.fire(conversation('A'));
      await feedback.send();
      assert.equal(delivered.length, 1, 'sent once');
    });

    it('are outdated if the lines no longer exist, and quote them', async () => {
      await reload('one\ntwo\nthree\n', 2);
      await workspace.fs.writeFile(Uri.joinPath(folder, name), Buffer.from('one\n2\nthree\n'));
      await documentHas('2');
      await sessionReturns();
      await feedback.send();
      assert.match(delivered[0]?.[1] ?? '', /waits\.ts:2` \(the lines have changed since\)\n> two\n/);
    });

    it('are kept if the document no longer exists', async () => {
      await reload('one\ntwo\n', 1);
      await workspace.fs.delete(Uri.joinPath(folder, name));
      await sessionReturns();
      await feedback.send();
      assert.match(delivered[0]?.[1] ?? '', /> one\n\nUse a constant\./);
    });

    it('are removed with a deleted session, whether it has returned or not', async () => {
      await reload('one\ntwo\n', 1);
      await sessionReturns();
      feedback.forget(['B']);
      assert.equal(counts.at(-1), 1);
      feedback.forget(['A']);
      assert.equal(counts.at(-1), 0);
      name = `again-${name}`;
      await reload('one\ntwo\n', 1);
      feedback = open();
      feedback.forget(['A']);
      assert.deepEqual([...stored.values()], [null]);
    });

    /** Resolves when VS Code has reloaded the file from disk. */
    async function documentHas(text: string): Promise<void> {
      const uri = Uri.joinPath(folder, name);
      while (!(await workspace.openTextDocument(uri)).getText().includes(text))
        await new Promise((resolve) => setTimeout(resolve, 20));
    }
  });
});
