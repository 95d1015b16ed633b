// Bringing files back to an earlier state, on a real disk.
import { strict as assert } from 'node:assert';
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { AgentEdits } from '../../../../src/changes/restore/agentEdits';
import { listing, NEVER, reasonsOf, silent, stage } from '../../../support/changes/stage';
import { pluck } from '../../../support/pluck';
import { removeScratch, scratchFolder } from '../../../support/scratch';

describe('the restore of files', () => {
  afterEach(removeScratch);

  it('skips files that the user has edited since, unless requested', async () => {
    const s = await stage({ a: 'a\n', b: 'b\n', c: 'c\n' });
    await s.turn(() => writeFile(s.at('a'), 'A\n'));
    await writeFile(s.at('a'), 'A mine\n');
    await s.turn(async () => {
      await writeFile(s.at('a'), 'A mine 2\n');
      await writeFile(s.at('b'), 'B\n');
    });
    await writeFile(s.at('c'), 'mine\n');
    const plan = await s.plan();
    assert.deepEqual(pluck(plan.changes, 'path'), ['b']);
    assert.deepEqual(reasonsOf(plan.skipped), [
      ['a', 'edited'],
      ['c', 'edited'],
    ]);
    await s.run(['a']);
    assert.deepEqual(await listing(s.root), ['a 644 a\n', 'b 644 b\n', 'c 644 mine\n']);
  });

  it('restores a file that the user partly undid', async () => {
    const s = await stage({ a: '1\n2\n3\n' });
    await s.turn(() => s.write('a', 'ONE\n2\nTHREE\n'));
    const { id } = s.review.files[0]!;
    await s.review.undo({ kind: 'hunk', id, hunk: (await s.review.hunks(id))![0]!.id });
    s.agent.addReview(s.review.files);
    assert.deepEqual((await s.plan()).skipped, []);
    await s.run();
    assert.equal(await s.read('a'), '1\n2\n3\n');
  });

  it('asks about a file that the agent did not name', async () => {
    const s = await stage({ a: '1\n' });
    const before = await s.states.take();
    await s.write('a', '2\n');
    const changes = await s.states.changes(before, await s.states.take());
    const plan = await s.plan(before, new AgentEdits().add(changes, new Set(), new Set([s.at('a')])));
    assert.deepEqual(plan.changes, []);
    assert.deepEqual(pluck(plan.skipped, 'why'), ['unnamed']);
  });

  it('never writes a file with unsaved changes, and protected files only if requested', async () => {
    const s = await stage({ a: 'a\n', '.vscode/tasks.json': '{}\n' });
    await s.turn(async () => {
      await writeFile(s.at('a'), 'A\n');
      await writeFile(s.at('.vscode/tasks.json'), '{"x":1}\n');
    });
    s.files.dirty.add(s.at('a'));
    const plan = await s.plan();
    assert.deepEqual(reasonsOf(plan.skipped), [
      ['.vscode/tasks.json', 'protected'],
      ['a', 'unsaved'],
    ]);
    const { done } = await s.run(['a', '.vscode/tasks.json']);
    assert.deepEqual(pluck(done, 'path'), ['.vscode/tasks.json']);
  });

  it('does not write through a folder that became a link', async () => {
    const s = await stage({ 'sub/a': 'a\n', b: 'b\n' });
    await s.turn(async () => {
      await writeFile(s.at('sub/a'), 'A\n');
      await writeFile(s.at('b'), 'B\n');
    });
    const plan = await s.plan();
    const other = await scratchFolder();
    await writeFile(join(other, 'a'), 'A\n');
    await rm(s.at('sub'), { recursive: true });
    await symlink(other, s.at('sub'));
    const { failed, done } = await s.restore().run(plan, new Set(), NEVER, silent);
    assert.deepEqual(reasonsOf(failed), [['sub/a', 'unsafe']]);
    assert.deepEqual(pluck(done, 'path'), ['b']);
    assert.deepEqual(await listing(other), ['a 644 A\n']);
  });

  it('writes no file that has changed since the preview, and replaces no folder that contains files', async () => {
    const s = await stage({ a: 'a\n', b: 'b\n' });
    await s.turn(async () => {
      await writeFile(s.at('a'), 'A\n');
      await rm(s.at('b'));
    });
    const plan = await s.plan();
    await writeFile(s.at('a'), 'mine\n');
    await mkdir(s.at('b'));
    await writeFile(s.at('b/other'), 'mine\n');
    const { failed } = await s.restore().run(plan, new Set(), NEVER, silent);
    assert.deepEqual(reasonsOf(failed), [
      ['a', 'changed'],
      ['b', 'in-the-way'],
    ]);
    assert.deepEqual(await listing(s.root), ['a 644 mine\n', 'b/', 'b/other 644 mine\n']);
  });

  it('can be finished or reverted after a cancel', async () => {
    const s = await stage({ a: 'a\n', b: 'b\n', c: 'c\n' });
    await s.turn(() => Promise.all(['a', 'b', 'c'].map((path) => writeFile(s.at(path), 'new\n'))));
    const abort = new AbortController();
    const result = await s.restore().run(await s.plan(), new Set(), abort.signal, (done) => {
      if (done === 1) abort.abort();
    });
    assert.deepEqual([result.isCancelled, result.done.length], [true, 1]);
    await assert.rejects(s.run(), { code: 'restore-pending' });
    const pending = (await s.restore().pending())!;
    assert.equal(pending.files, 3);
    await pending.takeBack(NEVER, silent);
    assert.deepEqual(await listing(s.root), ['a 644 new\n', 'b 644 new\n', 'c 644 new\n']);
    assert.equal(await s.restore().pending(), undefined);
  });
});
