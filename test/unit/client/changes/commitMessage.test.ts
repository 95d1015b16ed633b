// Prompts for commit messages, and how answers are parsed.

import { strict as assert } from 'node:assert';
import { join } from 'node:path';
import type { FileChange, FileVersion } from '../../../../src/changes/model/fileChange';
import { commitMessageOf, commitPrompt, turnPatch, withTrailer } from '../../../../src/client/changes/commitMessage';

const file = (name: string, lines: number): string =>
  `diff --git a/${name} b/${name}\n--- a/${name}\n+++ b/${name}\n${`+${name}\n`.repeat(lines)}`;

describe('the prompt for a commit message', () => {
  it('contains the changes, the new files and recent commit subjects', () => {
    const prompt = commitPrompt({ diff: file('a', 2), newFiles: ['b'], subjects: ['Add c', 'Mend d'] });
    assert.match(prompt, /- Add c\n- Mend d\n/);
    assert.match(prompt, /New files:\nb\n/);
    assert.ok(prompt.endsWith(file('a', 2)));
  });

  it('is bounded and contains the first lines of each file', () => {
    const files = Array.from({ length: 50 }, (_, index) => file(`file${index}`, index === 7 ? 3 : 5_000));
    const prompt = commitPrompt({ diff: files.join(''), subjects: ['x'.repeat(10_000)] });
    assert.ok(prompt.length < 64_000, String(prompt.length));
    for (const index of files.keys()) assert.ok(prompt.includes(`+++ b/file${index}\n+file${index}\n`));
    assert.ok(prompt.includes(file('file7', 3)), 'a short one is whole');
    assert.equal(prompt.split('[cut]').length - 1, 49);
  });

  it('lists files beyond the limit by name only', () => {
    const prompt = commitPrompt({
      diff: Array.from({ length: 2_000 }, (_, index) => file(`file${index}`, 100)).join(''),
      newFiles: Array.from({ length: 5_000 }, (_, index) => `new${index}`),
      subjects: [],
    });
    assert.ok(prompt.length < 90_000, String(prompt.length));
    assert.match(prompt, /diff --git a\/file99 b\/file99\n/);
    assert.match(prompt, /… and 1640 more/);
  });
});

describe('a drafted commit message', () => {
  it('is the text in a fence or in quotes, or the whole answer', () => {
    for (const answer of [
      'Add a\n\nIt was missing.',
      '```\nAdd a\n\nIt was missing.\n```',
      'Here is the message:\n\n```text\nAdd a\n\nIt was missing.\n```\n',
      '  Add a\r\n\r\nIt was missing.  ',
    ])
      assert.equal(commitMessageOf(answer), 'Add a\n\nIt was missing.');
    assert.equal(commitMessageOf('"Add a"'), 'Add a');
    assert.equal(commitMessageOf('Add a\n\n```\ncode\n```\n\nand more'), 'Add a\n\n```\ncode\n```\n\nand more');
  });

  it('is one line if requested, bounded, and without invisible characters', () => {
    assert.equal(commitMessageOf('Add a\n\nIt was missing.', true), 'Add a');
    assert.equal(commitMessageOf('x'.repeat(50_000)).length, 10_000);
    assert.equal(commitMessageOf('Add\u202e\u0000\u001b[31m a\tb'), 'Add[31m a b');
    assert.equal(commitMessageOf(' \n '), '');
  });
});

describe('the trailer of a commit message', () => {
  const trailed = (message: string, template = 'Assisted-by: {agent}'): string =>
    withTrailer(message, template, 'Claude\n$&');

  it('is a separate paragraph, or follows other trailers', () => {
    assert.equal(trailed('Mend a\n'), 'Mend a\n\nAssisted-by: Claude $&');
    assert.equal(trailed('Mend a\n\nRefs: #1'), 'Mend a\n\nRefs: #1\nAssisted-by: Claude $&');
    assert.equal(trailed('feat: a'), 'feat: a\n\nAssisted-by: Claude $&');
  });

  it('is added only once, and not if the template is empty', () => {
    assert.equal(trailed(trailed('Mend a')), trailed('Mend a'));
    assert.equal(trailed('Mend a', ' '), 'Mend a');
  });
});

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

  it('contains the lines of changed, new, deleted and renamed files', async () => {
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

  it('is bounded and contains lines of each file', async () => {
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
