// Unusual folders, and repositories whose configuration tries to run programs.
import { strict as assert } from 'node:assert';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { FolderStates } from '../../../../src/changes/model/fileChange';
import { git, inShort, openStates, type Place, useFolder, write } from './folders';

/** All files below a folder, with mode, size, times and content. */
function fingerprint(folder: string): readonly string[] {
  const lines: string[] = [];
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    const path = join(entry.parentPath, entry.name);
    const { mode, size, mtimeMs } = lstatSync(path);
    const content = entry.isFile() ? createHash('sha256').update(readFileSync(path)).digest('hex') : '';
    const link = entry.isSymbolicLink() ? readlinkSync(path) : '';
    lines.push([path, mode, entry.isDirectory() ? '' : size, mtimeMs, content, link].join(' '));
  }
  return lines.sort();
}

describe('the states of an unusual folder', () => {
  let place: Place;
  let states: FolderStates;
  const { repository, changesAfter } = useFolder(
    (made) => {
      ({ place, states } = made);
    },
    () => states,
  );

  it("changes no byte and no time of the user's repository", async () => {
    repository({ 'a.txt': 'a\n', 'b/c.txt': 'c\n', '.gitattributes': '*.txt text=auto\n' });
    write(place.folder, { 'a.txt': 'staged\n' });
    git(place, place.folder, 'add', 'a.txt');
    const before = fingerprint(join(place.folder, '.git'));
    const changes = await changesAfter(() => write(place.folder, { 'a.txt': 'b\n', 'd.txt': 'd\n', 'b/c.txt': 'C\n' }));
    assert.deepEqual(changes, ['M a.txt +1 -1', 'M b/c.txt +1 -1', 'A d.txt +1 -0']);
    const snapshot = await states.take();
    await states.hold(snapshot, 'turn');
    await states.read(place.folder, await states.write(place.folder, Buffer.from('a\n'), '100644'));
    assert.deepEqual(fingerprint(join(place.folder, '.git')), before);
  });

  it('runs no program from the configuration of the repository', async () => {
    repository({ 'a.txt': 'a\n', 'b.evil': 'b\n', 'c.diff': 'c\n' });
    const program = (name: string): string => `touch ${join(place.home, name)}; cat`;
    const entries: Readonly<Record<string, string>> = {
      'core.fsmonitor': program('fsmonitor'),
      'core.sshCommand': program('ssh'),
      'core.pager': program('pager'),
      'core.editor': program('editor'),
      'core.gitProxy': program('proxy'),
      'core.alternateRefsCommand': program('alternateRefs'),
      'core.askPass': program('askpass'),
      'filter.evil.clean': program('clean'),
      'filter.evil.smudge': program('smudge'),
      'filter.evil.process': program('process'),
      'filter.evil.required': 'true',
      'diff.external': program('external'),
      'diff.evil.command': program('command'),
      'diff.evil.textconv': program('textconv'),
      'merge.evil.driver': program('driver'),
      'uploadpack.packObjectsHook': program('packObjects'),
      'credential.helper': `!${program('credential')}`,
      'gpg.program': program('gpg'),
      'pager.diff-tree': program('pagerDiff'),
      'alias.ls-files': `!${program('alias')}`,
      'alias.diff-files': `!${program('alias')}`,
      'include.path': join(place.home, 'included'),
      'core.hooksPath': join(place.home, 'hooks'),
      'remote.origin.promisor': 'true',
      'remote.origin.url': `ext::sh -c touch% ${join(place.home, 'ext')}`,
      'extensions.partialClone': 'origin',
    };
    const marks = new Set(Object.values(entries).flatMap((value) => /touch%? (\S+?)(?=;|$)/.exec(value)?.[1] ?? []));
    assert.equal(marks.size > 18, true);
    writeFileSync(join(place.home, 'included'), `[core]\n\tfsmonitor = "touch ${join(place.home, 'byInclude')}"\n`);
    const hooks = ['post-index-change', 'reference-transaction', 'pre-auto-gc', 'fsmonitor-watchman', 'post-checkout'];
    for (const folder of [join(place.home, 'hooks'), join(place.folder, '.git/hooks')]) {
      mkdirSync(folder, { recursive: true });
      for (const hook of hooks) {
        writeFileSync(join(folder, hook), `#!/bin/sh\ntouch ${join(place.home, 'hook')}\n`, { mode: 0o755 });
      }
    }
    // After the commit, so that the user's own git runs none of it.
    const lines = Object.entries(entries).map(([name, value]) => {
      const dot = name.lastIndexOf('.');
      const [section = '', sub] = [name.slice(0, name.indexOf('.')), name.slice(name.indexOf('.') + 1, dot)];
      const quoted = JSON.stringify(value);
      return `[${section}${name.indexOf('.') === dot ? '' : ` "${sub}"`}]\n\t${name.slice(dot + 1)} = ${quoted}\n`;
    });
    appendFileSync(join(place.folder, '.git/config'), lines.join(''));
    const attributes = '*.evil filter=evil diff=evil merge=evil text\n*.diff diff=evil\n[attr]all filter=evil\n* all\n';
    write(place.folder, { '.gitattributes': attributes, '.git/info/attributes': attributes });
    const here = readdirSync(place.home).sort();
    const changes = await changesAfter(() =>
      write(place.folder, { 'a.txt': 'b\n', 'b.evil': 'x\ny\n', 'c.diff': 'd\n' }),
    );
    assert.deepEqual(changes, ['M a.txt +1 -1', 'M b.evil +2 -1', 'M c.diff +1 -1']);
    assert.deepEqual(readdirSync(place.home).sort(), here);
  });

  it('uses no git from the folder, and no environment variable of git', async () => {
    write(place.folder, { 'a.txt': 'a\n' });
    writeFileSync(join(place.folder, 'git'), `#!/bin/sh\ntouch ${join(place.home, 'ran')}\n`, { mode: 0o755 });
    const before = process.cwd();
    const saved = { ...process.env };
    process.chdir(place.folder);
    Object.assign(process.env, { GIT_DIR: '/nowhere', GIT_TRACE: join(place.home, 'trace') });
    try {
      const env = { ...process.env, HOME: place.home, PATH: `.::${process.env.PATH}`, GIT_EXEC_PATH: place.folder };
      const opened = openStates(place, [place.folder], env);
      assert.deepEqual((await opened.take()).gaps, []);
      opened.dispose();
    } finally {
      process.chdir(before);
      for (const name of ['GIT_DIR', 'GIT_TRACE']) delete process.env[name];
      Object.assign(process.env, saved);
    }
    assert.deepEqual(readdirSync(place.home), []);
  });

  it('skips pipes and does not follow links', async () => {
    write(place.folder, { 'a.txt': 'a\n', 'b.txt': 'b\n' });
    symlinkSync('..', join(place.folder, 'loop'));
    symlinkSync('self', join(place.folder, 'self'));
    symlinkSync(place.home, join(place.folder, 'home'));
    execFileSync('mkfifo', [join(place.folder, 'pipe')]);
    const changes = await changesAfter(() => {
      write(place.home, { 'not-here.txt': 'x\n' });
      rmSync(join(place.folder, 'b.txt'));
      execFileSync('mkfifo', [join(place.folder, 'b.txt')]);
      execFileSync('mkfifo', [join(place.folder, 'pipe2')]);
    });
    assert.deepEqual(changes, ['D b.txt +0 -1']);
  });

  it('records only hashes of large files, and detects their renames', async () => {
    write(place.folder, { 'small.txt': 's\n' });
    for (const name of ['large', 'moved', 'gone']) {
      writeFileSync(join(place.folder, name), name);
      truncateSync(join(place.folder, name), 21 * 1024 * 1024);
    }
    const before = await states.take();
    appendFileSync(join(place.folder, 'large'), 'x');
    renameSync(join(place.folder, 'moved'), join(place.folder, 'to'));
    write(place.folder, { 'small.txt': 'S\n' });
    rmSync(join(place.folder, 'gone'));
    const changes = await states.changes(before, await states.take());
    assert.deepEqual(inShort(changes), ['D gone binary', 'M large binary', 'M small.txt +1 -1', 'R moved to binary']);
    const [, large] = changes;
    assert.deepEqual(
      [large!.before, large!.after].map((version) => [version!.size, version!.isHashOnly]),
      [
        [21 * 1024 * 1024, true],
        [21 * 1024 * 1024 + 1, true],
      ],
    );
    await assert.rejects(states.read(place.folder, large!.before!), { code: 'version-not-kept' });
    assert.equal(
      readdirSync(place.storage, { recursive: true }).some((name) => statSize(join(place.storage, String(name))) > 1e6),
      false,
    );
  });

  it('returns an empty state for an empty folder, also inside a repository', async () => {
    repository({ 'a.txt': 'a\n' });
    mkdirSync(join(place.folder, 'part'));
    states.dispose();
    states = openStates(place, [join(place.folder, 'part')]);
    assert.deepEqual(await changesAfter(() => write(place.folder, { 'part/b.txt': 'b\n', 'a.txt': 'A\n' })), [
      'A b.txt +1 -0',
    ]);
  });

  it('reports a missing folder, and recovers when it exists again', async () => {
    write(place.folder, { 'a.txt': 'a\n' });
    const before = await states.take();
    rmSync(place.folder, { recursive: true });
    assert.deepEqual(await states.take(), { folders: [], gaps: [{ root: place.folder, why: 'failed' }] });
    write(place.folder, { 'b.txt': 'b\n' });
    assert.deepEqual(inShort(await states.changes(before, await states.take())), ['D a.txt +0 -1', 'A b.txt +1 -0']);
  });

  it('never reads the home folder, nor the root of the file system', async () => {
    const everything = openStates(place, ['/', place.home]);
    assert.deepEqual(
      (await everything.take()).gaps.map(({ why }) => why),
      ['too-large', 'too-large'],
    );
    everything.dispose();
  });
});

function statSize(path: string): number {
  return lstatSync(path).size;
}
