// Links from file paths in messages and command output.
import assert from 'node:assert/strict';
import type { Panel } from './harness/browser';
import { message, tool } from './harness/samples';
import { useHarness } from './harness/useHarness';

const OUTPUT = [
  'test/upload.test.ts:7:  await sleep(100);',
  'src/a.ts(3,14): error TS2304: no such name',
  '    at start (/work/app/src/server.ts:12:5)',
  '    at file:///work/app/dist/main.mjs:1:2',
  'C:\\work\\app\\src\\win.ts:4:1',
  'Änderung in src/größe.ts',
  'app/(shop)/[id]/page.tsx:1 (app/[[...slug]]/[id].tsx:2:3) [src/c.ts:4] f(x.ts:5)',
  '\u001b[36msrc/colour.ts\u001b[0m and \u001b[1mlib/bold.py:9\u001b[0m',
  // None of these is a file.
  'https://example.com/page.html v1.2.3 and/or 10:30 console.log a.b.c 127.0.0.1:80 1.5/2.5',
].join('\n');
const LINKS = [
  ['test/upload.test.ts:7', 'test/upload.test.ts:7'],
  ['src/a.ts(3,14)', 'src/a.ts:3:14'],
  ['/work/app/src/server.ts:12:5', '/work/app/src/server.ts:12:5'],
  ['file:///work/app/dist/main.mjs:1:2', 'file:///work/app/dist/main.mjs:1:2'],
  ['C:\\work\\app\\src\\win.ts:4:1', 'C:\\work\\app\\src\\win.ts:4:1'],
  ['src/größe.ts', 'src/größe.ts'],
  ['app/(shop)/[id]/page.tsx:1', 'app/(shop)/[id]/page.tsx:1'],
  ['app/[[...slug]]/[id].tsx:2:3', 'app/[[...slug]]/[id].tsx:2:3'],
  ['src/c.ts:4', 'src/c.ts:4'],
  ['x.ts:5', 'x.ts:5'],
  ['src/colour.ts', 'src/colour.ts'],
  ['lib/bold.py:9', 'lib/bold.py:9'],
] as const;

describe('file paths', () => {
  const browser = useHarness();

  const linksIn = (panel: Panel, selector: string) => panel.page.locator(`${selector} a.link`).allInnerTexts();

  const terminal = (running: boolean) =>
    tool('t', {
      title: 'npm test',
      toolKind: 'execute',
      status: running ? 'in_progress' : 'completed',
      content: [
        { type: 'terminal', terminal: { id: 'x', output: OUTPUT, truncated: false, running, openable: false } },
      ],
    });

  it('are links in the output of a finished command', async () => {
    const panel = await browser.open({ items: [terminal(true)] });
    await panel.page.locator('[data-entry-id=t] .row').click();
    assert.deepEqual(await linksIn(panel, '.terminal-lines'), []);
    await panel.update({ op: 'put', index: 0, item: terminal(false) });
    assert.deepEqual(
      await linksIn(panel, '.terminal-lines'),
      LINKS.map(([text]) => text),
    );
    for (const [index, [text, href]] of LINKS.entries()) {
      await panel.page.locator('.terminal-lines a.link').nth(index).press('Enter');
      assert.equal((await panel.posted('openLink')).at(-1)?.href, href, text);
    }
  });

  it('are links in search results, whose text is unchanged', async () => {
    const content = [{ type: 'content', block: { type: 'text', text: OUTPUT } }] as const;
    const panel = await browser.open({ items: [tool('s', { toolKind: 'search', title: 'sleep(', content })] });
    await panel.page.locator('[data-entry-id=s] .row').click();
    assert.equal((await linksIn(panel, '.terminal-lines')).length, LINKS.length);
    const output = await panel.page.locator('.terminal-lines').innerText();
    assert.match(output, /^test\/upload\.test\.ts:7: {2}await sleep\(100\);\nsrc\/a\.ts\(3,14\): error/);
  });

  it('are links in prose if they have a line, but not inside a link', async () => {
    const text =
      'See src/upload.ts:4, lib/util.ts and [the test `src/a.ts:1` in src/b.ts:2](src/c.ts#L3), **src/d.ts:5**.';
    const panel = await browser.open({ items: [message('a', 'agent', 'See src/up')] });
    await panel.update({ op: 'append', index: 0, text: text.slice(10), until: 0 });
    assert.deepEqual(await linksIn(panel, '.segment'), [
      'src/upload.ts:4',
      'the test src/a.ts:1 in src/b.ts:2',
      'src/d.ts:5',
    ]);
    assert.equal(await panel.page.locator('a a').count(), 0);
    await panel.page.getByRole('link', { name: 'src/upload.ts:4' }).click();
    assert.equal((await panel.next('openLink')).href, 'src/upload.ts:4');
  });

  it('are links in prose and code even if folders are in brackets', async () => {
    const paths = ['app/(shop)/[id]/page.tsx:1', 'app/[[...slug]]/page.tsx:2'];
    const panel = await browser.open({ items: [message('a', 'agent', `See ${paths[0]} and \`${paths[1]}\`.`)] });
    await panel.page.locator('.segment').waitFor();
    assert.deepEqual(await linksIn(panel, '.segment'), paths);
  });

  it('are not linked in long outputs, and at most a hundred times', async () => {
    const many = (count: number) => Array.from({ length: count }, (_, at) => `src/file${at}.ts:1`).join('\n');
    const of = (id: string, text: string) =>
      tool(id, { toolKind: 'search', content: [{ type: 'content', block: { type: 'text', text } }] });
    const panel = await browser.open({ items: [of('s', many(300)), of('l', many(6_000))], height: 1_000 });
    for (const id of ['s', 'l']) await panel.page.locator(`[data-entry-id=${id}] .row`).click();
    assert.equal((await linksIn(panel, '[data-entry-id=s]')).length, 100);
    assert.equal((await linksIn(panel, '[data-entry-id=l]')).length, 0);
  });
});
