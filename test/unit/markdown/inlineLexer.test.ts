// Markdown spans within a block.
import assert from 'node:assert/strict';
import { createBudget, lexInline, type Span } from '../../../src/markdown/inlineLexer';

function brief(spans: readonly Span[]): string {
  return spans
    .map((span) => {
      if (typeof span === 'string') return span;
      switch (span.type) {
        case 'break':
          return '<br>';
        case 'code':
          return `<code ${span.text}>`;
        case 'math':
          return `<math ${span.source}>`;
        case 'link':
          return `<link ${span.href} ${brief(span.spans)}>`;
        case 'note':
          return `<note ${span.label}>`;
        case 'tag':
          return `<${span.tag} ${brief(span.spans)}>`;
        case 'image':
          return `<image ${span.href} ${span.alt}>`;
        default:
          return `<${span.type} ${brief(span.spans)}>`;
      }
    })
    .join('');
}

const VARIABLES = `$HOME/$USER $\{a}$\{b} $foo=$bar $i++,$j`;

const CASES: readonly (readonly [text: string, spans: string])[] = [
  ['a *b* **c** ***d*** _e_', 'a <em b> <strong c> <em <strong d>> <em e>'],
  ['<kbd>Ctrl</kbd>+<KBD>c</KBD> H<sub>2</sub>O', '<kbd Ctrl>+<kbd c> H<sub 2>O'],
  ['<b>a *b* <i>c</i></b> <mark>[d](e)</mark>', '<b a <em b> <i c>> <mark <link e d>>'],
  ['a<br>b<br/>c<br />d', 'a<br>b<br>c<br>d'],
  ['<kbd>a <sub>b</kbd> c</sub>', '<kbd a <sub>b> c</sub>'],
  ['*a <kbd>b* c</kbd>', '*a <kbd b* c>'],
  ['[a <kbd>b](c) d</kbd>', '<link c a <kbd>b> d</kbd>'],
  ['<kbd>[a</kbd>](b)', '<kbd [a>](b)'],
  ['</kbd> <kbd> <b onclick="x">a</b> <script>', '</kbd> <kbd> <b onclick="x">a</b> <script>'],
  ['a[^1] b[^x-y] [^a b] [^1](c)', 'a<note 1> b<note x-y> [^a b] <link c ^1>'],
  ['a_b_c and **a**b', 'a_b_c and <strong a>b'],
  ['*a **b* c**', '<em a <em <em b> c>>'],
  ['~~a~~ ~b~ ~~~c~~~ HEAD~3..HEAD~1', '<del a> ~b~ ~~~c~~~ HEAD~3..HEAD~1'],
  ['**「太字」**です。これは**重要！**です', '<strong 「太字」>です。これは<strong 重要！>です'],
  ['`a` `` b`c `` `d', '<code a> <code b`c> `d'],
  ['*a`*`', '*a<code *>'],
  ['\\*a\\* \\a', '*a* \\a'],
  ['a\\\nb  \nc\nd', 'a<br>b<br>c\nd'],
  ['[a *b*](c "d") ![e](f)', '<link c a <em b>> <image f e>'],
  ['[a](<b c>) [d]() [e](f(g)h)', '<link b c a> <link  d> <link f(g)h e>'],
  ['[a [b](c) d](e)', '[a <link c b> d](e)'],
  ['[![a](b)](c)', '<link c <image b a>>'],
  ['[a] [b][c] [d](e f)', '[a] [b][c] [d](e f)'],
  ['<http://a.b> <a@b.c> <b> <p/>', '<link http://a.b http://a.b> <link mailto:a@b.c a@b.c> <b> <p/>'],
  [
    'see https://a.b/c_d?e=f&g. (www.h.i)',
    'see <link https://a.b/c_d?e=f&g https://a.b/c_d?e=f&g>. (<link http://www.h.i www.h.i>)',
  ],
  ['*https://a.b* xhttps://a.b', '<em <link https://a.b https://a.b>> xhttps://a.b'],
  ['&amp; &#65; &nope; a & b', '& A &nope; a & b'],
  ['[a](javascript:b)', '<link javascript:b a>'],
  ['Let $x$ and $a_1*b_2*c$.', 'Let <math $x$> and <math $a_1*b_2*c$>.'],
  ['costs $5 and $6', 'costs $5 and $6'],
  ['from $5–$10, US$5 or A$5/$ 3', 'from $5–$10, US$5 or A$5/$ 3'],
  ['$ x$ $x $ $x$1 \\$x$ $$', '$ x$ $x $ $x$1 $x$ $$'],
  ['$a\\$b$ $\\text{a b}$ ($n$th) 设$x$为', '<math $a\\$b$> <math $\\text{a b}$> (<math $n$>th) 设<math $x$>为'],
  [VARIABLES, VARIABLES],
  ['pay $five hundred and more$ now', 'pay $five hundred and more$ now'],
  ['`$x$` $`x`$', '<code $x$> $<code x>$'],
  ['so $$x^2$$ and $$ y = 1 $$, not $$ or $$', 'so <math $$x^2$$> and <math $$ y = 1 $$>, not $$ or $$'],
  [
    '\\(x\\) \\(a + b\\) \\(\\frac12\\) \\[x_1\\]',
    '<math \\(x\\)> <math \\(a + b\\)> <math \\(\\frac12\\)> <math \\[x_1\\]>',
  ],
  ['\\(not TeX\\) \\(\\d+\\) \\(a|b\\) \\(', '(not TeX) (\\d+) (a|b) ('],
  ['*a $x*y$ b* [$z$](c)', '<em a <math $x*y$> b> <link c <math $z$>>'],
];

describe('inlineLexer', () => {
  for (const [text, spans] of CASES) {
    it(`reads ${JSON.stringify(text)}`, () => {
      assert.equal(brief(lexInline(text)), spans);
    });
  }

  it('returns no more spans than its budget, and the rest as text', () => {
    const text = lexInline('*a* '.repeat(20), { ...createBudget(), spans: 3 });
    assert.equal(brief(text), `<em a> <em a> <em a> ${'*a* '.repeat(17)}`);
  });

  it('returns plain text once its steps are used up', () => {
    assert.equal(brief(lexInline('*a* *b*', { ...createBudget(), steps: 2 })).replace(/[<>]|em /g, ''), '*a* *b*');
  });
});
