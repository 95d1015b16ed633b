// Formulas in a message: drawn as MathML, with their source for selecting, copying and searching.
import assert from 'node:assert/strict';
import { THEMES } from '../support/tier';
import { seriousFindings } from './harness/axe';
import { message } from './harness/samples';
import { useHarness } from './harness/useHarness';

const TEXT = `Euler found $e^{i\\pi} + 1 = 0$, where \\(i^2 = -1\\); it costs $5 and $6.

$$
\\int_{-\\infty}^{\\infty} e^{-x^2}\\,dx = \\sqrt{\\pi} \\tag{1}
$$

For a matrix \\(A = \\begin{pmatrix} a & b \\\\ c & d \\end{pmatrix}\\) with \\(\\hat{x}, \\vec{v}, \\overline{ab}, \\cancel{y}\\):

\\[
\\begin{aligned}
\\det A &= ad - bc \\\\
f(x) &= \\begin{cases} 1 & \\text{if } x \\geq 0 \\\\ 0 & \\text{otherwise} \\end{cases}
\\end{aligned}
\\]

| name | value |
| --- | --- |
| sum | $\\sum_{k=1}^{n} k = \\frac{n(n+1)}{2}$ |

- a long one in a line: $a_1 + a_2 + a_3 + a_4 + a_5 + a_6 + a_7 + a_8 + a_9 + a_{10} + a_{11} + a_{12} = \\color{red}{b}$
- not one: $\\nocommand$ and $\\def\\a{b}$

$$\\boxed{x = \\frac{-b \\pm \\sqrt{b^2 - 4ac}}{2a}} \\qquad \\left[ \\begin{array}{c|c} 1 & 2 \\\\ \\hline 3 & 4 \\end{array} \\right]$$
`;
const DRAWN = 9;

describe('formulas', () => {
  const browser = useHarness();

  it('are drawn as MathML, regardless of how the text arrives', async () => {
    const panel = await browser.open({ items: [message('a', 'agent', TEXT.slice(0, 5))], height: 2_000 });
    const chunks = [...(TEXT.slice(5).match(/[\s\S]{1,9}/g) ?? [])];
    await panel.stream(chunks.map((text) => ({ op: 'append', index: 0, text, until: 0 })));
    const { page } = panel;
    await page.waitForFunction(
      (count) => document.querySelectorAll('.formula:is(.inline, .displayed)').length === count,
      DRAWN,
    );
    assert.equal(await page.locator('.formula.displayed').count(), 3);
    assert.equal((await page.locator('.formula mtable mtr').count()) > 4, true);
    assert.match((await page.locator('.segment').first().textContent()) ?? '', /it costs \$5 and \$6\./);
  });

  it('are shown as written until complete, and not redrawn while text is added', async () => {
    const panel = await browser.open({ items: [message('a', 'agent', 'One $x$ and\n\n$$\ny = ')] });
    const { page } = panel;
    await page.locator('.formula.inline math').waitFor();
    assert.equal(await page.locator('.formula > code').innerText(), '$$\ny =');
    await page.locator('.formula.inline math').evaluate((math) => math.setAttribute('data-first', ''));
    await panel.update({ op: 'append', index: 0, text: 'z\n$$\n\nTwo $w$ and', until: 0 });
    await page.waitForFunction(() => document.querySelectorAll('.formula:is(.inline, .displayed)').length === 3);
    await page.locator('p:last-child .formula math').evaluate((math) => math.setAttribute('data-last', ''));
    await panel.update({ op: 'append', index: 0, text: ' three $v$', until: 0 });
    await page.waitForFunction(() => document.querySelectorAll('.formula:is(.inline, .displayed)').length === 4);
    assert.equal(await page.locator('math[data-first], math[data-last]').count(), 2);
  });

  it('show why they cannot be drawn', async () => {
    const panel = await browser.open({ items: [message('a', 'agent', TEXT)], height: 2_000 });
    const failed = panel.page.locator('.formula.problem');
    await failed.nth(1).waitFor();
    assert.deepEqual(await failed.allInnerTexts(), ['$\\nocommand$', '$\\def\\a{b}$']);
    assert.match((await failed.nth(0).getAttribute('title')) ?? '', /Unsupported function name: \\nocommand/);
    assert.match((await failed.nth(1).getAttribute('title')) ?? '', /isn't supported/);
  });

  it('are copied as written', async () => {
    const panel = await browser.open({ items: [message('a', 'agent', 'Let $x_1$ be\n\n$$\ny^2\n$$\n\nand so on.')] });
    const { page } = panel;
    await page.locator('.formula.displayed math').waitFor();
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const copied = await page.evaluate(async () => {
      document.getSelection()?.selectAllChildren(document.querySelector('[data-entry-id=a] .segment')!);
      document.execCommand('copy');
      return navigator.clipboard.readText();
    });
    assert.match(copied, /^Let \$x_1\$ be\s+\$\$\s*y\^2\s*\$\$\s+and so on\.$/);
  });

  it('do not paint outside of their box', async () => {
    const tex = '$\\raisebox{2em}{UP} \\rule{1em}{20em} \\kern{-2em} \\smash{\\rule{1em}{20em}}$';
    const panel = await browser.open({ items: [message('a', 'agent', `Words\n\n${tex}`)] });
    const formula = panel.page.locator('.formula.inline');
    await formula.waitFor();
    assert.equal(await formula.evaluate((node) => getComputedStyle(node).contain), 'paint');
  });

  it('are drawn in parts, some per frame', async () => {
    const panel = await browser.open({ items: [message('f', 'agent', 'The first: $x$.')], height: 20_000, width: 600 });
    const { page } = panel;
    await page.locator('.formula.inline math').waitFor();
    // Each formula takes 2 ms on this clock: three fit into a frame.
    const drawn = page.evaluate(
      () =>
        new Promise<readonly number[]>((resolve) => {
          const real = performance.now.bind(performance);
          const count = () => document.querySelectorAll('.formula:is(.inline, .displayed)').length;
          performance.now = () => 2 * count();
          const frames: number[] = [];
          let before = count();
          const checkFrame = (): void => {
            const now = count();
            if (now > before) frames.push(now - before);
            before = now;
            if (frames.length < 30) requestAnimationFrame(checkFrame);
            else {
              performance.now = real;
              resolve(frames);
            }
          };
          requestAnimationFrame(checkFrame);
        }),
    );
    const text = Array.from({ length: 1_000 }, (_, at) => `$\\frac{a_{${at}}}{\\sqrt{b^{${at}}}}$`).join(' and ');
    await panel.update({ op: 'put', index: 1, item: message('a', 'agent', text) });
    for (const count of await drawn) assert.ok(count <= 3, `${count} in one frame`);
    await page.waitForFunction(() => document.querySelectorAll('.formula:is(.inline, .displayed)').length >= 400);
    assert.equal(await page.locator('.formula.problem').count(), 0);
  });

  it('have no serious accessibility violations in any theme', async () => {
    for (const theme of THEMES) {
      for (const width of [280, 860]) {
        const panel = await browser.open({ items: [message('a', 'agent', TEXT)], theme, width, height: 1_500 });
        await panel.page.waitForFunction(
          (count) => document.querySelectorAll('.formula:is(.inline, .displayed)').length === count,
          DRAWN,
        );
        const folder = process.env.FORMULA_SHOTS;
        if (folder) await panel.page.screenshot({ path: `${folder}/formulas-${theme}-${width}.png` });
        assert.deepEqual(await seriousFindings(panel.page, '.transcript'), [], `${theme} ${width}`);
      }
    }
  });
});
