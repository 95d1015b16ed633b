// Keeping and undoing an agent's changes turn by turn, in real files.
import { strict as assert } from 'node:assert';
import { chmod, mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Stage, stage } from '../../../support/changes/stage';
import { pluck } from '../../../support/pluck';
import { removeScratch, scratchFolder } from '../../../support/scratch';

const TEN = Array.from({ length: 10 }, (_, index) => `line ${index}\n`).join('');
const changed = (text: string, ...lines: readonly number[]): string =>
  lines.reduce((all, line) => all.replace(`line ${line}\n`, `LINE ${line}\n`), text);

describe('the review of a session', () => {
  afterEach(removeScratch);

  it('lists the changes of a turn, and undoes them in one step', async () => {
    const s = await stage({ a: TEN, gone: 'x\n', moved: 'm\nn\n', mode: 'm\n' });
    await s.turn(async () => {
      await s.write('a', changed(TEN, 2, 7));
      await s.write('new', 'n\n');
      await rm(s.at('gone'));
      await rename(s.at('moved'), s.at('moved2'));
      await chmod(s.at('mode'), 0o755);
      await symlink('a', s.at('link'));
    });
    assert.deepEqual(s.waiting, [
      'a +2 -2 unreviewed',
      'gone +0 -1 unreviewed',
      'link +0 -0 unreviewed',
      'mode +0 -0 unreviewed',
      'moved > moved2 +0 -0 unreviewed',
      'new +1 -0 unreviewed',
    ]);
    const result = await s.review.undo({ kind: 'all' });
    assert.deepEqual([result.conflicts, result.failed, result.undone.length], [[], [], 6]);
    assert.deepEqual(await s.states.changes(s.turns[0]!.before, await s.states.take()), []);
    assert.deepEqual(s.waiting, []);
    assert.equal(s.files.steps.length, 1);
    assert.equal(s.review.stateOf(s.root, 'a'), 'undone');
  });

  it('keeps one hunk and undoes the other, by stable ids', async () => {
    const s = await stage({ a: TEN });
    await s.turn(() => s.write('a', changed(TEN, 2, 5, 8).replace('LINE 2\n', 'LINE 2\nmore\n')));
    const [file] = s.review.files;
    const all = (await s.review.hunks(file!.id))!;
    assert.deepEqual(
      all.map(({ present }) => present),
      [
        { start: 2, count: 2 },
        { start: 6, count: 1 },
        { start: 9, count: 1 },
      ],
    );
    await s.review.keep({ kind: 'hunk', id: file!.id, hunk: all[0]!.id });
    await s.review.undo({ kind: 'hunk', id: file!.id, hunk: all[1]!.id });
    assert.deepEqual(s.waiting, ['a +1 -1 unreviewed']);
    assert.deepEqual(pluck((await s.review.hunks(file!.id))!, 'id'), [all[2]!.id]);
    await s.review.undo({ kind: 'all' });
    assert.equal(await s.read('a'), TEN.replace('line 2\n', 'LINE 2\nmore\n'));
    assert.deepEqual(s.waiting, []);
  });

  it('keeps edits of the user, and reports which hunk is a conflict', async () => {
    const s = await stage({ a: TEN });
    await s.turn(() => s.write('a', changed(TEN, 2, 7)));
    await s.write('a', `mine\n${changed(TEN, 2, 7).replace('LINE 7\n', 'LINE seven\n')}`);
    const [file] = s.review.files;
    assert.deepEqual(
      (await s.review.hunks(file!.id))!.map(({ isConflict, present }) => [present.start, isConflict]),
      [
        [3, undefined],
        [8, true],
      ],
    );
    const { conflicts, undone } = await s.review.undo({ kind: 'all' });
    assert.deepEqual([conflicts.map(({ why }) => why), undone.length], [['edited'], 1]);
    assert.equal(await s.read('a'), `mine\n${changed(TEN, 7).replace('LINE 7\n', 'LINE seven\n')}`);
    assert.deepEqual(s.waiting, ['a +1 -1 conflict']);
  });

  it('undoes one turn and keeps the changes of a later one', async () => {
    const s = await stage({ a: TEN });
    await s.turn(() => s.write('a', changed(TEN, 2)));
    await s.turn(() => s.write('a', changed(TEN, 2, 7)));
    await s.review.undo(s.turnTarget(0));
    assert.equal(await s.read('a'), changed(TEN, 7));
    assert.deepEqual(s.waiting, ['a +1 -1 unreviewed']);
    await s.review.keep(s.turnTarget(1));
    assert.deepEqual(s.waiting, []);
    assert.equal(s.review.stateOf(s.root, 'a'), 'kept');
  });

  describe('after an undo that is reverted in the editor', () => {
    /** Edits of the editor, reported to the review. */
    const edited = async (s: Stage, path: string, text: string | undefined): Promise<void> => {
      if (text === undefined) await rm(s.at(path));
      else await s.write(path, text);
      await s.review.editorChanged(s.at(path));
    };

    it('lists a file again, until the undo is redone', async () => {
      const s = await stage({ a: TEN });
      await s.turn(() => s.write('a', changed(TEN, 2, 7)));
      const before = s.waiting;
      const hunks = await s.review.hunks(s.review.files[0]!.id);
      await s.review.undo({ kind: 'all' });
      await edited(s, 'a', changed(TEN, 2, 7));
      assert.deepEqual(s.waiting, before);
      assert.equal(s.review.stateOf(s.root, 'a'), 'unreviewed');
      assert.deepEqual(await s.review.hunks(s.review.files[0]!.id), hunks);
      await edited(s, 'a', TEN);
      assert.deepEqual(s.waiting, []);
      assert.equal(s.review.stateOf(s.root, 'a'), 'undone');
      await edited(s, 'a', changed(TEN, 2, 7));
      s.review = s.open(s.saved);
      assert.deepEqual(s.waiting, before, 'it is saved');
      await s.review.undo({ kind: 'all' });
      assert.equal(await s.read('a'), TEN);
    });

    it('lists hunks again one by one, except those kept since', async () => {
      const s = await stage({ a: TEN });
      await s.turn(() => s.write('a', changed(TEN, 1, 5, 8)));
      const id = s.review.files[0]!.id;
      const [one, two, three] = (await s.review.hunks(id))!;
      await s.review.undo({ kind: 'hunk', id, hunk: one!.id });
      await s.review.undo({ kind: 'hunk', id, hunk: two!.id });
      await s.review.keep({ kind: 'hunk', id, hunk: three!.id });
      assert.deepEqual(s.waiting, []);
      await edited(s, 'a', changed(TEN, 5, 8));
      assert.deepEqual(s.waiting, ['a +1 -1 unreviewed']);
      await edited(s, 'a', changed(TEN, 1, 5, 8));
      assert.deepEqual(s.waiting, ['a +2 -2 unreviewed']);
      await s.review.undo({ kind: 'all' });
      assert.equal(await s.read('a'), changed(TEN, 8));
    });

    it('lists created, deleted and renamed files again', async () => {
      const s = await stage({ gone: 'x\n', old: 'm\nn\n' });
      await s.turn(async () => {
        await s.write('new', 'n\n');
        await rm(s.at('gone'));
        await rename(s.at('old'), s.at('moved'));
      });
      const before = s.waiting;
      await s.review.undo({ kind: 'all' });
      await edited(s, 'new', 'n\n');
      await edited(s, 'gone', undefined);
      await edited(s, 'moved', 'm\nn\n');
      assert.deepEqual(s.waiting, before.slice(0, 1).concat(before.slice(2)), 'a rename is back when both ends are');
      await edited(s, 'old', undefined);
      assert.deepEqual(s.waiting, before);
    });

    it('lists the changes of a turn again, unreviewed or kept as before', async () => {
      const s = await stage({ a: TEN, b: 'b\n' });
      await s.turn(async () => {
        await s.write('a', changed(TEN, 2));
        await s.write('b', 'B\n');
      });
      await s.review.keep({ kind: 'file', id: s.review.files[1]!.id });
      await s.review.undo(s.turnTarget(0));
      assert.equal(s.review.stateOf(s.root, 'b'), 'undone');
      await edited(s, 'a', changed(TEN, 2));
      await edited(s, 'b', 'B\n');
      assert.deepEqual(s.waiting, ['a +1 -1 unreviewed']);
      assert.equal(s.review.stateOf(s.root, 'b'), 'kept');
    });

    it('treats an edit with a different result as an edit of the user', async () => {
      const s = await stage({ a: TEN });
      await s.turn(() => s.write('a', changed(TEN, 2)));
      await s.review.undo({ kind: 'all' });
      await edited(s, 'a', changed(TEN, 2, 3));
      assert.deepEqual(s.waiting, []);
      await s.turn(() => s.write('a', changed(TEN, 2)));
      const before = s.waiting;
      await edited(s, 'a', changed(TEN, 2));
      assert.deepEqual(s.waiting, before, 'what the agent changed since is another change');
    });
  });

  describe('redo', () => {
    it('reverts an undo of all files in one step, also after a restart', async () => {
      const s = await stage({ a: TEN, gone: 'x\n', moved: 'm\nn\n' });
      await s.turn(async () => {
        await s.write('a', changed(TEN, 2, 7));
        await rm(s.at('gone'));
        await rename(s.at('moved'), s.at('moved2'));
        await s.write('new', 'n\n');
      });
      const before = s.waiting;
      await s.review.undo({ kind: 'all' });
      s.review = s.open(s.saved);
      const { undone, conflicts, failed } = await s.review.redo('review');
      assert.deepEqual([undone.length, conflicts, failed], [4, [], []]);
      assert.deepEqual(await s.states.changes(s.turns[0]!.after, await s.states.take()), []);
      assert.deepEqual(s.waiting, before);
      assert.equal(s.files.steps.length, 2);
      assert.deepEqual(s.review.redoable, []);
    });

    it('works hunk by hunk, the last undo first', async () => {
      const s = await stage({ a: TEN });
      await s.turn(() => s.write('a', changed(TEN, 2, 7)));
      const id = s.review.files[0]!.id;
      const [one, two] = (await s.review.hunks(id))!;
      await s.review.undo({ kind: 'hunk', id, hunk: one!.id });
      await s.review.undo({ kind: 'hunk', id, hunk: two!.id });
      assert.equal(s.review.stateOf(s.root, 'a'), 'undone');
      await s.review.redo('review', s.at('a'));
      assert.equal(await s.read('a'), changed(TEN, 7));
      await s.review.redo('review', s.at('a'));
      assert.equal(await s.read('a'), changed(TEN, 2, 7));
      assert.deepEqual(s.waiting, ['a +2 -2 unreviewed']);
    });

    it('reverts the undo of a turn, and kept files are kept again', async () => {
      const s = await stage({ a: TEN, b: 'b\n' });
      await s.turn(async () => {
        await s.write('a', changed(TEN, 2));
        await s.write('b', 'B\n');
      });
      await s.review.keep({ kind: 'file', id: s.review.files[1]!.id });
      await s.review.undo(s.turnTarget());
      await s.review.redo({ turnId: 'another turn' });
      assert.equal(await s.read('b'), 'b\n');
      await s.review.redo({ turnId: s.turns[0]!.turnId });
      assert.deepEqual([await s.read('a'), await s.read('b')], [changed(TEN, 2), 'B\n']);
      assert.deepEqual(s.waiting, ['a +1 -1 unreviewed']);
      assert.equal(s.review.stateOf(s.root, 'b'), 'kept');
    });

    it('spares lines that the user has edited since', async () => {
      const s = await stage({ a: TEN });
      await s.turn(() => s.write('a', changed(TEN, 2)));
      await s.review.undo({ kind: 'all' });
      await s.write('a', `mine\n${TEN}`);
      await s.review.redo('review');
      assert.equal(await s.read('a'), `mine\n${changed(TEN, 2)}`);
      assert.deepEqual(s.waiting, ['a +1 -1 unreviewed']);
    });

    it('skips a file whose undone lines the user has edited, or that is new', async () => {
      const s = await stage({ a: TEN });
      await s.turn(async () => {
        await s.write('a', changed(TEN, 2, 7));
        await s.write('new', 'n\n');
      });
      await s.review.undo({ kind: 'all' });
      const mine = TEN.replace('line 7\n', 'seven\n');
      await s.write('a', mine);
      await s.write('new', 'mine\n');
      const { undone, conflicts } = await s.review.redo('review');
      assert.deepEqual([undone, pluck(conflicts, 'why')], [[], ['edited', 'edited']]);
      assert.deepEqual([await s.read('a'), await s.read('new')], [mine, 'mine\n']);
      assert.equal(s.review.redoable.length, 2);
    });

    it('skips a file that the agent has changed again', async () => {
      const s = await stage({ a: TEN, b: 'b\n' });
      await s.turn(async () => {
        await s.write('a', changed(TEN, 2));
        await s.write('b', 'B\n');
      });
      await s.review.undo({ kind: 'all' });
      await s.turn(() => s.write('a', changed(TEN, 5)));
      assert.deepEqual(pluck(s.review.redoable, 'path'), ['b']);
      assert.deepEqual((await s.review.redo('review')).undone, [], 'a turn ended since');
    });

    it('is available until the editor reverts the redo or the undo', async () => {
      const s = await stage({ a: TEN });
      await s.turn(() => s.write('a', changed(TEN, 2)));
      await s.review.undo({ kind: 'all' });
      await s.write('a', changed(TEN, 2));
      await s.review.editorChanged(s.at('a'));
      assert.deepEqual(s.review.redoable, []);
      await s.review.undo({ kind: 'all' });
      await s.review.redo('review');
      await s.write('a', TEN);
      await s.review.editorChanged(s.at('a'));
      assert.equal(s.review.stateOf(s.root, 'a'), 'undone');
      await s.review.redo('review', s.at('a'));
      assert.deepEqual(s.waiting, ['a +1 -1 unreviewed']);
    });

    it('reverts single files of a restore', async () => {
      const s = await stage({ a: TEN, b: 'b\n' });
      await s.turn(async () => {
        await s.write('a', changed(TEN, 2));
        await s.write('b', 'B\n');
      });
      await s.review.restored((await s.run()).done);
      assert.deepEqual([await s.read('a'), s.review.stateOf(s.root, 'a')], [TEN, 'undone']);
      await s.review.redo('review', s.at('a'));
      assert.deepEqual([await s.read('a'), await s.read('b')], [changed(TEN, 2), 'b\n']);
      assert.deepEqual(s.waiting, ['a +1 -1 unreviewed']);
    });
  });

  it('does not follow a folder that became a link', async () => {
    const s = await stage();
    await mkdir(s.at('sub'));
    await s.write('sub/a', 'a\n');
    await s.turn(() => s.write('sub/a', 'b\n'));
    const other = await scratchFolder();
    await writeFile(join(other, 'a'), 'b\n');
    await rm(s.at('sub'), { recursive: true });
    await symlink(other, s.at('sub'));
    const { failed } = await s.review.undo({ kind: 'all' });
    assert.deepEqual(pluck(failed, 'why'), ['outside']);
    assert.equal(await readFile(join(other, 'a'), 'utf8'), 'b\n');
  });
});
