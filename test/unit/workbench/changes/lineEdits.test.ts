// Line edits between two texts: exact, few, and only of changed lines.
import { strict as assert } from 'node:assert';
import { lineEdits } from '../../../../src/workbench/changes/documents/lineEdits';

function edited(before: string, after: string): string {
  return lineEdits(before, after).reduceRight(
    (text, edit) => text.slice(0, edit.start) + edit.text + text.slice(edit.end),
    before,
  );
}

describe('line edits', () => {
  it('replace each changed block separately and leave the lines in between', () => {
    const edits = lineEdits('a\nb\nc\nd\ne\n', 'A\nb\nc\nd\nE\nf\n');
    assert.deepEqual(edits, [
      { start: 0, end: 2, text: 'A\n' },
      { start: 8, end: 10, text: 'E\nf\n' },
    ]);
  });

  it('are empty for equal texts', () => {
    assert.deepEqual(lineEdits('a\r\nb', 'a\r\nb'), []);
  });

  it('produce the exact text: empty, without final newline, with CRLF, with surrogate pairs', () => {
    const texts = ['', 'a', 'a\n', 'a\r\nb\r\n', 'a\r\nb', '\n\n\n', '😀\nb\n😀', 'b\n😁\nb', 'x\ny\nz\nx\ny\n'];
    for (const before of texts) for (const after of texts) assert.equal(edited(before, after), after);
  });

  it('produce the exact text for many random changes', () => {
    let seed = 7;
    const random = (most: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return seed % most;
    };
    for (let round = 0; round < 200; round++) {
      const lines = Array.from({ length: random(40) }, () => `${random(6)}\n`);
      const other = lines.flatMap((line) => (random(4) === 0 ? [] : random(4) === 0 ? [line, 'new\n'] : [line]));
      assert.equal(edited(lines.join(''), other.join('')), other.join(''));
    }
  });

  it('are a single edit if the texts are too long to compare', () => {
    const before = 'a\n'.repeat(30_000);
    assert.equal(lineEdits(before, `x\n${before}y\n`).length, 1);
  });
});
