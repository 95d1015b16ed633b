// Syntax colours of a tool card's diff.
import assert from 'node:assert/strict';
import axe from 'axe-core';
import type { DiffHunk } from '../../src/panel/contract';
import { THEMES } from '../support/tier';
import { DIFF, tool } from './harness/samples';
import type { Theme } from './harness/server';
import { useHarness } from './harness/useHarness';

describe('the syntax colours of a diff', () => {
  const browser = useHarness();

  async function open(hunks: readonly DiffHunk[], path = '/w/a.ts', theme: Theme = 'dark') {
    const diff = { ...DIFF, path, label: path, hunks };
    const item = tool('c', { title: 'Edit', toolKind: 'edit', content: [{ type: 'diff', diff }] });
    const panel = await browser.open({ items: [item], height: 900, theme });
    await panel.page.locator('.diff-line').first().waitFor();
    return panel;
  }

  const hunk = (lines: readonly string[]): DiffHunk => ({ oldStart: 1, newStart: 1, lines });

  const drawn = (page: Awaited<ReturnType<typeof open>>['page']) =>
    page.locator('.diff-line').evaluateAll((all) =>
      all.map((line) => {
        const parts: string[] = [];
        const walker = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
        while (walker.nextNode()) {
          const names: string[] = [];
          for (let at = walker.currentNode.parentElement!; at !== line; at = at.parentElement!)
            names.unshift(at.className.replace('hljs-', ''));
          if (names.length > 0) parts.push(`${names.join('>')}:${walker.currentNode.textContent}`);
        }
        return parts.join(' ');
      }),
    );

  it('depend on the file extension, below the marks of changed words', async () => {
    const lines = ["-const first = load('a');", "+const final = load('a');"];
    const { page } = await open([hunk(lines)]);
    await page.locator('.hljs-string').nth(1).waitFor();
    const [removed, added] = await drawn(page);
    assert.match(removed!, /^keyword:const changed:first .*string:'a'$/);
    assert.match(added!, /^keyword:const changed:final .*string:'a'$/);
    assert.deepEqual(
      await page.locator('.diff-line').allTextContents(),
      lines.map((line) => line.slice(1)),
    );
  });

  it('are kept when changed words are marked after them', async () => {
    const lines = ["-load('one two');", "+load('one three', 4);"];
    const panel = await browser.open();
    // Blocks the marks until the colours are drawn.
    await panel.page.evaluate(() => {
      const idle = window.requestIdleCallback;
      const waiting: IdleRequestCallback[] = [];
      window.requestIdleCallback = (callback, options) =>
        options ? idle.call(window, callback, options) : waiting.push(callback);
      Object.assign(window, {
        markNow: () => {
          window.requestIdleCallback = idle;
          for (const callback of waiting) idle.call(window, callback);
        },
      });
    });
    const diff = { ...DIFF, hunks: [hunk(lines)] };
    await panel.update({
      op: 'put',
      index: 0,
      item: tool('c', { title: 'Edit', toolKind: 'edit', content: [{ type: 'diff', diff }] }),
    });
    await panel.page.locator('.hljs-string').nth(1).waitFor();
    assert.equal(await panel.page.locator('.changed').count(), 0);
    await panel.page.evaluate(() => (window as unknown as { markNow(): void }).markNow());
    await panel.page.locator('.added .changed').first().waitFor();
    const marked = (side: string) =>
      panel.page.locator(`.${side} .changed`).evaluateAll((marks) => marks.map((mark) => mark.textContent).join(''));
    assert.deepEqual([await marked('removed'), await marked('added')], ["two'", "three', 4"]);
    assert.match((await drawn(panel.page))[1]!, /string:'one .*string>changed:three' .*number>changed:4/);
    assert.deepEqual(
      await panel.page.locator('.diff-line').allTextContents(),
      lines.map((line) => line.slice(1)),
    );
  });

  it('are those of the old text in removed lines and of the new text in others', async () => {
    const { page } = await open([
      hunk([' before();', '-`old', '-let a;`;', '+/* new', '+while (true) */', ' return 1;']),
      hunk([' let c;', '-/* never closed', ' let d;', '+let e;']),
    ]);
    await page.locator('.hljs-keyword', { hasText: 'let' }).nth(2).waitFor();
    assert.deepEqual(
      (await drawn(page)).map((line) => line.replace(/^title function_:\w+$/, '')),
      [
        '',
        'string:`old',
        'string:let a;`',
        'comment:/* new',
        'comment:while (true) */',
        'keyword:return number:1',
        'keyword:let',
        'comment:/* never closed',
        'keyword:let',
        'keyword:let',
      ],
    );
  });

  it('are not drawn for unknown languages, patches, and truncated lines', async () => {
    const long = `+let a = \`${'x'.repeat(500)}`;
    const { page } = await open([hunk([long, '+let b;'])]);
    await page.locator('.hljs-keyword').waitFor();
    assert.deepEqual(await drawn(page), ['', 'keyword:let']);
    const item = (id: string, path: string) =>
      tool(id, {
        toolKind: 'edit',
        content: [{ type: 'diff', diff: { ...DIFF, path, hunks: [hunk(['+let b;', '-1'])] } }],
      });
    const panel = await browser.open({
      items: ['a.unknown', 'constructor', 'a.constructor', 'a.patch', 'a.diff', 'a.ts'].map((path) => item(path, path)),
    });
    await panel.page.locator('[data-entry-id="a.ts"] .hljs-keyword').waitFor();
    assert.equal(await panel.page.locator('.diff-line span[class^=hljs]').count(), 2);
  });

  it('wait while a part of the diff is selected', async () => {
    const { page } = await open([hunk(['+const a = 1;', '+const b = 2;'])]);
    await page.evaluate(() => {
      const [first, second] = document.querySelectorAll('.diff-line');
      getSelection()!.setBaseAndExtent(first!.firstChild!, 2, second!.firstChild!, 7);
    });
    const other = tool('d', {
      toolKind: 'edit',
      content: [{ type: 'diff', diff: { ...DIFF, hunks: [hunk(['+let c;'])] } }],
    });
    await browser.panel.update({ op: 'put', index: 1, item: other });
    await page.locator('[data-entry-id=d] .hljs-keyword').waitFor();
    assert.equal(await page.locator('[data-entry-id=c] .hljs-keyword').count(), 0);
    assert.equal(await page.evaluate(() => getSelection()!.toString()), 'nst a = 1;\nconst b');
    await page.evaluate(() => getSelection()!.removeAllRanges());
    await page.locator('[data-entry-id=c] .hljs-keyword').nth(1).waitFor();
  });

  it('end after some thousand tokens', async () => {
    const lines = Array.from(
      { length: 800 },
      (_, at) => `+  if (a${at} === ${at}) return call('text ${at}', ${at}, true);`,
    );
    const diff = { ...DIFF, hunks: [hunk(lines)] };
    const item = tool('c', { title: 'Edit', toolKind: 'edit', content: [{ type: 'diff', diff }] });
    const panel = await browser.open({ items: [item], height: 900 });
    await panel.page.locator('.diff-line').first().waitFor();
    await panel.page.locator('[data-entry-id=c] .row').first().click();
    await panel.page.locator('.diff-line').nth(799).waitFor({ state: 'attached' });
    await panel.page.waitForFunction(() => document.querySelectorAll('.diff-line [class^=hljs]').length > 3_900);
    await panel.page.evaluate(() => new Promise((resolve) => requestIdleCallback(resolve)));
    assert.ok((await panel.page.locator('.diff-line [class^=hljs]').count()) < 5_000);
    assert.deepEqual(
      await panel.page.locator('.diff-line').allTextContents(),
      lines.map((line) => line.slice(1)),
    );
  });

  for (const theme of THEMES)
    it(`have enough contrast on the backgrounds of lines and words: ${theme}`, async () => {
      const code = (word: string): readonly string[] => [
        `// about ${word}`,
        `@deco('${word}') class A${word} extends B {`,
        `const ${word} = call('some text', 42, true, /x/g);`,
        `const x = \`a ${'$'}{${word}} b\`, y = "some ${word} text", z = 1${word.length};`,
        `console.log(process.env.${word});`,
      ];
      const lines = [
        ...code('same').map((line) => ` ${line}`),
        ...code('old').map((line) => `-${line}`),
        ...code('newest').map((line) => `+${line}`),
      ];
      const { page } = await open([hunk(lines)], '/w/a.ts', theme);
      await page.locator('.added .hljs-number').nth(1).waitFor();
      await page.locator('.changed').first().waitFor();
      if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/diff-${theme}.png` });
      await page.evaluate(axe.source);
      const { violations } = await page.evaluate(() =>
        (globalThis as unknown as { axe: typeof axe }).axe.run('.diff-lines', { runOnly: ['color-contrast'] }),
      );
      assert.deepEqual(
        violations.flatMap(({ nodes }) => nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`)),
        [],
      );
    });
});
