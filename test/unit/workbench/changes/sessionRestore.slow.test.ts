// Interrupted restores and undos: each is finished or reverted, and what can be undone is known.
import { strict as assert } from 'node:assert';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { RestoreResult } from '../../../../src/changes/restore/restore';
import type { Conversation } from '../../../../src/client/conversation/conversation';
import { FileStore } from '../../../../src/client/sharing/fileStore';
import { SessionRestore } from '../../../../src/workbench/changes/sessionRestore';
import { useChangeSession } from '../../../support/changes/changeSession';
import { scratchFolder } from '../../../support/scratch';

describe("restoring a session's files", function () {
  this.timeout(30_000);
  const test = useChangeSession();
  const never = new AbortController().signal;
  const none = new Set<string>();
  let conversation: Conversation;
  let restore: SessionRestore;
  let turnId: string;

  beforeEach(async () => {
    const storage = await scratchFolder();
    conversation = await test.started();
    turnId = await test.turn('edit a.txt agent\nedit b.txt agent');
    restore = new SessionRestore({
      files: test.changes.files,
      store: new FileStore(join(storage, 'restores')),
      logs: new FileStore(join(storage, 'logs')),
    });
  });

  const disk = async (): Promise<string[]> =>
    Promise.all(['a.txt', 'b.txt'].map((name) => readFile(test.path(name), 'utf8')));
  const BEFORE = ['one\ntwo\nthree\n', 'b\n'];
  const AFTER = ['agent', 'agent'];

  const start = async (): Promise<RestoreResult> =>
    restore.run(conversation, await restore.plan(conversation, turnId, never), none);
  const undo = async (): Promise<RestoreResult> =>
    restore.undo(conversation, await restore.planUndo(conversation, never), none);

  async function cancelled(running: Promise<RestoreResult>): Promise<void> {
    while (!conversation.changes.work.view) await setImmediate();
    conversation.changes.work.cancel();
    assert.equal((await running).isCancelled, true);
  }
  const waiting = async (): Promise<number> => (await conversation.changes.loadReview()).files.length;
  const nothingToUndo = (): Promise<void> => assert.rejects(() => undo(), { code: 'no-restore' });

  it('can be finished after a cancellation, and then undone', async () => {
    await cancelled(start());
    const pending = await restore.pending(conversation);
    assert.deepEqual([pending?.isUndo, pending?.files], [false, 2]);
    await pending?.finish();
    assert.deepEqual([await disk(), await waiting()], [BEFORE, 0]);
    assert.equal(await restore.pending(conversation), undefined);
    await undo();
    assert.deepEqual([await disk(), await waiting()], [AFTER, 2]);
    await nothingToUndo();
  });

  it('leaves nothing to undo once reverted', async () => {
    await cancelled(start());
    await (await restore.pending(conversation))?.takeBack();
    assert.deepEqual([await disk(), await waiting()], [AFTER, 2]);
    await nothingToUndo();
  });

  it('is undone when its undo is finished, but not when that is reverted', async () => {
    await start();
    for (const [way, files] of [
      ['takeBack', BEFORE],
      ['finish', AFTER],
    ] as const) {
      await cancelled(undo());
      const pending = await restore.pending(conversation);
      assert.equal(pending?.isUndo, true);
      await pending[way]();
      assert.deepEqual(await disk(), files);
    }
    assert.equal(await waiting(), 2);
    await nothingToUndo();
  });

  it("keeps the last undo data if another restore can't start", async () => {
    await start();
    const other = await restore.plan(conversation, turnId, never);
    await conversation.changes.work.run('undo', () =>
      assert.rejects(restore.run(conversation, other, none), { code: 'changes-busy' }),
    );
    await cancelled(undo());
    await assert.rejects(restore.run(conversation, other, none), { code: 'restore-pending' });
    const pending = await restore.pending(conversation);
    assert.equal(pending?.isUndo, true);
    await pending.finish();
    assert.deepEqual(await disk(), AFTER);
  });

  it('finishes once, however often it is requested', async () => {
    await cancelled(start());
    const pending = await restore.pending(conversation);
    await pending?.finish();
    await assert.rejects(async () => pending?.finish(), { code: 'no-restore' });
    assert.deepEqual(await disk(), BEFORE);
  });
});
