// Converting untrusted TeX to known elements.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { type MathElement, readFormula } from '../../../src/markdown/formula';

function brief(node: MathElement | string): string {
  return typeof node === 'string' ? node : `${node.tag}(${node.children.map(brief).join(' ')})`;
}

function drawn(tex: string, marks = '$'): MathElement {
  const formula = readFormula(`${marks}${tex}${marks}`);
  assert.ok('math' in formula, `${tex}: ${JSON.stringify(formula)}`);
  return formula.math;
}

function all(node: MathElement): readonly MathElement[] {
  return [node, ...node.children.flatMap((child) => (typeof child === 'string' ? [] : all(child)))];
}

const WRITTEN: readonly string[] = [
  'e^{i\\pi} + 1 = 0',
  '\\int_0^\\infty e^{-x^2}\\,dx = \\frac{\\sqrt{\\pi}}{2}',
  '\\sum_{n=1}^{N} \\left( \\frac{a_n}{b_n} \\right)^2 \\leq \\prod_k c_k',
  '\\begin{pmatrix} a & b \\\\ c & d \\end{pmatrix} \\begin{bmatrix} 1 \\\\ 0 \\end{bmatrix}',
  '\\begin{aligned} a &= b + c \\\\ &\\approx d \\quad \\text{for } x > 0 \\end{aligned}',
  '\\begin{align} a &= b \\tag{1} \\\\ c &= d \\end{align}',
  'f(x) = \\begin{cases} 1 & \\text{if } x \\geq 0 \\\\ 0 & \\text{otherwise} \\end{cases}',
  '\\begin{array}{c|c} a & b \\\\ \\hline c & d \\end{array}',
  '\\mathbb{R}^n \\to \\mathcal{L}, \\mathbf{v} \\cdot \\hat{u} \\times \\vec{w} \\otimes \\overline{z}',
  '\\operatorname{softmax}(x)_i \\propto \\exp(x_i), \\quad \\lim_{n\\to\\infty} \\log n',
  '\\underbrace{a+b}_{c} \\overset{!}{=} \\binom{n}{k} \\pmod{m} \\bigl( x \\bigr)',
  '\\boxed{x = \\frac{-b \\pm \\sqrt{b^2-4ac}}{2a}} \\cancel{y} \\color{red}{z}',
  '\\nabla \\times \\mathbf{E} = -\\frac{\\partial \\mathbf{B}}{\\partial t} \\implies \\iff \\forall \\exists',
  "f'(x) \\sqrt[3]{x} \\dots \\ldots \\cdots \\, \\; \\! \\not= \\langle \\psi | \\phi \\rangle",
];

const REFUSED: readonly string[] = [
  '\\def\\a{\\a\\a}\\a',
  '\\gdef\\a{b}\\a',
  '\\let\\a=b',
  '\\newcommand{\\a}{b}\\a',
  '\\renewcommand\\frac{b}',
  '\\includegraphics{https://example.com/a.png}',
  '\\href{https://example.com}{a}',
  '\\class{a}{b}',
  '\\style{position:fixed}{a}',
  '\\id{a}{b}',
  '\\data{a=b}{c}',
  '\\ref{a}',
  '\\llap{a}',
  '\\df@tag',
  '\\cancelto{0}{x}',
  '\\label{a}',
  '\\eqref{a}',
  '\\rlap{a}',
  '\\mathclap{a}',
  '\\reflectbox{a}',
  '\\begin{CD} A @>a>> B \\\\ @VVbV @AAcA \\\\ C @= D \\end{CD}',
  '\\begin\n{CD} A @>a>> B \\end{CD}',
  '\\begin{align} a \\label{x} \\end{align}',
];

const REFUSED_INDIRECTLY: readonly string[] = [
  'a \\leftmodels b',
  'a \\coh b',
  '\\begin%\n{CD} A @>a>> B \\\\ @VVbV @VVcV \\\\ C @>d>> D \\end{CD}',
];

describe('formulas as MathML', () => {
  it('converts formulas that agents write', () => {
    assert.equal(brief(drawn('\\frac{a}{b}^2')), 'math(msup(mfrac(mi(a) mi(b)) mn(2)))');
    for (const tex of WRITTEN) {
      drawn(tex, '$$');
      if (!tex.includes('{align}')) drawn(tex);
    }
  });

  it('converts plain TeX matrices with and without a border', () => {
    assert.equal(
      brief(drawn('\\matrix{a & b \\cr c & d}')),
      'math(mtable(mtr(mtd(mi(a)) mtd(mi(b))) mtr(mtd(mi(c)) mtd(mi(d)))))',
    );
    const matrix = brief(drawn('\\bordermatrix[{[]}]{ & 1 & 2 \\cr 3 & a & b \\cr 4 & c & d }', '$$'));
    for (const part of ['mo([)', 'mo(])', 'mtr(mtd(mi(a)) mtd(mi(b)))', 'mtr(mtd(mi(c)) mtd(mi(d)))'])
      assert.ok(matrix.includes(part), matrix);
  });

  it('converts accented letters to a letter below an accent, and keeps them in text', () => {
    assert.equal(brief(drawn('\u00e9')), 'math(mover(mi(e) mo(\u00b4)))');
    assert.equal(brief(drawn('\u01df')), 'math(mover(mover(mi(a) mo(\u00a8)) mo(\u203e)))');
    assert.equal(brief(drawn('\\text{\u00e9}')), 'math(mtext(\u00e9))');
  });

  it("supports LaTeX's colour names, and passes on no other text", () => {
    const colorOf = (tex: string) => all(drawn(tex)).find(({ tag }) => tag === 'mi')?.attributes.mathcolor;
    assert.equal(colorOf('\\color{Maroon}x'), '#b03434');
    assert.equal(colorOf('\\textcolor{red}{x}'), '#ff0000');
    assert.equal(colorOf('\\color{rebeccapurple}x'), 'rebeccapurple');
    assert.equal(colorOf('\\color{constructor}x'), undefined);
  });

  it('converts a displayed formula as displayed', () => {
    assert.equal(drawn('x', '$$').attributes.display, 'block');
    assert.equal(drawn('x').attributes.display, undefined);
  });

  it('rejects commands that define others, load something or create HTML', () => {
    for (const tex of [...REFUSED, ...REFUSED_INDIRECTLY])
      assert.deepEqual(readFormula(`$$${tex}$$`), { problem: { code: 'notAllowed' } }, tex);
  });

  it('reports what it could not parse', () => {
    assert.deepEqual(readFormula('$\\nocommand$'), {
      problem: { code: 'notRead', reason: 'Unsupported function name: \\nocommand' },
    });
    assert.match(JSON.stringify(readFormula('$\\frac{a$')), /notRead/);
  });

  it('limits sizes to a part of the page', () => {
    for (const tex of [
      '\\rule{9999em}{1em}',
      '\\kern{-999em}',
      '\\hspace{500mm}',
      '\\raisebox{-99em}{a}',
      '\\rule{1em}{2000px}',
      '\\Huge{\\Huge{\\Huge{a}}}',
      '\\genfrac{}{}{999pt}{}{a}{b}',
    ]) {
      const formula = readFormula(`$${tex}$`);
      if (!('math' in formula)) continue;
      for (const { attributes } of all(formula.math))
        for (const value of Object.values(attributes)) {
          const [, number, unit] = /^([-+]?[\d.]+)(em|pt|px|mm|%)?$/.exec(value) ?? [];
          const pixels = { em: 16, pt: 4 / 3, mm: 4, '%': 1 }[unit ?? ''] ?? 1;
          assert.ok(Math.abs(Number(number ?? 0)) * pixels <= 400, `${tex}: ${value}`);
        }
    }
  });

  it('preserves colours, but no other style that paints elsewhere', () => {
    const nodes = all(
      drawn('\\color{#f00}\\boxed{a} \\colorbox{red}{b} \\smash{c} \\hat{x} \\begin{array}{|c|} 1 \\end{array}'),
    );
    const styles = new Set(nodes.flatMap(({ style }) => Object.keys(style)));
    for (const name of styles)
      assert.match(name, /^(?:border|padding|fontWeight|mathDepth|textAlign|width|marginLeft)/);
    assert.ok(nodes.some(({ attributes }) => attributes.mathcolor === '#f00'));
  });

  it('makes invisible and bidirectional characters visible', () => {
    const text = brief(drawn('\\text{a\u202eb\u200bc}'));
    assert.doesNotMatch(text, /[\u202e\u200b]/);
    assert.match(text, /202E/);
  });

  it('returns a reason if TeX is too long, too deep or expands too much', () => {
    const hostile = [
      '{'.repeat(3_900),
      `${'{'.repeat(1_900)}a${'}'.repeat(1_900)}`,
      `${'\\sqrt{'.repeat(500)}a${'}'.repeat(500)}`,
      'x^{'.repeat(900),
      `${'\\pmb{'.repeat(60)}a${'}'.repeat(60)}`,
      `${'\\mathchoice{a}{a}{a}{'.repeat(60)}a${'}'.repeat(60)}`,
      `${'\\left('.repeat(300)}a${'\\right)'.repeat(300)}`,
      `\\begin{matrix}${'&'.repeat(3_900)}\\end{matrix}`,
      'a'.repeat(3_999),
      `${'\\phantom{'.repeat(100)}${'}'.repeat(100)}`,
      '\\tag{\\tag{a}}',
      '\\dots'.repeat(790),
      '\\Huge{\\Huge{\\Huge x}}',
      'a'.repeat(100_000),
      '\\'.repeat(3_999),
      '\u0301'.repeat(3_999),
    ];
    for (const tex of hostile) {
      const formula = readFormula(`$$${tex}$$`);
      if ('math' in formula) assert.ok(all(formula.math).length <= 1_500, tex.slice(0, 40));
      else assert.ok(formula.problem.code, tex.slice(0, 40));
    }
  });

  it('returns known elements of bounded number and depth for any TeX', () => {
    const part = fc.oneof(
      fc.constantFrom(...WRITTEN, ...REFUSED),
      fc.constantFrom(
        ...'{ } ^ _ & \\\\ $ # % ~ \\left( \\right) \\right. \\middle| \\begin{matrix} \\end{matrix} \\begin{align} \\end{align} \\frac \\sqrt[ ] \\text{ \\over \\hline \\kern1em \\limits \\prime \\not \\big \\verb|a| \\char"202E \\genfrac \\color{ \\tag{ \\substack{ \\overbrace{ \\raisebox{1em}{ \\mathrm \\operatorname{ \\expandafter \\bra{ \\@'.split(
          ' ',
        ),
      ),
      fc.string({ unit: 'grapheme', maxLength: 20 }),
      fc.string({ unit: 'binary', maxLength: 20 }),
    );
    const tex = fc.array(part, { maxLength: 60 }).map((parts) => parts.join(''));
    const known = /^(?:math|m[a-z]+|none)$/;
    fc.assert(
      fc.property(tex, fc.constantFrom('$', '$$'), (text, marks) => {
        const formula = readFormula(`${marks}${text}${marks}`);
        if ('problem' in formula) return;
        const nodes = all(formula.math);
        assert.ok(nodes.length <= 1_500);
        for (const { tag, attributes } of nodes) {
          assert.match(tag, known);
          for (const [name, value] of Object.entries(attributes)) {
            assert.doesNotMatch(name, /^(?:on|href|src|style|id|xlink)/);
            assert.doesNotMatch(value, /[<>&"'():;]/);
          }
        }
      }),
      { numRuns: 1_500 },
    );
  });
});
