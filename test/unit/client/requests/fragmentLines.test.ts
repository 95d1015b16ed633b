// Where a changed fragment is in its file, for line numbers.
import { strict as assert } from 'node:assert';
import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { type FileChange, FragmentLines } from '../../../../src/client/requests/fragmentLines';
import { removeScratch, scratchFolder } from '../../../support/scratch';

describe('the first line of a change', () => {
  let folder: string;
  let read: string[];
  let texts: Map<string, string>;
  let lines: FragmentLines;

  beforeEach(async () => {
    folder = await scratchFolder();
    read = [];
    texts = new Map();
    lines = new FragmentLines(async (path) => {
      read.push(path);
      const text = texts.get(path);
      if (text === undefined) throw new Error('no such file');
      return text;
    });
  });
  afterEach(removeScratch);

  const TEN = Array.from({ length: 10 }, (_, index) => `line ${index + 1}`).join('\n');

  const change = (oldText: string, newText: string, path = join(folder, 'a.ts')): FileChange => ({
    type: 'diff',
    path,
    oldText,
    newText,
  });

  /** Returns the lines of changes once all files are read. */
  async function known(changes: readonly FileChange[], isMade = false): Promise<(number | undefined)[]> {
    let found = 0;
    for (const one of changes)
      assert.equal(
        lines.locate(one, isMade, [folder], () => found++),
        undefined,
      );
    const last: FileChange = change('x', 'y', join(folder, 'last'));
    texts.set(last.path, 'x');
    await new Promise<void>((done) => assert.equal(lines.locate(last, false, [folder], done), undefined));
    const all = changes.map((one) => lines.locate(one, isMade, [folder], () => assert.fail('it is known'))?.line);
    assert.equal(found, all.filter((line) => line !== undefined).length);
    return all;
  }

  it('is found in the file, which is read once for all pending changes', async () => {
    texts.set(join(folder, 'a.ts'), TEN);
    assert.deepEqual(
      await known([change('line 4\nline 5', 'x'), change('line 7', 'y'), change('line 1\n', 'z')]),
      [4, 7, 1],
    );
    assert.deepEqual(read, [join(folder, 'a.ts'), join(folder, 'last')]);
  });

  it('is that of the new text if the change was made, regardless of line ends', async () => {
    texts.set(join(folder, 'a.ts'), TEN.replaceAll('\n', '\r\n'));
    assert.deepEqual(await known([change('old', 'line 3\nline 4'), change('line 8', 'line 2')], true), [3, 2]);
    assert.deepEqual(await known([change('line 8', 'line 2')]), [8]);
  });

  it('is unknown if the text is ambiguous, missing or unreadable', async () => {
    texts.set(join(folder, 'a.ts'), `${TEN}\n${TEN}`);
    const changes = [
      change('line 4', 'x'),
      change('none', 'nothing'),
      change('', ''),
      change('a', 'b', join(folder, 'none')),
    ];
    assert.deepEqual(await known(changes), [undefined, undefined, undefined, undefined]);
  });

  it('includes the rest of the first and the last line', async () => {
    texts.set(join(folder, 'a.ts'), 'one\nexport class Deferred<T> {\n  a(): T;\n}\n');
    const whole = async (oldText: string, newText: string, isMade = false) => {
      const fragment = change(oldText, newText);
      await known([fragment], isMade);
      const found = lines.locate(fragment, isMade, [folder], () => {})?.whole;
      return [found?.oldText, found?.newText, found === fragment];
    };
    const [all, changed] = ['export class Deferred<T> {', 'export class Later<T> {'];
    assert.deepEqual(await whole('class Deferred', 'class Later'), [all, changed, false]);
    assert.deepEqual(await whole('class Late', 'class Deferred', true), [all.replace('Deferred', 'Late'), all, false]);
    assert.deepEqual(await whole('> {\n  a', '> {\n  b'), [`${all}\n  a(): T;`, `${all}\n  b(): T;`, false]);
    assert.deepEqual(await whole('  a(): T;\n', ''), ['  a(): T;\n', '', true], 'whole lines already');
    texts.set(join(folder, 'a.ts'), `${'x'.repeat(3000)} once`);
    assert.deepEqual(await whole('once', 'twice'), ['once', 'twice', true], 'a line too long to add');
  });

  it('is 1 in a new file, which is not read', () => {
    const made: FileChange = { type: 'diff', path: join(folder, 'new'), newText: 'a' };
    assert.equal(lines.locate(made, false, [folder], () => {})?.line, 1);
    assert.deepEqual(read, []);
  });

  it('is searched only in the session’s folders, with links resolved', async () => {
    await mkdir(join(folder, 'in'));
    await mkdir(join(folder, 'out'));
    await symlink(join(folder, 'out'), join(folder, 'in', 'link'));
    await symlink(join(folder, 'in'), join(folder, 'same'));
    const paths = ['/etc/passwd', join(folder, 'in/../out/a'), join(folder, 'in/link/a'), 'in/a', join(folder, 'in/a')];
    for (const path of paths) texts.set(path, 'a');
    await new Promise<void>((done) => {
      for (const path of paths) lines.locate(change('a', 'b', path), false, [join(folder, 'same')], done);
    });
    assert.deepEqual(read, [join(folder, 'in/a')]);
  });

  it('is 1 if the text is the whole file, at any length', async () => {
    const whole = 'line\n'.repeat(100_000);
    texts.set(join(folder, 'a.ts'), whole);
    assert.deepEqual(await known([change(whole, 'x'), change(whole.slice(5), 'x')]), [1, undefined]);
  });

  it('is that of the only match, whatever surrounds it', async () => {
    texts.set(join(folder, 'a.ts'), 'aab\naaab\naabaaab\nabab\nababa\n');
    const changes = ['aab\naaab', 'aaab\naab', 'abab\naba', 'bab', 'aba', 'aabaaab\n', 'ababab'].map((text) =>
      change(text, ''),
    );
    assert.deepEqual(await known(changes), [1, 2, 4, undefined, undefined, 3, undefined]);
  });
});
