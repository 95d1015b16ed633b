// Which links in an agent's text are followed, and where to.

import assert from 'node:assert/strict';
import { join, posix, resolve, win32 } from 'node:path';
import { candidatePathsOf } from '../../../../src/client/requests/roots';
import { candidatesOf, parseLink } from '../../../../src/client/view/linkTarget';
import { sameData } from '../../../support/sameData';

function file(href: string): unknown {
  const target = parseLink(href);
  if (target.kind !== 'file') return target.kind;
  return [target.paths[0], target.line, target.column];
}

describe('parseLink', () => {
  it('follows web pages', () => {
    const url = 'https://example.com/a%20b?q=a%2Bb#c';
    assert.deepEqual(parseLink(url), { kind: 'web', url });
    assert.deepEqual(parseLink(' HTTP://example.com '), { kind: 'web', url: 'HTTP://example.com' });
  });

  it('refuses every link that could act in the editor or carry a program', () => {
    const bad = [
      'command:workbench.action.terminal.new',
      'COMMAND:x',
      'vscode://parley.parley/open',
      'vscode-insiders://x/y',
      'javascript:alert(1)',
      'JavaScript:alert(1)',
      ' java\nscript:alert(1)',
      'java\tscript:1',
      'data:text/html,<script>1</script>',
      'vbscript:x',
      'mailto:a@b.c',
      'ssh://host',
      'vscode-remote://ssh/x',
      'untitled:x',
      '//evil.example/share',
      '\\\\evil.example\\share\\x',
      'file://evil.example/share/x',
      'https://',
      '',
      '#anchor',
      `https://example.com/${'x'.repeat(10_000)}`,
    ];
    for (const href of bad) assert.equal(parseLink(href).kind, 'refused', href);
  });

  it('opens files at a line in any notation that agents use', () => {
    assert.deepEqual(file('src/a.ts'), ['src/a.ts', undefined, undefined]);
    assert.deepEqual(file('src/a.ts:12'), ['src/a.ts', 12, undefined]);
    assert.deepEqual(file('src/a.ts:12:3'), ['src/a.ts', 12, 3]);
    assert.deepEqual(file('a.ts:12'), ['a.ts', 12, undefined]);
    assert.deepEqual(file('Makefile:7:2'), ['Makefile', 7, 2]);
    assert.deepEqual(file('src/a.ts#L12'), ['src/a.ts', 12, undefined]);
    assert.deepEqual(file('src/a.ts#L12C4'), ['src/a.ts', 12, 4]);
    assert.deepEqual(file('src/a.ts#L12-L20'), ['src/a.ts', 12, undefined]);
    assert.deepEqual(file('/abs/a.ts#10'), ['/abs/a.ts', 10, undefined]);
    assert.deepEqual(file('C:\\src\\a.ts:3'), ['C:\\src\\a.ts', 3, undefined]);
    assert.deepEqual(file('readme.md#install'), ['readme.md', undefined, undefined]);
    assert.deepEqual(file('a.ts:0'), ['a.ts', undefined, undefined]);
    assert.deepEqual(file('a.ts:99999999999999999999'), ['a.ts', 2 ** 31 - 1, undefined]);
  });

  it('opens file URLs, on Windows with a drive letter in either case', () => {
    const isWindows = process.platform === 'win32';
    const [drive, root] = isWindows ? ['/c%3A', 'c:\\abs\\'] : ['', '/abs/'];
    assert.deepEqual(file(`file://${drive}/abs/my%20file.ts#L3`), [`${root}my file.ts`, 3, undefined]);
    sameData(file(`file://localhost${drive}/abs/a.ts:4`), [`${root}a.ts`, 4, undefined]);
    if (!isWindows) return;
    assert.deepEqual(file('file:///C:/abs/a.ts#L3'), ['C:\\abs\\a.ts', 3, undefined]);
    assert.deepEqual(file('c:/abs/a.ts:3'), ['c:/abs/a.ts', 3, undefined]);
    for (const href of ['file:////evil.example/share/x', 'file:///abs/a.ts']) assert.equal(file(href), 'refused', href);
  });

  it('finds files whose names contain separators and escapes', () => {
    const paths = (href: string): readonly string[] => {
      const target = parseLink(href);
      return target.kind === 'file' ? target.paths : [];
    };
    assert.ok(paths('my%20file.md').includes('my file.md'));
    assert.ok(paths('100%.txt').includes('100%.txt'));
    assert.ok(paths('docs/c#.md').includes('docs/c#.md'));
    assert.ok(paths('log:12').includes('log:12'));
  });
});

describe('candidatesOf', () => {
  it('looks below each folder of the session, and tries a leading slash as the disk root, then as the project root', () => {
    const [one, two] = [resolve('/one'), resolve('/two')];
    assert.deepEqual(candidatesOf(['a.ts'], [one, two]), [join(one, 'a.ts'), join(two, 'a.ts')]);
    assert.deepEqual(candidatesOf(['/src/a.ts'], [one]), [resolve('/src/a.ts'), join(one, 'src', 'a.ts')]);
    assert.deepEqual(candidatesOf(['a.ts'], []), []);
  });
});

const ROOTS = ['C:\\project'];

/** Returns where a link is looked up on Windows. */
function linked(href: string): readonly string[] {
  const target = parseLink(href);
  return target.kind === 'file' ? candidatesOf(target.paths, ROOTS, win32) : [];
}

describe('a path of an agent', () => {
  it('is used as written, or resolved in each folder of the session', () => {
    assert.deepEqual(candidatePathsOf('/a/../b', ['/one', '/two'], posix), ['/b']);
    assert.deepEqual(candidatePathsOf('a/b', ['/one', '/two'], posix), ['/one/a/b', '/two/a/b']);
    assert.deepEqual(candidatePathsOf('file:///a%20b', ['/one'], posix), ['/a b']);
    assert.deepEqual(candidatePathsOf('file:///c:/a', ROOTS, win32), ['c:\\a']);
    assert.deepEqual(candidatePathsOf('', ['/one'], posix), []);
    assert.deepEqual(candidatePathsOf('a\0b', ['/one'], posix), []);
  });

  it('is never looked up on another network server, however it is disguised', () => {
    for (const path of [
      '\\\\evil\\share\\x',
      '//evil/share/x',
      '/\\evil/share/x',
      '\\\\?\\UNC\\evil\\share\\x',
      '\\\\.\\C:\\x',
      'file://evil/share/x',
      'file:////evil/share/x',
      'C:\\x:stream',
      'C:\\con',
    ])
      for (const place of candidatePathsOf(path, ROOTS, win32)) assert.match(place, /^C:\\project\\/, path);
  });

  it('is not looked up there if a link decodes to it, once or twice', () => {
    for (const href of [
      '%5C%5Cevil%5Cshare%5Cx',
      '%2F%2Fevil/share/x',
      '/%5Cevil/share/x',
      '/%2Fevil/share/x',
      '\\%5Cevil/share/x',
      'file:///%5C%5Cevil/share/x',
      'file:///%255C%255Cevil/share/x',
      '%5C%5Cevil%5Cshare%5Cx:3',
      '%5C%5Cevil%5Cshare%5Cx#L3',
    ])
      for (const place of linked(href)) assert.doesNotMatch(place, /^[\\/]{2}/, href);
  });

  it('can be on a server that contains a folder of the session', () => {
    const roots = ['\\\\home\\me\\project'];
    assert.deepEqual(candidatePathsOf('\\\\home\\me\\project\\a', roots, win32), ['\\\\home\\me\\project\\a']);
    assert.deepEqual(candidatePathsOf('a', roots, win32), ['\\\\home\\me\\project\\a']);
    assert.deepEqual(candidatePathsOf('\\\\home\\other\\a', roots, win32), []);
  });
});
