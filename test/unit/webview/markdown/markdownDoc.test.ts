// Splitting a growing text into pieces that are drawn independently.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { MarkdownDoc, type Piece, sizeOf } from '../../../../src/webview/markdown/markdownDoc';
import { seeds } from '../../../support/tier';

const FRAGMENTS = [
  'a',
  'b c',
  ' ',
  '  ',
  '    ',
  '\n',
  '\n\n',
  '\t',
  '- ',
  '* ',
  '+ ',
  '1. ',
  '2) ',
  '10. ',
  '> ',
  '# ',
  '```',
  '```js\n',
  '~~~',
  '\n```\n',
  '|',
  '|-|-|',
  '-|-',
  '---',
  '===',
  '**',
  '`',
  '[x](y)',
  '[ ] ',
  '<div>',
  '&amp;',
  '\n<details>\n<summary>x</summary>\n',
  '\n</details>\n',
  '<kbd>',
  '</kbd>',
  '[^1]',
  '\n[^1]: ',
  '> [!NOTE]\n',
  '\\',
  '\r\n',
  '\n- x\n- y',
  '\n| a | b |\n|---|---|\n| 1 | 2 |\n',
  '\n```ts\ncode\n\ncode\n```\n',
  '$',
  '$$',
  '\n$$\n',
  '\n$$\na = b\n$$\n',
  '\\[',
  '\\]\n',
  '\\(x\\)',
  '\n```math\n',
  '\n```\n',
];
const LINES = [
  '- item some text here\n',
  '  - nested item text\n',
  '    - deeper\n',
  '> quoted line of text\n',
  'words and more words ',
  'a line\n',
  '\n',
  '| a | b |\n',
  '|---|---|\n',
  '    code line\n',
  '```\n',
  '`code` and **bold** text ',
  '<details>\n',
  '</details>\n',
  '[^1]: note\n',
  '$$\n',
  '```math\n',
  '$$ x = y $$\n',
  'a formula $x_1$ in words ',
];

/** Returns all pieces, with groups numbered in order. */
function pieces(parts: readonly string[]): readonly Piece[] {
  const doc = new MarkdownDoc();
  for (const part of parts) doc.append(part);
  doc.settle();
  const groups = new Map<number, number>();
  const number = (group: number): number => {
    if (!groups.has(group)) groups.set(group, groups.size);
    return groups.get(group)!;
  };
  const all = [...doc.segments.flatMap((segment) => segment.pieces), ...doc.open];
  return all.map((piece) => ('group' in piece ? { ...piece, group: number(piece.group) } : piece));
}

function cut(text: string, size: number): string[] {
  const parts = [];
  for (let at = 0; at < text.length; at += size) parts.push(text.slice(at, at + size));
  return parts;
}

describe('webview/markdownDoc', () => {
  it('splits a text into the same pieces regardless of the chunks in which it arrives', () => {
    const text = fc.array(fc.constantFrom(...FRAGMENTS), { minLength: 1, maxLength: 40 }).map((all) => all.join(''));
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 60 }), (whole, size) => {
        assert.deepEqual(pieces(cut(whole, size)), pieces([whole]));
      }),
      { numRuns: seeds(200, 3_000) },
    );
  });

  it('splits long lists, quotes, tables, paragraphs and code the same way', () => {
    const text = fc
      .array(fc.tuple(fc.constantFrom(...LINES), fc.integer({ min: 1, max: 500 })), { minLength: 1, maxLength: 5 })
      .map((all) => all.map(([line, count]) => line.repeat(count)).join('\n'));
    fc.assert(
      fc.property(text, fc.integer({ min: 20, max: 3_000 }), (whole, size) => {
        assert.deepEqual(pieces(cut(whole, size)), pieces([whole]));
      }),
      { numRuns: seeds(8, 60) },
    );
  });

  it('never changes a closed piece', () => {
    const doc = new MarkdownDoc();
    let previous: Piece[] = [];
    for (const part of cut(
      `# A\n\n- one\n- two\n\n| a |\n|---|\n| 1 |\n\n${'```\ncode\n```\n'.repeat(5)}end\n\nend`,
      3,
    )) {
      doc.append(part);
      const closed = doc.segments.flatMap((segment) => segment.pieces);
      previous.forEach((piece, index) => {
        assert.equal(closed[index], piece);
      });
      previous = closed;
    }
    assert.ok(previous.length > 8);
  });

  it('keeps the open end short for any text', () => {
    for (const line of LINES) {
      const doc = new MarkdownDoc();
      for (let count = 0; count < seeds(1_000, 4_000); count++) doc.append(line);
      const open = doc.open.reduce((sum, piece) => sum + sizeOf(piece), 0);
      assert.ok(open < 20_000, JSON.stringify(line));
    }
  });

  it('returns few code blocks and tables at a time, as each has its own header', () => {
    for (const text of ['```\n```\n'.repeat(1000), '|a|\n|-|\n\n'.repeat(1000)]) {
      const doc = new MarkdownDoc();
      doc.append(text);
      doc.settle();
      assert.ok(Math.max(...doc.segments.map(({ pieces }) => pieces.length)) <= 20, text.slice(0, 10));
    }
  });
});
