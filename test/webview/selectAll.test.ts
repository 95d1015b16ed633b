// Selecting and copying everything in the panel copies the whole session, not what is drawn of it.
import assert from 'node:assert/strict';
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

  it('copies what is selected after anything else was selected', async () => {
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

  it('copies the message in focus where nothing is selected, as it was written', async () => {
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

  async function open() {
    const panel = await browser.open({ items, from: 1000, total: 1064 });
    return { page: panel.page, next: () => panel.next('copySession') };
  }
});
