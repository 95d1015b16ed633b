// What is shown of the changes of a session, and what survives its window.
import { strict as assert } from 'node:assert';
import { readFile } from 'node:fs/promises';
import type { Conversation } from '../../../../src/client/conversation/conversation';
import { changesPage, reviewOf } from '../../../../src/client/view/projectChanges';
import { projectSession } from '../../../../src/client/view/projectSession';
import type { ChangesScope, ToWebview } from '../../../../src/panel/contract';
import { useChangeSession } from '../../../support/changes/changeSession';
import { sameData } from '../../../support/sameData';

type Page = Extract<ToWebview, { type: 'changes' }>;

describe('the changes of a session', function () {
  this.timeout(30_000);
  const test = useChangeSession();
  const { started, open, turn, path } = test;

  const page = async (conversation: Conversation, scope: ChangesScope, from = 0, to = 200): Promise<Page> =>
    (await changesPage(conversation, scope, from, to)) as Page;

  it('wait for review, until they are kept', async () => {
    const conversation = await started();
    const turnId = await turn('own a.txt x\nown c.txt c');
    sameData(reviewOf(conversation), {
      files: 2,
      added: 2,
      removed: 3,
      version: conversation.changes.version(),
    });
    assert.equal(projectSession(conversation).review?.files, 2);
    const before = await page(conversation, { turnId });
    assert.deepEqual(
      before.files.map(({ label, change, state }) => [label, change, state]),
      [
        ['a.txt', 'modified', 'unreviewed'],
        ['c.txt', 'added', 'unreviewed'],
      ],
    );
    const review = await conversation.changes.loadReview();
    await review.keep({ kind: 'all' });
    assert.equal(reviewOf(conversation), undefined);
    const after = await page(conversation, { turnId });
    assert.deepEqual(
      after.files.map(({ state }) => state),
      ['kept', 'kept'],
    );
    assert.ok(after.version > before.version);
  });

  it('are taken back file by file', async () => {
    const conversation = await started();
    const turnId = await turn('own a.txt x\nown c.txt c');
    const review = await conversation.changes.loadReview();
    const [file] = review.files;
    await review.undo({ kind: 'file', id: file?.id ?? '' });
    assert.equal(await readFile(path('a.txt'), 'utf8'), 'one\ntwo\nthree\n');
    assert.deepEqual(
      (await page(conversation, { turnId })).files.map(({ state }) => state),
      ['undone', 'unreviewed'],
    );
    assert.deepEqual(
      (await page(conversation, 'review')).files.map(({ id }) => id),
      [path('c.txt')],
    );
  });

  it('still wait when the session is opened again', async () => {
    const conversation = await started();
    await turn('own a.txt x');
    await conversation.close();
    const again = open({ kept: test.kept() });
    await test.session.until(({ changes }) => changes.review !== undefined);
    assert.equal(reviewOf(again)?.files, 1);
  });
});
