// Unusual folders, and repositories whose configuration tries to run programs.
import { strict as assert } from 'node:assert';
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { FolderStates } from '../../../../src/changes/model/fileChange';
import { git, openStates, type Place, useFolder, write } from './folders';

describe('the states of an unusual folder', () => {
  let place: Place;
  let states: FolderStates;
  const { repository, changesAfter, objects } = useFolder(
    (made) => {
      ({ place, states } = made);
    },
    () => states,
  );

  it('stores the bytes on disk if git converts files', async () => {
    const attributes =
      '*.txt text eol=crlf\n*.id ident\n*.u16 working-tree-encoding=UTF-16LE\n*.bin filter=lfs -text\n';
    git(place, place.folder, 'init', '-q');
    git(place, place.folder, 'config', 'filter.lfs.clean', 'echo pointer');
    const utf16 = Buffer.from('text\n', 'utf16le').toString('latin1');
    const files = { 'a.txt': 'a\r\nb\r\n', 'b.id': '$Id$\n', 'c.u16': utf16, 'd.bin': 'big\n', 'e.c': 'e\r\n' };
    write(place.folder, { '.gitattributes': attributes, ...files });
    git(place, place.folder, 'add', '-A');
    git(place, place.folder, 'commit', '-qm', 'first');
    // Checked out by git: the index matches the files on disk, but its contents are converted.
    for (const file of Object.keys(files)) rmSync(join(place.folder, file));
    git(place, place.folder, '-c', 'filter.lfs.smudge=echo whole', 'checkout', '--', '.');
    // Later than the second of the checkout, so that git trusts the index.
    const old = new Date(Date.now() - 60_000);
    for (const file of Object.keys(files)) utimesSync(join(place.folder, file), old, old);
    git(place, place.folder, 'update-index', '-q', '--refresh');
    const expected = Object.keys(files).map((file) => readFileSync(join(place.folder, file), 'latin1'));
    const before = await states.take();
    for (const file of Object.keys(files)) rmSync(join(place.folder, file));
    const changes = await states.changes(before, await states.take());
    assert.equal(changes.length, expected.length);
    for (const [position, { before: version }] of changes.entries()) {
      assert.equal((await states.read(place.folder, version!)).toString('latin1'), expected[position]);
    }
  });

  it('reads only files that differ from the user’s index', async () => {
    const files = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`f${index}`, `${index}\n`]));
    repository(files);
    const old = new Date(Date.now() - 60_000);
    for (const file of Object.keys(files)) utimesSync(join(place.folder, file), old, old);
    git(place, place.folder, 'update-index', '-q', '--refresh');
    await new Promise((resolve) => setTimeout(resolve, 1000 - (Date.now() % 1000)));
    git(place, place.folder, 'update-index', '--force-write-index');
    write(place.folder, { f3: 'changed\n' });
    await states.take();
    assert.equal(objects().filter((line) => line.includes(' blob ')).length, 1);
  });

  it('compares touched files with the user’s index without storing them again', async () => {
    const files = Object.fromEntries(Array.from({ length: 600 }, (_, index) => [`f${index}`, `${index}\n`]));
    repository(files);
    const other = new Date(Date.now() - 60_000);
    for (const file of Object.keys(files)) utimesSync(join(place.folder, file), other, other);
    write(place.folder, { f3: 'changed\n' });
    assert.deepEqual(await changesAfter(() => write(place.folder, { f4: 'changed\n' })), ['M f4 +1 -1']);
    // The new versions, and the replaced one, which the difference retains.
    assert.equal(objects().filter((line) => line.includes(' blob ')).length, 2);
  });

  it('reads a repository that belongs to someone else', async function () {
    if (process.getuid?.() !== 0) this.skip();
    repository({ 'a.txt': 'a\n', '.gitignore': '*.log\n' });
    for (const path of ['.', '.git', '.git/config']) chownSync(join(place.folder, path), 65_534, 65_534);
    assert.throws(() => git(place, place.folder, 'status'), /dubious ownership/);
    assert.deepEqual(await changesAfter(() => write(place.folder, { 'a.txt': 'b\n', 'x.log': 'x' })), [
      'M a.txt +1 -1',
    ]);
  });

  it('includes files that the user’s index hides', async () => {
    repository({ 'a.txt': 'a\n', 'b.txt': 'b\n', 'c.txt': 'c\n', 'dir/d.txt': 'd\n' });
    git(place, place.folder, 'update-index', '--assume-unchanged', 'a.txt');
    git(place, place.folder, 'update-index', '--skip-worktree', 'b.txt');
    git(place, place.folder, 'update-index', '--split-index');
    const changes = await changesAfter(() => write(place.folder, { 'a.txt': 'A\n', 'b.txt': 'B\n', 'c.txt': 'C\n' }));
    assert.deepEqual(changes, ['M a.txt +1 -1', 'M b.txt +1 -1', 'M c.txt +1 -1']);
  });

  it('includes the existing files of a sparse checkout', async () => {
    repository({ 'in/a.txt': 'a\n', 'out/b.txt': 'b\n', 'top.txt': 't\n' });
    git(place, place.folder, 'sparse-checkout', 'init', '--cone', '--sparse-index');
    git(place, place.folder, 'sparse-checkout', 'set', 'in');
    assert.equal(existsSync(join(place.folder, 'out')), false);
    const changes = await changesAfter(() => write(place.folder, { 'in/a.txt': 'A\n', 'out/new.txt': 'n\n' }));
    assert.deepEqual(changes, ['M in/a.txt +1 -1', 'A out/new.txt +1 -0']);
  });

  it('reads worktrees, submodules and subfolders of repositories as they are on disk', async () => {
    repository({ 'part/a.txt': 'a\n', 'other/b.txt': 'b\n' });
    const tree = join(place.home, 'tree');
    git(place, place.folder, 'worktree', 'add', '-q', tree);
    const library = join(place.home, 'library');
    mkdirSync(library);
    git(place, library, 'init', '-q');
    write(library, { 'l.txt': 'l\n' });
    git(place, library, 'add', '-A');
    git(place, library, 'commit', '-qm', 'first');
    git(place, place.folder, 'submodule', '--quiet', 'add', library, 'libs/inner');
    git(place, place.folder, 'commit', '-qm', 'second');
    const roots = [join(place.folder, 'part'), tree, place.folder];
    states.dispose();
    states = openStates(place, roots);
    const before = await states.take();
    assert.deepEqual(before.gaps, []);
    write(place.folder, { 'part/a.txt': 'A\n', 'other/b.txt': 'B\n', 'libs/inner/l.txt': 'L\n' });
    write(tree, { 'part/a.txt': 'aa\n' });
    const changes = await states.changes(before, await states.take());
    assert.deepEqual(
      changes.map(({ root, path }) => `${root} ${path}`).sort(),
      [
        `${place.folder} libs/inner/l.txt`,
        `${place.folder} other/b.txt`,
        `${place.folder} part/a.txt`,
        `${roots[0]} a.txt`,
        `${tree} part/a.txt`,
      ].sort(),
    );
  });

  it('lists the same files after git init and after .git is removed', async () => {
    write(place.folder, { 'a.txt': 'a\n', 'sub/b.txt': 'b\n' });
    assert.deepEqual(
      await changesAfter(() => {
        git(place, join(place.folder, 'sub'), 'init', '-q');
        write(place.folder, { 'sub/b.txt': 'B\n' });
      }),
      ['M sub/b.txt +1 -1'],
    );
    states.dispose();
    rmSync(place.storage, { recursive: true });
    mkdirSync(place.storage);
    states = openStates(place);
    assert.deepEqual(
      await changesAfter(() => {
        rmSync(join(place.folder, 'sub/.git'), { recursive: true });
        write(place.folder, { 'sub/c.txt': 'c\n' });
        git(place, place.folder, 'init', '-q');
      }),
      ['A sub/c.txt +1 -0'],
    );
  });

  for (const [what, make] of [
    ['a broken .git folder', (folder: string) => mkdirSync(join(folder, '.git'))],
    ['a .git file that leads nowhere', (folder: string) => writeFileSync(join(folder, '.git'), 'gitdir: /nowhere\n')],
    ['a .git file of noise', (folder: string) => writeFileSync(join(folder, '.git'), 'noise'.repeat(9000))],
    ['a repository without commits', (folder: string) => git(place, folder, 'init', '-q')],
    [
      'a repository with a broken index',
      (folder: string) => {
        git(place, folder, 'init', '-q');
        writeFileSync(join(folder, '.git/index'), 'DIRC\0\0\0\x02\0\0\xff\xff');
      },
    ],
    [
      'a repository with a broken configuration',
      (folder: string) => {
        git(place, folder, 'init', '-q');
        writeFileSync(join(folder, '.git/config'), '[core\n');
      },
    ],
    [
      'a repository with ids of SHA-256',
      (folder: string) => git(place, folder, 'init', '-q', '--object-format=sha256'),
    ],
  ] as const) {
    it(`reads a folder with ${what}`, async () => {
      write(place.folder, { 'a.txt': 'a\n' });
      make(place.folder);
      assert.deepEqual(await changesAfter(() => write(place.folder, { 'a.txt': 'A\n', 'b.txt': 'b\n' })), [
        'M a.txt +1 -1',
        'A b.txt +1 -0',
      ]);
    });
  }

  it('preserves names with line ends, quotes and patterns, and skips names that are not UTF-8', async () => {
    const names = [
      'line\nend',
      'tab\t',
      '"quotes"',
      "'",
      '*',
      '[a]',
      ':(top)x',
      '-rf',
      '\\',
      'é',
      'e\u0301',
      '😀',
      'a ',
      '=',
      '%2f',
    ];
    write(place.folder, { 'a.txt': 'a\n' });
    const changes = await changesAfter(() => {
      for (const name of names) write(place.folder, { [name]: `${name}\n` });
      writeFileSync(Buffer.concat([Buffer.from(`${place.folder}/`), Buffer.from([0x66, 0xff, 0xfe])]), 'x');
    });
    assert.deepEqual(
      changes.map((line) => line.replace(/^A (.*) \+\d+ -0$/s, '$1')),
      [...names].sort(),
    );
  });

  it('detects a rename that only changes case', async () => {
    repository({ 'Readme.md': 'a\nb\nc\n' });
    assert.deepEqual(
      await changesAfter(() => renameSync(join(place.folder, 'Readme.md'), join(place.folder, 'README.md'))),
      ['R Readme.md README.md +0 -0'],
    );
  });

  it('records only the hash of a file over 2 GB', async function () {
    this.timeout(120_000);
    write(place.folder, { 'a.txt': 'a\n' });
    const changes = await changesAfter(() => {
      writeFileSync(join(place.folder, 'huge'), '');
      truncateSync(join(place.folder, 'huge'), 2 ** 31 + 5);
    });
    assert.deepEqual(changes, ['A huge binary']);
  });

  it('skips files and folders that cannot be read', async function () {
    if (process.getuid?.() === 0) this.skip();
    write(place.folder, { 'a.txt': 'a\n', 'b.txt': 'b\n', 'closed/c.txt': 'c\n' });
    chmodSync(join(place.folder, 'b.txt'), 0);
    chmodSync(join(place.folder, 'closed'), 0);
    try {
      assert.deepEqual(await changesAfter(() => write(place.folder, { 'a.txt': 'A\n' })), ['M a.txt +1 -1']);
    } finally {
      chmodSync(join(place.folder, 'closed'), 0o700);
    }
  });

  it('reads a folder that the repository around it ignores', async () => {
    repository({ '.gitignore': 'work/\n' });
    write(place.folder, { 'work/a.txt': 'a\n' });
    states.dispose();
    states = openStates(place, [join(place.folder, 'work')]);
    assert.deepEqual(await changesAfter(() => write(place.folder, { 'work/a.txt': 'A\n' })), ['M a.txt +1 -1']);
  });

  it("follows the user's rules for ignored files", async () => {
    git(place, place.folder, 'init', '-q');
    write(place.home, { '.config/git/ignore': '*.global\n' });
    write(place.folder, { '.gitignore': '*.log\n!keep.log\n', '.git/info/exclude': 'private\n' });
    const changes = await changesAfter(() =>
      write(place.folder, { 'a.log': 'x', 'keep.log': 'x\n', private: 'x', 'a.global': 'x', 'sub/b.txt': 'b\n' }),
    );
    assert.deepEqual(changes, ['A keep.log +1 -0', 'A sub/b.txt +1 -0']);
  });

  it('reads a state while files change', async () => {
    let isOver = false;
    write(place.folder, Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`f${index}`, 'x'.repeat(999)])));
    const churn = (async () => {
      for (let round = 0; !isOver; round++) {
        const file = join(place.folder, `f${(round * 7) % 200}`);
        if (round % 3 === 0) rmSync(file, { recursive: true, force: true });
        else if (round % 3 === 1 && !existsSync(file)) mkdirSync(file);
        else if (!existsSync(file) || lstatSync(file).isFile()) writeFileSync(file, 'y'.repeat(round % 5000));
        await new Promise((resolve) => setImmediate(resolve));
      }
    })();
    for (let round = 0; round < 5; round++) assert.deepEqual((await states.take()).gaps, []);
    isOver = true;
    await churn;
    const last = await states.take();
    assert.deepEqual(await states.changes(last, await states.take()), []);
  });
});
