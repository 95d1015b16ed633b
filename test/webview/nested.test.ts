// Nested calls of subagents in the panel: under the call that started them, collapsed by default.
import assert from 'node:assert/strict';
import type { ItemView, NestedView, PermissionView } from '../../src/panel/contract';
import type { Panel } from './harness/browser';
import { message, permission, tool } from './harness/samples';
import { useHarness } from './harness/useHarness';

type Items = readonly ItemView[];

const task = (
  id: string,
  title: string,
  nested: NestedView,
  status: 'in_progress' | 'completed' = 'completed',
): ItemView => tool(id, { toolKind: 'think', name: 'Task', title, status, nested, at: Date.now() - 32_000 });

const child = (index: number, path: readonly number[], patch: object = {}): ItemView => ({
  ...tool(`c${index}`, { toolKind: 'edit', title: `Edit file${index}.ts`, ...patch }),
  path,
});

function withCalls(count: number, patch: object = {}): ItemView[] {
  return [
    message('a', 'user', 'Look around'),
    task('t', 'Explore the parser', { calls: count, open: 0 }),
    ...Array.from({ length: count }, (_, n) => child(n + 2, [1], patch)),
    message('z', 'agent', 'All explored.'),
  ];
}

/** Performs an action that requests nested items, and answers the request. */
async function serveNested(panel: Panel, items: Items, action: () => Promise<void>): Promise<void> {
  const after = await panel.count();
  await action();
  const request = await panel.next('nested', after);
  const children = items.flatMap((item, index) => (item.path?.at(-1) === request.index ? [{ index, item }] : []));
  const { length: total } = children;
  const place = children.findIndex(({ index }) => index === request.around);
  const from = Math.max(0, place >= 0 ? place - 25 : request.from >= total ? total - 50 : request.from);
  const to = place >= 0 || request.from >= total ? from + 50 : request.to;
  const { index } = request;
  await panel.send({ type: 'nested', revision: panel.revision, index, from, total, items: children.slice(from, to) });
}

describe('nested calls', () => {
  const browser = useHarness();
  const line = () => browser.panel.page.locator('.nest-line');
  const rows = () => browser.panel.page.locator('.nest-list .tool .row');
  const flat = () => browser.panel.page.locator('.page > [data-entry-id^=c]');

  it('are one line under their call, expanded and collapsed by mouse and keyboard', async () => {
    const items = withCalls(14);
    const panel = await browser.open({ items });
    await line().waitFor();
    assert.equal(await line().innerText(), '14 calls');
    assert.equal(await flat().count(), 0);
    await serveNested(panel, items, () => line().click());
    await panel.page.getByText('file15.ts').waitFor();
    assert.equal(await rows().count(), 14);
    assert.equal(await line().getAttribute('aria-expanded'), 'true');
    assert.equal(await panel.page.locator('.nest-list').getAttribute('aria-label'), 'Explore the parser: 14 calls');
    await panel.page.locator('[data-entry-id=t]').focus();
    await panel.page.keyboard.press('ArrowDown');
    await panel.page.waitForFunction(() => document.activeElement?.matches('[data-entry-id=c2]'));
    await panel.page.keyboard.press('ArrowLeft');
    await panel.page.waitForFunction(() => document.activeElement?.matches('[data-entry-id=t]'));
    await panel.page.keyboard.press('ArrowLeft');
    await panel.page.waitForFunction(() => document.querySelectorAll('.nest-list .tool').length === 0);
    await panel.page.keyboard.press('ArrowDown');
    await panel.page.waitForFunction(() => document.activeElement?.matches('[data-entry-id=z]'));
    await panel.page.keyboard.press('ArrowUp');
    await serveNested(panel, items, () => panel.page.keyboard.press('ArrowRight'));
    await panel.page.getByText('file15.ts').waitFor();
  });

  it('show how long their subagent runs, its activity and when it waits', async () => {
    const items = withCalls(3);
    items[1] = task('t', 'Explore the parser', { calls: 3, open: 1, now: 'Grep foo' }, 'in_progress');
    const panel = await browser.open({ items });
    await line().waitFor();
    assert.match(await line().innerText(), /^3 calls · running 3\d s · Grep foo$/);
    const asks: PermissionView = permission(3, { by: 'Explore the parser' });
    await panel.update({ op: 'session', patch: { permissions: [asks] } });
    await panel.answerable();
    assert.match(await line().innerText(), /^3 calls · waits for you · running/);
    // Until then it is drawn at its own place, with its details.
    assert.equal(await flat().count(), 1);
    assert.match(await flat().innerText(), /Asked by Explore the parser/);
    const name = await panel.page.locator('.permission').getAttribute('aria-label');
    assert.match(name ?? '', /^Permission: .*\(Explore the parser\)$/);
    await panel.update({ op: 'session', patch: { permissions: [] } });
    assert.equal(await flat().count(), 0);
    assert.doesNotMatch(await line().innerText(), /waits for you/);
  });

  it('are shown under their own subagent when several run in parallel', async () => {
    const items = [
      task('t', 'First', { calls: 2, open: 0 }),
      task('u', 'Second', { calls: 1, open: 0 }),
      child(2, [0]),
      child(3, [1]),
      child(4, [0]),
      message('z', 'agent', 'Done.'),
    ];
    const panel = await browser.open({ items });
    await serveNested(panel, items, () => line().first().click());
    await panel.page.getByText('file4.ts').waitFor();
    const order = await panel.page
      .locator('[data-entry-id]')
      .evaluateAll((entries) => entries.map((entry) => (entry as HTMLElement).dataset.entryId));
    assert.deepEqual(order, ['t', 'c2', 'c4', 'u', 'z']);
  });

  it('move under their call when it arrives later, and stay in place if it never does', async () => {
    const panel = await browser.open({ items: [tool('c0', { title: 'x', toolKind: 'edit' })] });
    await flat().waitFor();
    await panel.update(
      { op: 'put', index: 0, item: child(0, [1]) },
      { op: 'put', index: 1, item: task('t', 'Late', { calls: 1, open: 0 }) },
    );
    await line().waitFor();
    assert.equal(await flat().count(), 0);
  });

  it('are updated while expanded, with groups as elsewhere', async () => {
    const items = withCalls(1, { toolKind: 'read', title: 'Read a.ts', locations: [{ path: '/a.ts', label: 'a.ts' }] });
    const panel = await browser.open({ items: items.slice(0, 3) });
    await serveNested(panel, items, () => line().click());
    await rows().waitFor();
    const read = (index: number): ItemView =>
      child(index, [1], {
        toolKind: 'read',
        title: `Read ${index}.ts`,
        locations: [{ path: `/${index}.ts`, label: `${index}.ts` }],
      });
    for (const index of [3, 4])
      await panel.update(
        { op: 'put', index: 1, item: task('t', 'Explore the parser', { calls: index - 1, open: 0 }) },
        { op: 'put', index, item: read(index) },
      );
    const group = panel.page.locator('.nest-list .group-line');
    await group.waitFor();
    assert.equal(await group.innerText(), 'Read 3 files');
    await group.click();
    await panel.page.getByText('4.ts').waitFor();
    assert.equal(await rows().count(), 3);
  });

  it('scroll to the call when a nested call is revealed', async () => {
    const items = withCalls(200);
    const [from, total] = [items.length - 64, items.length];
    const panel = await browser.open({ items: items.slice(-64), from, total, nested: [[2, 201]] });
    await panel.next('page');
    await panel.send({ type: 'page', revision: panel.revision, from: 0, items: items.slice(0, 2) });
    await serveNested(panel, items, () => panel.send({ type: 'reveal', index: 150 }));
    await panel.page.locator('[data-entry-id=c150].found').waitFor();
  });

  it('are drawn in parts, for any number of calls', async () => {
    const items = withCalls(10_000);
    const panel = await browser.open({
      items: items.slice(-64),
      from: items.length - 64,
      total: items.length,
      nested: [[2, 10_001]],
    });
    // Only items drawn at their own place are requested.
    await panel.next('page');
    await panel.send({ type: 'page', revision: panel.revision, from: 0, items: items.slice(0, 2) });
    await line().waitFor();
    assert.deepEqual(
      (await panel.posted('page')).map(({ from, to }) => [from, to]),
      [[0, 2]],
    );
    await serveNested(panel, items, () => line().click());
    await panel.page.getByText('file10001.ts').waitFor();
    assert.equal(await rows().count(), 50);
    for (let asked = 1; asked <= 4; asked++) {
      const more = panel.page.locator('.nest-more').first();
      await serveNested(panel, items, () => more.click());
      await panel.page
        .getByText(`file${10_001 - 50 * (asked + 1) + 1}.ts`, { exact: true })
        .first()
        .waitFor();
    }
    assert.equal(await rows().count(), 150);
    assert.ok((await panel.elements()) < 6000, `${await panel.elements()} elements`);
  });

  it('take a bounded number of nodes per update, for any number of calls', async () => {
    const items = withCalls(2_000);
    const panel = await browser.open({
      items: items.slice(0, -1).slice(-64),
      from: items.length - 65,
      total: items.length - 1,
      nested: [[2, 2_001]],
    });
    await panel.next('page');
    await panel.send({ type: 'page', revision: panel.revision, from: 0, items: items.slice(0, 2) });
    await serveNested(panel, items, () => line().click());
    await panel.page.getByText('file2001.ts').waitFor();
    await panel.page.evaluate(() => {
      const counted = globalThis as unknown as { nodes: number };
      counted.nodes = 0;
      new MutationObserver((records) => {
        for (const { addedNodes } of records) counted.nodes += addedNodes.length;
      }).observe(document.querySelector('.transcript')!, { subtree: true, childList: true });
    });
    for (let index = 2_002; index < 2_022; index++)
      await panel.update(
        { op: 'put', index: 1, item: task('t', 'Explore the parser', { calls: index - 1, open: 0 }) },
        { op: 'put', index, item: child(index, [1]) },
      );
    const nodes = await panel.page.evaluate(() => (globalThis as unknown as { nodes: number }).nodes);
    assert.ok(nodes < 20 * 40, `${nodes} nodes for 20 updates`);
  });

  for (const [theme, language, width] of [
    ['dark', 'en', 860],
    ['light', 'en', 860],
    ['dark', 'de', 860],
    ['light', 'de', 280],
    ['hc', 'en', 520],
  ] as const) {
    it(`fit into their lines (${theme}, ${language}, ${width} px)`, async () => {
      const read = (index: number, name: string): ItemView =>
        child(index, [1], { toolKind: 'read', title: `Read ${name}`, locations: [{ path: `/${name}`, label: name }] });
      const items: ItemView[] = [
        message('a', 'user', 'Find out why the upload test is flaky.'),
        task('t', 'Explore the parser', { calls: 8, open: 1, now: 'Grep "listening" in src/server' }, 'in_progress'),
        task('u', 'Review the tests', { calls: 14, open: 0 }),
        read(3, 'src/parser/lexer.ts'),
        read(4, 'src/parser/tokens.ts'),
        read(5, 'src/parser/index.ts'),
        { ...message('c6', 'agent', 'The lexer waits for the **whole** line.'), path: [1] },
        child(7, [1], { toolKind: 'execute', title: 'npm test -- parser', status: 'failed' }),
        { ...task('c8', 'Look into the fixtures', { calls: 2, open: 0 }), path: [1] },
        child(9, [1], { toolKind: 'search', title: 'Grep "listening" in src/server', status: 'in_progress' }),
        child(10, [2], { toolKind: 'execute', title: 'rm -rf out', status: 'pending' }),
        child(11, [1, 8], { toolKind: 'edit', title: 'Edit fixtures/one.json' }),
        child(12, [1, 8], { toolKind: 'edit', title: 'Edit fixtures/two.json' }),
      ];
      const asks = permission(10, { title: 'rm -rf out', by: 'Review the tests' });
      const panel = await browser.open({
        theme,
        language,
        width,
        height: 900,
        items,
        session: { permissions: [asks], phase: 'requiresAction' },
      });
      await serveNested(panel, items, () => line().first().click());
      await serveNested(panel, items, () => panel.page.locator('[data-entry-id=c8] .nest-line').click());
      await panel.page.locator('[data-entry-id=c12]').waitFor();
      await panel.answerable();
      const wide = await panel.page.evaluate(() => {
        const box = document.querySelector('.transcript')!;
        return box.scrollWidth - box.clientWidth;
      });
      assert.ok(wide <= 0, `${wide} px too wide`);
      await panel.page.screenshot({ path: `out/screenshots/nested-${theme}-${language}-${width}.png` });
    });
  }
});
