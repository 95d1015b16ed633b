// Groups of reads and searches in the panel: one expandable line.
import assert from 'node:assert/strict';
import type { ItemView } from '../../src/panel/contract';
import { message, tool } from './harness/samples';
import { useHarness } from './harness/useHarness';

const read = (index: number): ItemView =>
  tool(`r${index}`, {
    toolKind: index % 5 === 4 ? 'search' : 'read',
    title: index % 5 === 4 ? `Search word${index}` : `Read file${index}.ts`,
    locations: [{ path: `/w/file${index}.ts`, label: `file${index}.ts` }],
  });

function run(count: number): ItemView[] {
  return [message('a', 'user', 'Look around'), ...Array.from({ length: count }, (_, index) => read(index))];
}

describe('groups of calls', () => {
  const browser = useHarness();
  const line = () => browser.panel.page.locator('.group-line');
  const rows = () => browser.panel.page.locator('.tool .row');

  it('are shown as one line, expanded and collapsed by keyboard', async () => {
    const { page } = await browser.open({ items: [...run(10), message('b', 'agent', 'All read.')] });
    await line().waitFor();
    assert.equal(await line().innerText(), 'Read 8 files · 2 searches');
    assert.equal(await rows().count(), 0);
    await line().press('Enter');
    await page.getByText('file0.ts').waitFor();
    await page.waitForFunction(() => document.querySelectorAll('.tool .row').length === 10);
    assert.equal(await line().getAttribute('aria-expanded'), 'true');
    await page.waitForFunction(() => document.activeElement?.matches('.group-line'));
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => document.querySelectorAll('.tool .row').length === 0);
    await page.waitForFunction(() => document.activeElement?.matches('.group-line'));
  });

  it('include calls as they end, but not those that fail or request permission', async () => {
    const panel = await browser.open({ items: run(2) });
    assert.equal(await rows().count(), 2);
    await panel.update({ op: 'put', index: 3, item: { ...read(2), status: 'in_progress' } as ItemView });
    assert.equal(await rows().count(), 3);
    await panel.update({ op: 'put', index: 3, item: read(2) });
    await line().waitFor();
    assert.equal(await rows().count(), 0);
    await panel.update({ op: 'put', index: 4, item: { ...read(3), status: 'failed' } as ItemView });
    await panel.page.getByText('file3.ts').waitFor();
    assert.equal(await line().innerText(), 'Read 3 files');
    await panel.update({ op: 'put', index: 2, item: { ...read(1), status: 'failed' } as ItemView });
    await panel.page.getByText('file0.ts').waitFor();
    assert.equal(await line().count(), 0);
  });

  it('are skipped by keyboard while collapsed', async () => {
    const { page } = await browser.open({ items: [...run(30), message('b', 'agent', 'All read.')] });
    await page.locator('[data-entry-id=b]').focus();
    await page.keyboard.press('ArrowUp');
    await page.waitForFunction(() => document.activeElement?.matches('.group'));
    await page.keyboard.press('ArrowUp');
    await page.waitForFunction(() => document.activeElement?.matches('[data-entry-id=a]'));
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByText('file0.ts').waitFor();
  });

  it('expand when one of their calls is revealed', async () => {
    const panel = await browser.open({ items: [...run(40), message('b', 'agent', 'All read.')] });
    await line().waitFor();
    await panel.send({ type: 'reveal', index: 20 });
    await panel.page.locator('[data-entry-id=r19].found').waitFor();
  });

  it('draw only entries near the viewport when a long one is expanded', async () => {
    const panel = await browser.open({ items: [...run(1_500), message('b', 'agent', 'All read.')] });
    await line().waitFor();
    assert.equal(await line().innerText(), 'Read 1,200 files · 300 searches');
    await line().click();
    await panel.page.getByText('file0.ts').waitFor();
    assert.ok((await rows().count()) < 250, `${await rows().count()} rows`);
    await panel.scrollTo(1e6);
    await panel.page.getByText('All read.').waitFor();
    await panel.page.getByText('word1499').waitFor();
  });
});
