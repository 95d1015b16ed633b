// Saving files of messages and tool calls, in a real browser.
import assert from 'node:assert/strict';
import type { BlockView, ItemView } from '../../src/panel/contract';
import type { Panel, PanelOptions } from './harness/browser';
import { message, tool } from './harness/samples';
import { useHarness } from './harness/useHarness';

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const LONG = `${'a-rather-long-name-'.repeat(12)}.csv`;

const text: BlockView = { type: 'resource', uri: 'artifact:///report.md', mimeType: 'text/markdown', text: '# Report' };
const bytes: BlockView = { type: 'resource', uri: 'artifact:///b%20c.zip', mimeType: 'application/zip', bytes: 4096 };
const empty: BlockView = { type: 'resource', uri: 'artifact:///empty.txt', text: '' };
const picture: BlockView = { type: 'image', uri: 'artifact:///plot.png', data: PNG, mimeType: 'image/png' };
const file: BlockView = { type: 'resource', uri: 'file:///work/app/notes.txt', text: 'a note' };
const nothing: BlockView = { type: 'resource', uri: 'file:///work/app/only-a-name.txt' };
const textBlock = { type: 'text', text: 'Here they are.' } as const;

describe('files that can be saved', () => {
  const browser = useHarness();
  let panel: Panel;

  async function open(items: readonly ItemView[], options: PanelOptions = {}): Promise<Panel> {
    panel = await browser.open({ items, height: 1600, ...options });
    return panel;
  }

  async function saveAll(): Promise<readonly unknown[]> {
    const buttons = panel.page.getByRole('button', { name: /^Save / });
    const names = await buttons.evaluateAll((nodes) => nodes.map((node) => node.getAttribute('aria-label')));
    for (let at = 0; at < names.length; at++) await buttons.nth(at).click();
    const asked = await panel.posted('saveResource');
    return asked.map((one, at) => [names[at], one]);
  }

  it("are saved by their position in the message, except the user's own", async () => {
    await open([
      message('u', 'user', [textBlock, file]),
      message('a', 'agent', [textBlock, text, bytes, textBlock, empty, picture, nothing]),
    ]);
    assert.deepEqual(await saveAll(), [
      ['Save report.md…', { type: 'saveResource', key: 's1', index: 1, content: 1 }],
      ['Save b c.zip…', { type: 'saveResource', key: 's1', index: 1, content: 2 }],
      ['Save empty.txt…', { type: 'saveResource', key: 's1', index: 1, content: 4 }],
      ['Save plot.png…', { type: 'saveResource', key: 's1', index: 1, content: 5 }],
    ]);
  });

  it('can be saved from a thought or a tool call', async () => {
    const { page } = await open([
      message('t', 'thought', [textBlock, text]),
      tool('c', {
        title: 'Make a report',
        content: [
          { type: 'content', block: textBlock },
          { type: 'content', block: bytes },
          { type: 'content', block: text },
        ],
      }),
    ]);
    for (const id of ['t', 'c']) await page.locator(`[data-entry-id=${id}] .row`).click();
    await page.getByRole('button', { name: 'Save b c.zip…' }).waitFor();
    assert.deepEqual(await saveAll(), [
      ['Save report.md…', { type: 'saveResource', key: 's1', index: 0, content: 1 }],
      ['Save b c.zip…', { type: 'saveResource', key: 's1', index: 1, content: 1 }],
      ['Save report.md…', { type: 'saveResource', key: 's1', index: 1, content: 2 }],
    ]);
  });

  it('can be saved after more text arrives, and by keyboard', async () => {
    const { page } = await open([message('a', 'agent', [textBlock])], { session: { phase: 'running' } });
    await panel.update({ op: 'put', index: 0, item: message('a', 'agent', [textBlock, textBlock, text]) });
    await panel.update({ op: 'append', index: 0, text: 'That is all.', until: 0 });
    await page.locator('[data-entry-id=a] summary').focus();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    assert.deepEqual(await panel.next('saveResource'), { type: 'saveResource', key: 's1', index: 0, content: 2 });
  });

  it('show their text, and keep the button in place while it is pressed', async () => {
    const { page } = await open([message('a', 'agent', [text])]);
    const button = page.getByRole('button', { name: 'Save report.md…' });
    const before = await button.boundingBox();
    await page.locator('[data-entry-id=a] summary').click();
    await page.locator('[data-entry-id=a] pre', { hasText: '# Report' }).waitFor();
    assert.deepEqual(await button.boundingBox(), before);
  });

  it('fit into a side bar', async () => {
    const long = (block: BlockView): BlockView =>
      block.type === 'resource' || block.type === 'image' ? { ...block, uri: `artifact:///${LONG}` } : block;
    const blocks = [text, bytes, picture, file].flatMap((block) => [block, long(block)]);
    const odd: BlockView = { ...bytes, mimeType: `application/${'x'.repeat(120)}` };
    const { page } = await open(
      [
        message('u', 'user', [textBlock, file, long(bytes)]),
        message('a', 'agent', [...blocks, odd]),
        tool('c', { content: [...blocks, odd].map((block) => ({ type: 'content', block })) }),
      ],
      { width: 280 },
    );
    await page.locator('[data-entry-id=c] .row').click();
    await page.locator('[data-entry-id=c] .resource').first().waitFor();
    for (const summary of await page.locator('.resource summary').all()) await summary.click();
    const wide = await page.evaluate(() => {
      const { scrollWidth, clientWidth } = document.querySelector('.transcript')!;
      const saves = [...document.querySelectorAll<HTMLElement>('.resource .icon-button')].filter(({ title }) =>
        title.startsWith('Save '),
      );
      return {
        over: scrollWidth - clientWidth,
        saves: saves.length,
        outside: saves.filter((button) => button.getBoundingClientRect().right > innerWidth).map(({ title }) => title),
        cut: saves.filter((button) => button.getBoundingClientRect().width < 22).map(({ title }) => title),
      };
    });
    assert.deepEqual(wide, { over: 0, saves: 19, outside: [], cut: [] });
  });
});
