// Code blocks of answers, applied to files.
import assert from 'node:assert/strict';
import { codeChange } from '../../../../src/client/requests/codeChange';

describe('a code block applied to a file', () => {
  it('takes the file name from a comment in the first line', () => {
    const named = (line: string): unknown => codeChange(`${line}\nx`, 'ts').paths[0];
    for (const line of ['// src/a.ts', '# src/a.ts', '<!-- src/a.ts -->', '/* file: src/a.ts */', '-- src/a.ts\r'])
      assert.equal(named(line), 'src/a.ts', line);
    for (const line of [
      '// see src/a.ts',
      '#!/usr/bin/a.sh',
      '// https://a.b/c.ts',
      'src/a.ts',
      '#include "a.h"',
      '//',
    ])
      assert.equal(named(line), undefined, line);
    assert.equal(named(`// ${'a/'.repeat(500)}b.ts`), undefined);
  });

  it('replaces the whole file and ends it with a line break', () => {
    const { in: apply } = codeChange('one\r\ntwo', 'ts');
    assert.equal(apply('old\n'), 'one\ntwo\n');
    assert.equal(apply('old'), 'one\ntwo');
    assert.equal(apply(undefined), 'one\ntwo\n');
    assert.equal(codeChange('', '').in('old\n'), '');
  });

  it('replaces the selection, whole lines by whole lines', () => {
    const { in: apply } = codeChange('b', 'ts');
    assert.equal(apply('a x c\n', { start: 2, end: 3 }), 'a b c\n');
    assert.equal(apply('a\nx\nc\n', { start: 2, end: 4 }), 'a\nb\nc\n');
  });

  describe('as a patch', () => {
    const FILE = 'one\ntwo\nthree\nfour\nfive\nsix\nseven\n';
    const patch = (...hunks: string[]): string => `--- a/src/a.ts\n+++ b/src/a.ts\n${hunks.join('\n')}`;
    const first = '@@ -1,3 +1,3 @@\n one\n-two\n+zwei\n three';
    const second = '@@ -5,3 +5,4 @@\n five\n-six\n+sechs\n+und\n seven';

    it('names its file, and changes the lines that it contains', () => {
      const change = codeChange(patch(first, second), 'diff');
      assert.deepEqual([...change.paths], ['src/a.ts', 'b/src/a.ts']);
      assert.equal(change.in(FILE), 'one\nzwei\nthree\nfour\nfive\nsechs\nund\nseven\n');
    });

    it('ignores line numbers and counts', () => {
      const moved = first.replace('-1,3 +1,3', '-90,1 +80,9');
      assert.equal(codeChange(patch(moved), '').in(`zero\n${FILE}`), `zero\n${FILE.replace('two', 'zwei')}`);
      assert.equal(codeChange(first.replace(/^@@.*/, '@@ at the top'), 'diff').in(FILE), FILE.replace('two', 'zwei'));
    });

    it('keeps a missing final line break', () => {
      assert.equal(codeChange(patch(second), '').in(FILE.trimEnd())?.endsWith('und\nseven'), true);
    });

    it('does not apply if its lines are missing, ambiguous or in another order', () => {
      assert.equal(codeChange(patch(first), '').in(FILE.replace('one', '1')), undefined);
      assert.equal(codeChange(patch(first), '').in(`${FILE}${FILE}`), undefined);
      assert.equal(codeChange(patch(second, first), '').in(FILE), undefined);
      // A part of a line isn't a line.
      assert.equal(codeChange(patch('@@ -1 +1 @@\n-one\n+1'), '').in('none\n'), undefined);
      assert.equal(codeChange(patch('@@ -0,0 +1 @@\n+zero'), '').in(FILE), undefined);
    });

    it('creates a file, but neither deletes nor moves one', () => {
      const added = codeChange('--- /dev/null\n+++ b/new.ts\n@@ -0,0 +1,2 @@\n+one\n+two', 'diff');
      assert.equal(added.in(undefined), 'one\ntwo\n');
      assert.equal(added.in('one\n'), undefined);
      const lines = '@@ -1,2 +0,0 @@\n-one\n-two';
      assert.equal(codeChange(`--- a/a.ts\n+++ /dev/null\n${lines}`, 'diff').in('one\ntwo\n'), undefined);
      const moved = `diff --git a/a.ts b/b.ts\nrename from a.ts\nrename to b.ts\n${patch(first)}`;
      assert.equal(codeChange(moved, 'diff').in(FILE), undefined);
    });

    it('does not apply if it covers several files or is invalid', () => {
      assert.equal(codeChange(`${patch(first)}\n--- a/b.ts\n+++ b/b.ts\n${second}`, '').in(FILE), undefined);
      assert.equal(codeChange('- two\n+ zwei', 'diff').in(FILE), undefined);
      assert.equal(codeChange('', 'patch').in(FILE), undefined);
    });

    it('is handled in bounded time at any length', () => {
      const many = Array.from({ length: 20_000 }, (_, index) => `@@ -1 +1 @@\n-a${index}\n+b`);
      assert.equal(codeChange(patch(...many), '').in('aaaa\n'.repeat(200_000)), undefined);
      assert.equal(
        codeChange(patch(`@@ -1 +1 @@\n-${'a'.repeat(500_000)}b\n+c`), '').in('a'.repeat(4_000_000)),
        undefined,
      );
      assert.equal(codeChange(`${'- '.repeat(500_000)}`, 'diff').in('a'), undefined);
    });
  });
});
