// What an agent is told of changes for a commit message, and what is taken of its answer.
import { strict as assert } from 'node:assert';
import { commitMessageOf, commitPrompt, withTrailer } from '../../../../src/client/changes/commitMessage';

const file = (name: string, lines: number): string =>
  `diff --git a/${name} b/${name}\n--- a/${name}\n+++ b/${name}\n${`+${name}\n`.repeat(lines)}`;

describe('the prompt for a commit message', () => {
  it('has the changes, the new files and the style of the last commits', () => {
    const prompt = commitPrompt({ diff: file('a', 2), newFiles: ['b'], subjects: ['Add c', 'Mend d'] });
    assert.match(prompt, /- Add c\n- Mend d\n/);
    assert.match(prompt, /New files:\nb\n/);
    assert.ok(prompt.endsWith(file('a', 2)));
  });

  it('is bounded, and has the first lines of each of the files', () => {
    const files = Array.from({ length: 50 }, (_, index) => file(`file${index}`, index === 7 ? 3 : 5_000));
    const prompt = commitPrompt({ diff: files.join(''), subjects: ['x'.repeat(10_000)] });
    assert.ok(prompt.length < 64_000, String(prompt.length));
    for (const index of files.keys()) assert.ok(prompt.includes(`+++ b/file${index}\n+file${index}\n`));
    assert.ok(prompt.includes(file('file7', 3)), 'a short one is whole');
    assert.equal(prompt.split('[cut]').length - 1, 49);
  });

  it('names files without their lines where there are very many', () => {
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
  it('is what stands in a fence or in quotes, or all', () => {
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

  it('is one line where that is asked for, bounded, and has nothing that no editor shows', () => {
    assert.equal(commitMessageOf('Add a\n\nIt was missing.', true), 'Add a');
    assert.equal(commitMessageOf('x'.repeat(50_000)).length, 10_000);
    assert.equal(commitMessageOf('Add\u202e\u0000\u001b[31m a\tb'), 'Add[31m a b');
    assert.equal(commitMessageOf(' \n '), '');
  });
});

describe('the trailer of a commit message', () => {
  const trailed = (message: string, template = 'Assisted-by: {agent}'): string =>
    withTrailer(message, template, 'Claude\n$&');

  it('is a paragraph of its own, or stands with other trailers', () => {
    assert.equal(trailed('Mend a\n'), 'Mend a\n\nAssisted-by: Claude $&');
    assert.equal(trailed('Mend a\n\nRefs: #1'), 'Mend a\n\nRefs: #1\nAssisted-by: Claude $&');
    assert.equal(trailed('feat: a'), 'feat: a\n\nAssisted-by: Claude $&');
  });

  it('is not added twice, nor where none is wanted', () => {
    assert.equal(trailed(trailed('Mend a')), trailed('Mend a'));
    assert.equal(trailed('Mend a', ' '), 'Mend a');
  });
});
