// Comments on lines of what an agent did, with VS Code's own threads, become one message.
import { strict as assert } from 'node:assert';
import { type CommentController, type CommentThread, comments, Range, Uri, workspace } from 'vscode';
import type { Conversation } from '../../../src/client/conversation/conversation';
import { versionUri } from '../../../src/workbench/changes/documents/versionDocuments';
import { Feedback } from '../../../src/workbench/chat/feedback';

describe('comments on what an agent did', () => {
  let controller: CommentController;
  let feedback: Feedback;
  let delivered: [session: string, text: string][];
  let counts: number[];
  let folder: Uri;
  const conversation = (key: string): Conversation => ({ key }) as Conversation;

  beforeEach(() => {
    folder = workspace.workspaceFolders?.[0]?.uri ?? assert.fail('no workspace');
    controller = comments.createCommentController('parley-test', 'Test');
    delivered = [];
    counts = [];
    feedback = new Feedback({
      reviews: {
        at: (path) => (path.endsWith('waits.ts') ? ({ conversation: conversation('A') } as never) : undefined),
        onDidChange: () => ({ dispose: () => {} }),
      },
      conversations: {
        find: (key) => (key === 'A' || key === 'B' ? conversation(key) : undefined),
        peek: () => conversation('A'),
      },
      deliver: async ({ key }, text) => void delivered.push([key, text]),
      onCount: (count) => counts.push(count),
    });
  });

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

  it('go as one message with their places and lines, and are gone then', async () => {
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

  it('go to the session that each is about', async () => {
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

  it('are removed one by one, and are none on a file that no agent has changed', async () => {
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
    await feedback.send();
    assert.deepEqual(delivered, []);
  });
});
