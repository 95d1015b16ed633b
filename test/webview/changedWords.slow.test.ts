// The marks of changed words in a tool card's diff.
import assert from 'node:assert/strict';
import { DIFF, tool } from './harness/samples';
import type { Theme } from './harness/server';
import { useHarness } from './harness/useHarness';

describe('changed words in a diff', () => {
  const browser = useHarness();

  async function open(lines: readonly string[], theme: Theme = 'dark') {
    const diff = { ...DIFF, hunks: [{ oldStart: 1, newStart: 1, lines }] };
    const item = tool('c', { title: 'Edit', toolKind: 'edit', content: [{ type: 'diff', diff }] });
    const panel = await browser.open({ items: [item], theme });
    await panel.page.locator('.diff-line').first().waitFor();
    return panel;
  }

  /**
   * Expects the marked parts of lines in brackets.
   * @param expected with at least one mark: the last one shows that all are drawn
   */
  async function expectMarked(lines: readonly string[], expected: readonly string[]): Promise<void> {
    const { page } = await open(lines);
    const marks = expected.filter((line) => line.includes('['));
    await page
      .locator('.diff-line .changed')
      .nth(marks.length - 1)
      .waitFor();
    const marked = await page.locator('.diff-line').evaluateAll((all) =>
      all.map((line) => {
        const copy = line.cloneNode(true) as Element;
        for (const word of copy.querySelectorAll('.changed')) word.replaceWith(`[${word.textContent}]`);
        return copy.textContent;
      }),
    );
    assert.deepEqual(marked, expected);
  }

  it('are marked as whole words in both lines', async () => {
    await expectMarked(
      [' const a = 1;', '-const first = load(one);', '+const final = load(one);'],
      ['const a = 1;', 'const [first] = load(one);', 'const [final] = load(one);'],
    );
    // Only additions at the end, and whole characters.
    await expectMarked(['-call(a)', '+call(a, b)'], ['call(a)', 'call(a[, b])']);
    await expectMarked(['-say("😀 yes")', '+say("😁 yes")'], ['say("[😀] yes")', 'say("[😁] yes")']);
    await expectMarked(['-naïve Größe', '+naïve Größen'], ['naïve [Größe]', 'naïve [Größen]']);
  });

  it('are marked once the selection is elsewhere', async () => {
    const { page } = await open(['-const first = 1;', '+const final = 1;']);
    const line = page.locator('.diff-line.removed');
    await line.selectText();
    await page.evaluate(async () => {
      for (let rest = 0; rest < 2; rest++) await new Promise((resolve) => setTimeout(resolve, 500));
      await new Promise((resolve) => requestIdleCallback(resolve));
    });
    assert.equal(await page.evaluate(() => String(getSelection())), 'const first = 1;');
    assert.equal(await page.locator('.diff-line .changed').count(), 0);
    await page.evaluate(() => getSelection()?.removeAllRanges());
    await page.locator('.diff-line .changed', { hasText: 'first' }).waitFor();
  });

  it('are only compared between lines at the same place', async () => {
    const lines = ['-one = 1', '-two = 2', '+one = 10', '+two = 20', '+three = 3', ' x', '+two = 3', '-four = 4'];
    await expectMarked(lines, [
      'one = [1]',
      'two = [2]',
      'one = [10]',
      'two = [20]',
      'three = 3',
      'x',
      'two = 3',
      'four = 4',
    ]);
  });

  it('are not marked in lines with little in common', async () => {
    const lines = ['-  return cache.get(key);', "+  throw new Error('gone');", ' x', '-let a = 1;', '+let a = 2;'];
    await expectMarked(lines, [
      '  return cache.get(key);',
      "  throw new Error('gone');",
      'x',
      'let a = [1];',
      'let a = [2];',
    ]);
  });

  it('are marked by more than colour in high contrast and forced colours', async () => {
    const lines = ['-let a = 1;', '+let a = 2;'];
    const decoration = async (theme: Theme, forcedColors: 'active' | null) => {
      const { page } = await open(lines, theme);
      await page.emulateMedia({ forcedColors });
      const word = page.locator('.changed').first();
      await word.waitFor();
      const found = await word.evaluate((mark) => getComputedStyle(mark).textDecorationLine);
      await page.emulateMedia({ forcedColors: null });
      return found;
    };
    assert.equal(await decoration('dark', null), 'none');
    assert.equal(await decoration('hc', null), 'underline');
    assert.equal(await decoration('hclight', null), 'underline');
    assert.equal(await decoration('dark', 'active'), 'underline');
  });
});
