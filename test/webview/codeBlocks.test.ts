// Actions of code blocks: applying to a file, and wrapping lines.
import assert from 'node:assert/strict';
import { MAX_CODE_PATH } from '../../src/panel/contract';
import { message } from './harness/samples';
import { useHarness } from './harness/useHarness';

describe('code blocks', () => {
  const browser = useHarness();
  const open = (text: string, height = 800) =>
    browser.open({ session: { phase: 'running' }, items: [message('a', 'agent', text)], height });

  it('are applied to the named file as the agent wrote them', async () => {
    const panel = await open('```ts src/../\u202ea.ts\nlet x;\n```\n\n```ts\nlet y;\n```\n');
    const apply = panel.page.getByRole('button', { name: 'Apply to file…' });
    await apply.first().press('Enter');
    const use = { type: 'useCode', key: 's1', action: 'apply', lang: 'ts' };
    assert.deepEqual(await panel.next('useCode'), { ...use, text: 'let x;', path: 'src/../\u202ea.ts' });
    const before = await panel.count();
    await apply.nth(1).press('Enter');
    assert.deepEqual(await panel.next('useCode', before), { ...use, text: 'let y;' });
  });

  it('ignore a file name that is too long', async () => {
    const panel = await open(`\`\`\`ts title="${'a'.repeat(MAX_CODE_PATH)}.ts"\nlet x;\n\`\`\`\n`);
    await panel.page.getByRole('button', { name: 'Apply to file…' }).press('Enter');
    assert.equal('path' in (await panel.next('useCode')), false);
    assert.equal(await panel.page.getByRole('link').count(), 0);
  });

  it('can be applied once complete, even if drawn in parts', async () => {
    const code = 'line\n'.repeat(250);
    const panel = await open(`\`\`\`ts\n${code}`, 9_000);
    const apply = panel.page.getByRole('button', { name: 'Apply to file…' });
    await panel.page.getByRole('button', { name: 'Insert at cursor' }).waitFor();
    assert.equal(await apply.count(), 0);
    await panel.update({ op: 'append', index: 0, text: '```\n\nand\n\n```ts\nlet', until: 0 });
    await apply.press('Enter');
    assert.equal((await panel.next('useCode')).text, code.slice(0, -1));
    assert.equal(await apply.count(), 1);
    // The end of the message also ends its last block.
    await panel.update({ op: 'session', patch: { phase: 'ready' } });
    await apply.nth(1).waitFor();
  });

  it('wrap long lines in all parts, toggled by keyboard', async () => {
    const long = 'word '.repeat(100);
    const panel = await open(`\`\`\`ts\n${`${long}\n`.repeat(150)}\`\`\`\n\n\`\`\`ts\n${long}\n\`\`\`\n`, 2_000);
    const { page } = panel;
    await panel.scrollTo(0);
    const wrap = page.getByRole('button', { name: 'Wrap lines' }).first();
    const isWide = () =>
      page.locator('.code-block pre').evaluateAll((all) => all.map((pre) => pre.scrollWidth > pre.clientWidth + 1));
    await wrap.waitFor();
    assert.equal(await wrap.getAttribute('aria-pressed'), 'false');
    assert.equal((await isWide()).every(Boolean), true);
    await wrap.press('Space');
    assert.equal(await wrap.getAttribute('aria-pressed'), 'true');
    // Blocks that come into view later, and ones that come back.
    for (const _ of [1, 2]) {
      await panel.scrollTo(1_000_000);
      await page.locator('.code-block:not(.wrap)').waitFor();
      await panel.scrollTo(0);
      await wrap.waitFor();
      assert.equal((await isWide())[0], false);
      assert.equal(await wrap.getAttribute('aria-pressed'), 'true');
    }
    await wrap.press('Enter');
    assert.equal(await wrap.getAttribute('aria-pressed'), 'false');
    assert.equal((await isWide()).every(Boolean), true);
  });

  it('get their buttons when hovered or focused, otherwise after a delay', async () => {
    const blocks = '```ts\nlet x;\n```\n\n'.repeat(4);
    const panel = await open(blocks);
    const block = panel.page.locator('.code-block');
    const counts = () =>
      block.evaluateAll((elements) => elements.map((element) => element.querySelectorAll('.code-head button').length));
    const before = await panel.page.evaluate(() => {
      const buttons = (): number[] =>
        [...document.querySelectorAll('.code-block')].map(
          (element) => element.querySelectorAll('.code-head button').length,
        );
      const atFirst = buttons();
      const [, hovered, focused] = document.querySelectorAll<HTMLElement>('.code-block');
      hovered!.dispatchEvent(new PointerEvent('pointerenter'));
      focused!.querySelector('pre')!.focus();
      return [atFirst, buttons()];
    });
    assert.deepEqual(before, [
      [0, 0, 0, 0],
      [0, 5, 5, 0],
    ]);
    await panel.page.waitForFunction(() => document.querySelectorAll('.code-head .copy').length === 4);
    assert.deepEqual(await counts(), [5, 5, 5, 5]);
  });

  it('keep their buttons and the focus while the list or quote around them grows', async () => {
    const panel = await open('- one\n\n  ```ts\n  let x;\n  ```\n\n  and');
    const { page } = panel;
    await page.locator('pre').focus();
    await page.keyboard.press('Shift+Tab');
    const focused = () => page.evaluate(() => document.activeElement?.textContent);
    assert.equal(await focused(), 'Copy');
    await panel.update({ op: 'append', index: 0, text: ' more', until: 0 });
    await page.getByText('and more').waitFor();
    assert.equal(await focused(), 'Copy');
    await page.keyboard.press('Enter');
    assert.equal((await panel.next('copy')).text, 'let x;');
  });

  it('do not add button labels to the selected text', async () => {
    const panel = await open('before\n\n```ts\nlet x;\n```\n\nafter');
    await panel.page.locator('.code-head .copy').waitFor({ state: 'attached' });
    const text = await panel.page.evaluate(() => {
      document.getSelection()?.selectAllChildren(document.querySelector('.code-block')!.parentElement!);
      return String(document.getSelection());
    });
    assert.match(text, /before\s+let x;\s+after/);
    assert.doesNotMatch(text, /Copy|↵/);
  });

  it('wrap a line of a megabyte', async () => {
    const panel = await open(`\`\`\`js\n${'abcdefghij'.repeat(100_000)}\n\`\`\`\n`);
    const button = panel.page.locator('.code-head [aria-pressed]');
    const isWider = (): Promise<boolean> =>
      panel.page
        .locator('.code-block pre')
        .evaluateAll((parts) => parts.some(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth));
    await button.waitFor();
    assert.ok(await isWider());
    await button.click();
    assert.ok(!(await isWider()));
  });
});
