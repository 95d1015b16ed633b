// Markdown in a real browser: streaming, bounded cost, and hostile text.
import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { Page } from 'playwright-core';
import type { Parts } from './harness/parts';
import { MARKDOWN, message } from './harness/samples';
import { useHarness } from './harness/useHarness';

declare const parts: Parts;

const FRAGMENTS = [
  'a',
  'word word ',
  '\n',
  '\n\n',
  '  ',
  '    ',
  '\t',
  '- ',
  '* ',
  '1. ',
  '10. ',
  '> ',
  '# ',
  '## ',
  '```',
  '```js\n',
  '~~~',
  '\n```\n',
  '|',
  '\n| a | b |\n|---|---|\n| 1 | 2 |\n',
  '|-|-|',
  '---',
  '===',
  '**',
  '*',
  '~~',
  '`',
  '[x](y)',
  '[ ] ',
  '<div>',
  '<b>x</b>',
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
  '\n- x\n\n  y\n',
  '\n```ts\ncode\n\ncode\n```\n',
  'https://example.com ',
  '![i](data:image/png;base64,aa)',
  '![o](https://e.com/i.png)',
];

describe('markdown', () => {
  const browser = useHarness();
  let page: Page;
  before(async () => {
    const { harness } = browser;
    page = await harness.page(harness.server.partsUrl);
  });
  after(() => page.close());

  it('draws streamed text like text that arrives whole', async () => {
    const text = fc.array(fc.constantFrom(...FRAGMENTS), { minLength: 1, maxLength: 30 }).map((all) => all.join(''));
    const cases = fc.sample(fc.tuple(text, fc.integer({ min: 1, max: 40 })), { numRuns: 1500, seed: 7 });
    cases.push([MARKDOWN, 1], [MARKDOWN, 3], [`${MARKDOWN}\n\n`.repeat(12), 17]);
    // In one call: a round trip per piece would take longer than the drawing.
    const different = await page.evaluate((all) => all.map(([whole, size]) => parts.difference(whole, size)), cases);
    assert.deepEqual(different.filter((difference) => difference !== '').slice(0, 3), []);
  });

  it('draws long lists, tables, paragraphs and code the same regardless of how they arrive', async () => {
    const texts = [
      '- an item with **some** text\n'.repeat(800),
      `| a | b |\n| --- | --: |\n${'| one | `two` |\n'.repeat(600)}\nend`,
      'some words with `code` in one paragraph '.repeat(600),
      `\`\`\`ts\n${'const x = 1;\n'.repeat(700)}\`\`\`\nend`,
      '> quoted text\n'.repeat(1200),
      `- outer\n${'  - inner item\n'.repeat(900)}\nend`,
    ];
    for (const text of texts) {
      assert.equal(await page.evaluate((source) => parts.difference(source, 333), text), '');
    }
  });

  it('redraws the end of a text without changing what the user has selected in it', async () => {
    const texts = [
      'Words with **strong** ones, `code` and [links](https://example.com/a) in a paragraph that goes on and on. '.repeat(
        4,
      ),
      '- an item with **some** text in it\n'.repeat(12),
      '## A heading\n\nA paragraph that says something.\n\n1. one thing\n2. another\n',
    ];
    for (const text of texts) {
      const placed = await page.evaluate((source) => parts.placedPerNode(source, 4), text);
      assert.ok(placed < 2, `${placed.toFixed(2)} nodes were placed for each that is left of ${text.slice(0, 20)}`);
    }
  });

  it('shows HTML as text and creates links without URLs', async () => {
    const hostile = [
      '<img src=x onerror="alert(1)"><script>alert(2)</script>',
      '[click](javascript:alert(3)) [data](data:text/html,<script>alert(4)</script>) <javascript:alert(5)>',
      '<iframe src="https://example.com"></iframe>\n\n<style>body{display:none}</style>',
      '![x](javascript:alert(6)) ![y](data:text/html;base64,PHNjcmlwdD4=)',
      '| <b>x</b> |\n|---|\n| <svg onload=alert(7)> |',
    ].join('\n\n');
    const panel = await browser.open({ items: [message('a', 'agent', hostile)] });
    const entry = panel.page.locator('[data-entry-id=a]');
    assert.equal(await entry.locator('img, script, iframe, style, svg, [href], [onerror], [onload]').count(), 0);
    assert.match(await entry.innerText(), /<img src=x onerror="alert\(1\)"><script>alert\(2\)<\/script>/);
    await entry.getByRole('link', { name: 'click' }).click();
    assert.deepEqual(await panel.next('openLink'), { type: 'openLink', key: 's1', href: 'javascript:alert(3)' });
  });

  it('escapes characters that would disguise a path or command', async () => {
    const panel = await browser.open({
      items: [message('a', 'agent', 'Run `rm \u202exfdp.exe` and\n\n```sh\necho \u2066hidden\n```\n')],
    });
    const text = await panel.page.locator('[data-entry-id=a]').innerText();
    assert.match(text, /rm ⟨U\+202E⟩xfdp\.exe/);
    assert.match(text, /echo ⟨U\+2066⟩hidden/);
  });

  it('highlights a closed code block by a separate script, and copies it whole', async () => {
    const panel = await browser.open({ items: [message('a', 'agent', '```ts\nconst x = 1;')] });
    await panel.update({ op: 'append', index: 0, text: '\nlet y;\n```\n', until: 0 });
    await panel.page.locator('.hljs-keyword', { hasText: 'let' }).waitFor();
    await panel.page.getByRole('button', { name: 'Copy' }).click();
    assert.equal((await panel.next('copy')).text, 'const x = 1;\nlet y;');
  });

  it('keeps selected content in the page, draws it completely, and copies no control characters', async () => {
    const text = Array.from({ length: 400 }, (_, index) => `Paragraph ${index} of the answer.`).join('\n\n');
    const panel = await browser.open({ items: [message('a', 'agent', `${text}\n\n\`\`\`ts\nlet x;\n\`\`\``)] });
    await panel.scrollTo(0);
    await panel.page.getByText('Paragraph 0 of').click({ position: { x: 1, y: 5 } });
    await panel.scrollTo(1e6);
    await panel.page.locator('.code-block code').click({ modifiers: ['Shift'] });
    await panel.page.waitForFunction(
      () =>
        (
          getSelection()
            ?.toString()
            .match(/Paragraph/g) ?? []
        ).length === 400,
    );
    const copied = await panel.page.evaluate(() => getSelection()?.toString() ?? '');
    assert.doesNotMatch(copied, /Copy|^ts$/m);
    await panel.page.evaluate(() => getSelection()?.removeAllRanges());
    await panel.page.waitForFunction(() => document.querySelectorAll('.segment > p').length < 200);
  });

  it('draws a code line of 40,000 characters as one line, and a table of 500 rows with one header', async () => {
    const rows = Array.from({ length: 500 }, (_, row) => `| ${row} | a text in a cell that takes some room here | b |`);
    const text = `\`\`\`ts\n${'ab '.repeat(13_400)}\nsecond\n\`\`\`\n\n\`\`\`ts\nlet x;\n\`\`\`\n\n| n | text | c |\n|---|---|---|\n${rows.join('\n')}\n`;
    const panel = await browser.open({ items: [message('a', 'agent', text)] });
    await panel.scrollTo(0);
    // Blocks are highlighted one after another.
    await panel.page.locator('.hljs-keyword').waitFor();
    assert.equal(await panel.page.locator('.code-block:not(.goes-on)').count(), 2);
    const code = panel.page.locator('.code-block code').first();
    const height = (await code.boundingBox())?.height ?? 0;
    assert.ok(height > 30 && height < 40, `${height} px for two lines`);
    assert.match((await code.textContent()) ?? '', /^(?:ab ){13400}\nsecond$/);
    await panel.scrollTo(1e6);
    await panel.page.getByRole('cell', { name: '499', exact: true }).waitFor();
    const heads = await panel.page.locator('th:visible', { hasText: 'text' }).count();
    assert.ok(heads <= 1, `${heads} heads`);
  });

  it('keeps the distance between blocks where a long answer is split', async () => {
    const part = 'A paragraph of some words.\n\n## A heading\n\n---\n\n';
    const panel = await browser.open({ items: [message('a', 'agent', part.repeat(120))], height: 9_000 });
    // Boxes that come into view are drawn one per frame.
    await panel.page.waitForFunction(() => document.querySelectorAll('.segment > *').length > 100);
    const distances = await panel.page.evaluate(() => {
      const boxes = [...document.querySelectorAll('.segment > *')].map((node) => ({
        tag: node.tagName,
        rect: node.getBoundingClientRect(),
      }));
      return boxes
        .slice(1)
        .map(({ tag, rect }, at) => `${boxes[at]!.tag} ${tag} ${Math.round(rect.top - boxes[at]!.rect.bottom)}`);
    });
    assert.deepEqual([...new Set(distances)].sort(), ['H4 HR 6', 'HR P 12', 'P H4 8']);
  });

  it('distinguishes added and removed lines of a diff', async () => {
    const panel = await browser.open({ items: [message('a', 'agent', '```diff\n-old\n+new\n```\n')], theme: 'light' });
    const backgroundOf = (mark: string): Promise<string> =>
      panel.page.locator(`.hljs-${mark}`).evaluate((node) => {
        return getComputedStyle(node).backgroundColor;
      });
    await panel.page.locator('.hljs-addition').waitFor();
    const [added, removed] = [await backgroundOf('addition'), await backgroundOf('deletion')];
    assert.notEqual(added, removed);
    assert.doesNotMatch(`${added} ${removed}`, /rgba\(0, 0, 0, 0\)/);
  });

  it('shows a megabyte, and an endless line, without freezing', async () => {
    const items = [message('a', 'agent', `${MARKDOWN}\n\n`.repeat(800)), message('b', 'agent', 'x'.repeat(300_000))];
    const panel = await browser.open({ items });
    assert.ok((await panel.elements()) < 6_000);
  });
});
