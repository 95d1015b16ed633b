// The changes of a turn as a patch for another agent.
import { strict as assert } from 'node:assert';
import { join } from 'node:path';
import type { FileChange, FileVersion } from '../../../../src/changes/model/fileChange';
import { turnPatch } from '../../../../src/client/changes/commitMessage';

const CWD = process.platform === 'win32' ? 'C:\\work' : '/work';
const at = (name: string): string => join(CWD, name);
const texts = new Map<string, string>();
const reads: string[] = [];
const states = {
  read: async (_root: string, { oid }: FileVersion) => {
    reads.push(oid);
    return Buffer.from(texts.get(oid) ?? '');
  },
};

function version(oid: string, text: string, size = text.length): FileVersion {
  texts.set(oid, text);
  return { oid, mode: '100644', size };
}

function change(path: string, more: Partial<FileChange>): FileChange {
  return { root: CWD, path, added: 0, removed: 0, ...more };
}

describe('the patch of a turn', () => {
  beforeEach(() => reads.splice(0));

  it('has the lines of changed, new, deleted and renamed files', async () => {
    const lines = ['one', 'two', 'three', 'four', 'five', 'six'];
    const patch = await turnPatch(
      [
        change('a.txt', {
          before: version('1', `${lines.join('\n')}\n`),
          after: version('2', `${lines.join('\n').replace('five', 'FIVE')}\n`),
        }),
        change('new.txt', { after: version('3', 'new\n') }),
        change('old.txt', { before: version('4', 'old\n') }),
        change('to.txt', { oldPath: 'from.txt', before: version('5', 'x\n'), after: version('6', 'x\n') }),
      ],
      states,
    );
    assert.equal(
      patch,
      [
        `diff --git ${at('a.txt')} ${at('a.txt')}\n@@ -2 +2 @@\n two\n three\n four\n-five\n+FIVE\n six\n`,
        `diff --git /dev/null ${at('new.txt')}\n@@ -1 +1 @@\n+new\n`,
        `diff --git ${at('old.txt')} /dev/null\n@@ -1 +1 @@\n-old\n`,
        `diff --git ${at('from.txt')} ${at('to.txt')}\n`,
      ].join(''),
    );
  });

  it('names binary and large files without reading them', async () => {
    const large = version('7', '', 50 * 1024 * 1024);
    const patch = await turnPatch(
      [
        change('logo.png', { isBinary: true, after: version('8', 'x') }),
        change('large.txt', { before: large, after: large }),
      ],
      states,
    );
    assert.deepEqual(reads, []);
    assert.ok(patch.includes(` ${at('logo.png')}\n[cut]\n`));
    assert.ok(patch.includes(` ${at('large.txt')}\n[cut]\n`));
  });

  it('is bounded, with lines of each file', async () => {
    const files = Array.from({ length: 100 }, (_, index) =>
      change(`f${index}.txt`, { after: version(`n${index}`, 'a long line of text\n'.repeat(1_000)) }),
    );
    const patch = await turnPatch(files, states);
    assert.ok(patch.length < 70_000, String(patch.length));
    assert.ok(patch.includes(` ${at('f59.txt')}\n@@`));
    assert.ok(patch.includes(`diff --git /dev/null ${at('f99.txt')}`));
    assert.equal(reads.length, 60);
  });
});
