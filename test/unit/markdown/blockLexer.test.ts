// Markdown blocks: the CommonMark and GFM that a chat needs, without HTML and definitions.
import assert from 'node:assert/strict';
import { lexBlocks } from '../../../src/markdown/blockLexer';
import type { Block } from '../../../src/markdown/blocks';

function brief(block: Block): string {
  switch (block.type) {
    case 'space':
      return '';
    case 'rule':
      return 'hr';
    case 'paragraph':
      return `p(${block.text})`;
    case 'heading':
      return `h${block.depth}(${block.text})`;
    case 'code':
      return `code${block.lang && `:${block.lang}`}(${block.text})`;
    case 'math':
      return `math${block.isOpen ? '…' : ''}(${block.source})`;
    case 'quote':
      return `${block.alert ?? 'quote'}[${all(block.blocks)}]`;
    case 'note':
      return `note:${block.label}[${all(block.blocks)}]`;
    case 'fold':
      return `fold${block.isOpen ? '!' : ''}(${block.summary})`;
    case 'foldEnd':
      return 'foldEnd';
    case 'list': {
      const items = block.items.map(({ blocks, checked, loose }) => {
        const box = checked === undefined ? '' : checked ? '[x] ' : '[ ] ';
        return `${loose ? '~' : ''}${box}${all(blocks)}`;
      });
      return `${block.ordered ? `ol${block.start}` : 'ul'}[${items.join('|')}]`;
    }
    case 'table':
      return `table(${[block.head, block.align, ...block.rows].map((row) => row.join(',')).join(';')})`;
  }
}

function all(blocks: readonly Block[]): string {
  return blocks
    .map(brief)
    .filter((one) => one !== '')
    .join(' ');
}

const CASES: readonly (readonly [source: string, blocks: string])[] = [
  ['a\nb\n\nc', 'p(a\nb) p(c)'],
  ['# a #\n## b\n#c', 'h1(a) h2(b) p(#c)'],
  ['a\n===\nb\n---', 'h1(a) h2(b)'],
  ['---\n***\n_ _ _', 'hr hr hr'],
  ['```ts x\na\n\n  b\n```\nc', 'code:ts(a\n\n  b) p(c)'],
  ['~~~\n```\n~~~', 'code(```)'],
  ['    a\n\n    b\nc', 'code(a\n\nb) p(c)'],
  ['a\n    b', 'p(a\nb)'],
  ['> a\nb\n> - c', 'quote[p(a\nb) ul[p(c)]]'],
  ['- a\n- b\n  - c\n* d', 'ul[p(a)|p(b) ul[p(c)]] ul[p(d)]'],
  ['3. a\n4. b\n\n5) c', 'ol3[p(a)|p(b)] ol5[p(c)]'],
  ['- a\n\n- b\n\n  c', 'ul[~p(a)|~p(b) p(c)]'],
  ['- [ ] a\n- [x] b\n- [y] c', 'ul[[ ] p(a)|[x] p(b)|p([y] c)]'],
  ['- ```\n  a\n  ```\n- b', 'ul[code(a)|p(b)]'],
  ['a\n2. b', 'p(a\n2. b)'],
  ['| a | b |\n| :-- | --: |\n| c | d\\|e |\n| f |\n\ng', 'table(a,b;left,right;c,d|e;f) p(g)'],
  ['text\na | b\n-|-\nc | d', 'p(text) table(a,b;,;c,d)'],
  ['| a |\n| - | - |', 'p(| a |\n| - | - |)'],
  ['<div>\n<b>a</b>\n</div>', 'p(<div>\n<b>a</b>\n</div>)'],
  ['[a]: http://b', 'p([a]: http://b)'],
  ['-\ta\n\n\tb', 'ul[~p(a) p(b)]'],
  ['> [!NOTE]\n> a\n> b', 'note[p(a\nb)]'],
  ['> [!warning]\n>\n> - a', 'warning[ul[p(a)]]'],
  ['> [!NOTE] a', 'quote[p([!NOTE] a)]'],
  ['> [!OTHER]\n> a', 'quote[p([!OTHER]\na)]'],
  ['[!NOTE]\na', 'p([!NOTE]\na)'],
  ['a\n[^1]: b\n    c\n\n    d\n[^x-y]: e\nf\n\ng', 'p(a) note:1[p(b\nc) p(d)] note:x-y[p(e\nf)] p(g)'],
  ['[^1]: - a\n    - b', 'note:1[ul[p(a)|p(b)]]'],
  ['> [^1]: a', 'quote[p([^1]: a)]'],
  ['[^a b]: c', 'p([^a b]: c)'],
  ['<details>\n<summary>a</summary>\n\nb\n\n</details>\nc', 'fold(a) p(b) foldEnd p(c)'],
  ['a\n<details open><summary>b</summary>\nc\n</details>', 'p(a) fold!(b) p(c) foldEnd'],
  ['<details>\n\na\n</details>', 'fold() p(a) foldEnd'],
  ['<details class="x">\na', 'p(<details class="x">\na)'],
  ['- <details>\n  a', 'ul[p(<details>\na)]'],
  ['a\n$$\nb\n- c\n$$\nd', 'p(a) math($$\nb\n- c\n$$) p(d)'],
  ['$$ a $$\n\\[ b_1 \\]  \nc', 'math($$ a $$) math(\\[ b_1 \\]) p(c)'],
  ['\\[\na = b \\\\[2pt]\nc\n\\]', 'math(\\[\na = b \\\\[2pt]\nc\n\\])'],
  ['- a\n  $$\n  b\n  $$\n- c', 'ul[p(a) math($$\nb\n$$)|p(c)]'],
  ['> $$\n> a\n> $$', 'quote[math($$\na\n$$)]'],
  ['a\n\n$$\nb', 'p(a) math…($$\nb)'],
  ['$$\na\n\n- b', 'p($$\na) ul[p(b)]'],
  ['$$ is the process\n- b', 'p($$ is the process) ul[p(b)]'],
  ['$$ a $$ and b', 'p($$ a $$ and b)'],
  ['\\[not a link\\]', 'p(\\[not a link\\])'],
  ['\\[my_var\\]', 'p(\\[my_var\\])'],
  ['\\[a]: b\n- c', 'p(\\[a]: b) ul[p(c)]'],
  ['- $$\n  a\nb\n$$', 'ul[p($$\na\nb)] math…($$)'],
  ['- $$\n  a\n# b\n  $$', 'ul[p($$\na)] h1(b) math…($$)'],
  ['> $$\n> a \\[\n> $$', 'quote[math($$\na \\[\n$$)]'],
  ['- ```math\n  a\nb\n  ```', 'ul[code:math(a)] p(b) code()'],
  ['    $$\n    a', 'code($$\na)'],
  ['a\n``` math\nb\n\n- c\n```\nd', 'p(a) math(``` math\nb\n\n- c\n```) p(d)'],
  ['~~~~math\na\n~~~\n~~~~~ \nb', 'math(~~~~math\na\n~~~\n~~~~~) p(b)'],
  ['- ```math\n  a\n  ```\n- b', 'ul[math(```math\na\n```)|p(b)]'],
  ['```math\na', 'math…(```math\na)'],
  ['```math', 'code:math()'],
  ['```mathematica\na\n```', 'code:mathematica(a)'],
  ['```math\n```', 'math(```math\n```)'],
  [`\`\`\`math\n${'a\n'.repeat(2_100)}\`\`\`\n\nb`, `code:math(${'a\n'.repeat(2_100).trim()}) p(b)`],
  [`$$\n${'a\n'.repeat(2_100)}$$\n\nb`, `p($$\n${'a\n'.repeat(2_100)}$$) p(b)`],
];

describe('blockLexer', () => {
  for (const [source, blocks] of CASES) {
    it(`reads ${JSON.stringify(source)}`, () => {
      assert.equal(all(lexBlocks(source)), blocks);
    });
  }

  it('reads the file name of a code block after its language', () => {
    const titleOf = (info: string): unknown => {
      const [block] = lexBlocks(`\`\`\`${info}\nx\n\`\`\``);
      return block?.type === 'code' ? [block.lang, block.fence?.title] : block;
    };
    assert.deepEqual(titleOf('ts title="src/a b.ts"'), ['ts', 'src/a b.ts']);
    assert.deepEqual(titleOf("ts {1,3} title='a.ts'"), ['ts', 'a.ts']);
    assert.deepEqual(titleOf('ts subtitle="a.ts"'), ['ts', undefined]);
    assert.deepEqual(titleOf('ts title=""'), ['ts', undefined]);
    assert.deepEqual(titleOf('ts file=src/a.ts'), ['ts', 'src/a.ts']);
    for (const info of ['ts src/a.ts', 'ts:src/a.ts', 'src/a.ts']) assert.deepEqual(titleOf(info), ['ts', 'src/a.ts']);
    assert.deepEqual(titleOf('ts main.ts'), ['ts', 'main.ts']);
    for (const info of ['asp.net', 'python 3.12', 'js {1,3}', 'sh $ npm', 'ts the words.'])
      assert.deepEqual(titleOf(info), [info.split(' ')[0], undefined], info);
  });

  it('reads a line that continues a paragraph as text, whatever it looks like', () => {
    assert.equal(all(lexBlocks('# a\n# b', { continued: true })), 'p(# a) h1(b)');
    assert.equal(all(lexBlocks('- a\n\n- b', { continued: true })), 'p(- a) ul[p(b)]');
  });

  it('returns blocks that add up to the source', () => {
    for (const [source] of CASES)
      assert.equal(
        lexBlocks(source)
          .map(({ raw }) => raw)
          .join(''),
        source,
      );
  });

  it('nests quotes and lists up to a limit, and returns the rest as text', () => {
    const depth = (blocks: readonly Block[]): number =>
      Math.max(
        0,
        ...blocks.map((block) => {
          if (block.type === 'quote' || block.type === 'note') return 1 + depth(block.blocks);
          return block.type === 'list' ? 1 + Math.max(...block.items.map((item) => depth(item.blocks))) : 0;
        }),
      );
    for (const mark of ['> ', '>', '- ', '1. ', '> - ', '[^1]: ', '[^1]: > ']) {
      const blocks = lexBlocks(`${mark.repeat(2_000)}end`);
      assert.ok(depth(blocks) <= 12, mark);
      assert.match(all(blocks), /end\)/);
    }
  });
});
