// Select All and copy in the panel copies the whole session, not only what is drawn.
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { message } from './harness/samples';
import { useHarness } from './harness/useHarness';

describe('select all and copy', () => {
  const browser = useHarness();
  const items = Array.from({ length: 64 }, (_, index) =>
    message(`m${index}`, index % 2 ? 'agent' : 'user', `Words ${index}`),
  );
  const posted = () =>
    browser.panel.page.evaluate(() => host.posted.filter(({ type }) => type === 'copySession').length);

  it('copies the whole session', async () => {
    const { page, next } = await open();
    await page.locator('[data-entry-id=m63]').focus();
    await page.keyboard.press('Control+a');
    assert.match(await page.evaluate(() => getSelection()?.toString() ?? ''), /Words 63/);
    await page.keyboard.press('Control+c');
    assert.deepEqual(await next(), { type: 'copySession', key: 's1' });
  });

  it('copies the selection after something else was selected', async () => {
    const { page } = await open();
    await page.locator('[data-entry-id=m63]').focus();
    await page.keyboard.press('Control+a');
    await page.getByText('Words 63').dblclick();
    await page.keyboard.press('Control+c');
    await page.getByRole('textbox', { name: 'Message' }).fill('own words');
    await page.keyboard.press('Control+a');
    await page.keyboard.press('Control+c');
    assert.equal(await posted(), 0);
  });

  describe('of a selection made by click, wheel and Shift+click', () => {
    const words = (index: number) => `Paragraph ${index} ${'of words '.repeat(12)}`;
    const paragraphs = Array.from({ length: 400 }, (_, index) => words(index));

    async function selectAll(page: Page): Promise<void> {
      await page.locator('.transcript').evaluate((box) => box.scrollTo(0, 0));
      await page.getByText('Paragraph 0 ').click({ position: { x: 5, y: 5 } });
      await page.evaluate(() => getSelection()?.modify('move', 'backward', 'paragraphboundary'));
      while ((await page.getByText('Paragraph 399 ').count()) === 0) await page.mouse.wheel(0, 3_000);
      await page.getByText('Paragraph 399 ').click({ modifiers: ['Shift'], position: { x: 200, y: 5 } });
      await page.evaluate(() => getSelection()?.modify('extend', 'forward', 'paragraphboundary'));
    }

    it('requests undrawn messages from the host, with the selected text around them', async () => {
      const panel = await browser.open({
        items: paragraphs.map((text, index) => message(`m${index}`, 'agent', text)),
      });
      const { page } = panel;
      await selectAll(page);
      await page.keyboard.press('Control+c');
      const { part } = await panel.next('copySession');
      assert.deepEqual(part, { from: 1, to: 399, before: words(0).trim(), after: words(399).trim() });
      assert.match(await page.evaluate(() => getSelection()?.toString() ?? ''), /^Paragraph 0 .*words\s*$/s);
    });

    it('lets the browser copy a long message, including parts that were not drawn', async () => {
      const { page } = await browser.open({ items: [message('a', 'agent', paragraphs.join('\n\n'))] });
      await selectAll(page);
      const copied = await page.evaluate(() => {
        const event = new ClipboardEvent('copy', { bubbles: true, cancelable: true });
        const isLeft = document.activeElement?.dispatchEvent(event);
        return { isLeft, text: getSelection()?.toString() ?? '' };
      });
      assert.ok(copied.isLeft);
      assert.deepEqual(
        copied.text.split(/\n+/).map((paragraph) => paragraph.trim()),
        paragraphs.map((paragraph) => paragraph.trim()),
      );
    });
  });

  it('copies the focused message as written if nothing is selected', async () => {
    const panel = await browser.open({ items: [message('u', 'user', 'Why?'), message('a', 'agent', '**Because**.')] });
    for (const [index, id] of ['u', 'a'].entries()) {
      await panel.page.locator(`[data-entry-id=${id}]`).focus();
      await panel.page.keyboard.press('Control+c');
      assert.equal((await panel.posted('copy')).at(-1)?.text, ['Why?', '**Because**.'][index]);
    }
    await panel.page.getByText('Because').dblclick();
    await panel.page.keyboard.press('Control+c');
    await panel.page.getByRole('textbox', { name: 'Message' }).press('Control+c');
    assert.equal((await panel.posted('copy')).length, 2);
  });

  it('copies the message of the context menu with its session', async () => {
    const panel = await browser.open({ items: [message('a', 'agent', '**Because**.')] });
    await panel.page.locator('.transcript').evaluate((box) => box.scrollTo(0, 0));
    await panel.page.locator('[data-entry-id=a]').click({ button: 'right', position: { x: 200, y: 8 } });
    await panel.page.evaluate(() => document.getSelection()?.removeAllRanges());
    await panel.page.evaluate(() => document.execCommand('copy'));
    assert.equal((await panel.next('copy')).text, '**Because**.');
    const context = await panel.page.locator('.transcript').getAttribute('data-vscode-context');
    assert.deepEqual(JSON.parse(context ?? ''), { parleyChat: true, session: 's1' });
  });

  async function open() {
    const panel = await browser.open({ items, from: 1000, total: 1064 });
    return { page: panel.page, next: () => panel.next('copySession') };
  }
});
