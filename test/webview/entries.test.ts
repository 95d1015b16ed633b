// Every kind of entry in a real browser, by roles, accessible names and attributes.
import assert from 'node:assert/strict';
import type { ItemView } from '../../src/panel/contract';
import { THEMES } from '../support/tier';
import type { Panel, PanelOptions } from './harness/browser';
import { conversation, DIFF, message, permission, SESSION_FULL, tool } from './harness/samples';
import { useHarness } from './harness/useHarness';

describe('entries', () => {
  const browser = useHarness();
  let panel: Panel;

  async function open(items = conversation(), session: PanelOptions = {}): Promise<Panel> {
    panel = await browser.open({ items, height: 2400, ...session });
    return panel;
  }

  it('have the role, kind and id that tests and assistive technology use', async () => {
    const { page } = await open();
    const log = page.getByRole('log', { name: 'Conversation' });
    await log.locator('[data-entry-id="c9"]').waitFor(); // the last one: a long page is drawn in several frames
    const found = await log
      .getByRole('article')
      .evaluateAll((nodes) =>
        nodes.map((node) => `${node.getAttribute('data-entry-id')}:${node.getAttribute('data-kind')}`),
      );
    const expected = conversation()
      .filter(({ kind }) => kind !== 'turn_end')
      .map(({ id, kind }) => `${id}:${kind}`);
    assert.deepEqual(found, expected);
  });

  it('show the end of a turn as a separator with its reason and duration', async () => {
    const { page } = await open();
    const rule = page.getByRole('separator', { name: /Turn 1 ended/ });
    assert.equal(await rule.getAttribute('data-turn-id'), 't1');
    assert.equal(await rule.getAttribute('data-stop-reason'), 'end_turn');
    assert.equal(await rule.getAttribute('data-barrier'), 'turn_complete');
    assert.match(await rule.innerText(), /Turn 1 ended · 12\.4 s · 3 tools · 1 file · 8\.1K tokens/);
  });

  it('show an interrupted turn like any other, and a failed one as an error', async () => {
    const turn = {
      number: 1,
      origin: 'user',
      startedAt: 0,
      stopReason: 'error',
      barrier: 'exit',
      tools: 0,
      files: 0,
    } as const;
    const note = 'the window was closed or reloaded';
    const ends: ItemView[] = [
      { id: 'end1', kind: 'turn_end', at: 1, turn: { ...turn, id: 't1', interrupted: true, note } },
      { id: 'end2', kind: 'turn_end', at: 2, turn: { ...turn, id: 't2', note: 'Claude exited with code 3.' } },
      { id: 'end3', kind: 'turn_end', at: 3, turn: { ...turn, id: 't3', stopReason: 'end_turn' } },
    ];
    const { page } = await open(ends);
    const reasons = page.locator('.turn-reason');
    await reasons.nth(2).waitFor();
    assert.deepEqual(await page.locator('.turn-text').first().innerText(), `Turn 1 interrupted · ${note}`);
    assert.equal(await page.locator('.turn-rule').first().getAttribute('data-stop-reason'), 'error');
    const colours = await reasons.evaluateAll((nodes) => nodes.map((node) => getComputedStyle(node).color));
    assert.equal(colours[0], colours[2]);
    assert.notEqual(colours[1], colours[2]);
  });

  it('offer to load external content, and to retry what is missing', async () => {
    const { page } = await open([
      { id: 'g1', kind: 'gap', at: 1, text: 'a.zip (application/zip) is on x.', unloaded: true, retryId: 'past-0.1' },
      { id: 'g2', kind: 'gap', at: 2, text: 'Message 2 is missing.', retryId: 'past-1' },
      {
        id: 'g3',
        kind: 'gap',
        at: 3,
        text: 'evil\u202egnp.exe (image/png) is on x.',
        unloaded: true,
        retryId: 'past-2.0',
      },
    ]);
    await page.locator('[data-entry-id=g1]').getByRole('button', { name: 'Load', exact: true }).click();
    assert.deepEqual(await panel.next('retryGap'), { type: 'retryGap', key: 's1', id: 'past-0.1' });
    assert.equal(
      await page.locator('[data-entry-id=g2]').getByRole('button', { name: 'Retry', exact: true }).count(),
      1,
    );
    assert.doesNotMatch(await page.locator('[data-entry-id=g3]').innerText(), /\u202e/);
  });

  it('offer to retry everything missing at the first of several gaps', async () => {
    const gap = (number: number) =>
      ({
        id: `g${number}`,
        kind: 'gap',
        at: number,
        text: `Message ${number} is missing.`,
        retryId: `past-${number}`,
      }) as const;
    const { page } = await open([gap(1), message('a1', 'agent', 'Between'), gap(3), gap(4), gap(5)]);
    const all = page.getByRole('button', { name: 'Retry All', exact: true });
    assert.equal(await page.getByRole('button', { name: 'Retry', exact: true }).count(), 4);
    assert.deepEqual(
      await all.evaluateAll((buttons) =>
        buttons.map((button) => button.closest<HTMLElement>('.entry')?.dataset.entryId),
      ),
      ['g3'],
    );
    await all.click();
    assert.deepEqual(await panel.next('retryGaps'), { type: 'retryGaps', key: 's1' });
  });

  it('mark entries that arrived after their turn', async () => {
    const { page } = await open();
    const late = page.locator('[data-entry-id=a2]');
    assert.equal(await late.getAttribute('data-late'), 'true');
    assert.match(await late.innerText(), /After the turn/);
  });

  it('show the line numbers of a diff as in the file, or none if unknown', async () => {
    const edit = (id: string, unnumbered?: true): ItemView =>
      tool(id, { toolKind: 'edit', content: [{ type: 'diff', diff: { ...DIFF, ...(unnumbered && { unnumbered }) } }] });
    const { page } = await open([edit('known'), edit('unknown', true)]);
    const numbers = (id: string): Promise<(string | undefined)[]> =>
      page.locator(`[data-entry-id=${id}] .diff-line`).evaluateAll((lines) =>
        lines.slice(0, 2).map((line) => {
          const { old, new: next } = (line as HTMLElement).dataset;
          return `${old}|${next}`;
        }),
      );
    assert.deepEqual(await numbers('known'), ['   41|   41', '   42|     ']);
    assert.deepEqual(await numbers('unknown'), ['     |     ', '     |     ']);
  });

  it('show token counts by category in a tooltip and to assistive technology', async () => {
    const turn = {
      id: 't1',
      number: 1,
      origin: 'user',
      startedAt: 0,
      stopReason: 'end_turn',
      tools: 0,
      files: 0,
    } as const;
    const { page } = await open([
      {
        kind: 'turn_end',
        id: 'end1',
        at: 0,
        turn: { ...turn, tokens: 1500, tokenParts: { input: 1000, output: 300, thought: 200 } },
      },
      { kind: 'turn_end', id: 'end2', at: 0, turn: { ...turn, tokens: 7 } },
      message('a', 'agent', [
        { type: 'unknown', kind: 'text', json: 'check the **date**', forAgent: true },
        { type: 'text', text: 'Hello' },
      ]),
    ]);
    const [first, second] = [
      page.locator('[data-entry="turn_end end1"]'),
      page.locator('[data-entry="turn_end end2"]'),
    ];
    const title = (entry: typeof first) => entry.locator('.fact', { hasText: 'tokens' }).getAttribute('title');
    assert.equal(await title(first), 'Input: 1,000\nOutput: 300\nThinking: 200');
    assert.equal(await title(second), null);
    assert.match((await first.locator('.turn-rule').getAttribute('aria-label')) ?? '', /1\.5K tokens, Input: 1,000/);
    const entry = page.locator('[data-entry-id=a]');
    assert.doesNotMatch(await entry.innerText(), /check the/);
    await entry.getByText('For the agent').click();
    await entry.getByText('check the **date**').waitFor();
  });

  it('offer to resend a failed prompt only at the end of the latest turn, while the host allows it', async () => {
    const failed = (number: number): ItemView => ({
      kind: 'turn_end',
      id: `end${number}`,
      turnId: `t${number}`,
      at: 0,
      turn: { id: `t${number}`, number, origin: 'user', startedAt: 0, stopReason: 'error', tools: 0, files: 0 },
    });
    const { page } = await open([message('u1', 'user', 'one'), failed(1), message('u2', 'user', 'two'), failed(2)], {
      session: { failedTurnId: 't2' },
    });
    const again = page.getByRole('button', { name: 'Send again' });
    assert.equal(await again.count(), 1);
    await again.click();
    assert.equal((await panel.next('sendAgain')).turnId, 't2');
    await panel.update({ op: 'session', patch: { failedTurnId: null } });
    assert.equal(await again.count(), 0);
  });

  it('offer other ways to resend a failed prompt only at the error of the latest turn', async () => {
    const failure = (number: number): ItemView => ({
      kind: 'error',
      id: `e${number}`,
      turnId: `t${number}`,
      at: 0,
      code: 'agent-error server_error',
      text: 'All connection attempts failed',
      hint: "Message 2 of 4 can't be read.",
      actions: [
        { id: 'continue:without', label: 'Continue without message 2' },
        { id: 'continue:transcript', label: 'Send the transcript instead' },
      ],
    });
    const { page } = await open([failure(1), failure(2)], { session: { failedTurnId: 't2' } });
    const without = page.getByRole('button', { name: 'Continue without message 2' });
    assert.equal(await without.count(), 1);
    await without.click();
    assert.equal((await panel.next('action')).id, 'continue:without');
    await panel.update({ op: 'session', patch: { failedTurnId: null } });
    assert.equal(await page.getByRole('button', { name: /Continue without|transcript/ }).count(), 0);
  });

  it('open the full output of a truncated tool call in the editor', async () => {
    const output = 'line\n'.repeat(500);
    const terminal = { id: 'x', output, truncated: false, running: false, openable: false } as const;
    const { page } = await open([
      tool('text', {
        content: [
          { type: 'content', block: { type: 'text', text: 'whole' } },
          { type: 'content', block: { type: 'text', text: 'begin … end' }, cut: true },
        ],
      }),
      tool('terminal', { toolKind: 'execute', content: [{ type: 'terminal', terminal }] }),
    ]);
    const button = page.getByRole('button', { name: 'Open full output in editor' });
    await page.locator('[data-entry-id=text] .row').click();
    await button.click();
    assert.deepEqual(await panel.next('openOutput'), { type: 'openOutput', key: 's1', index: 0, content: 1 });
    await page.locator('[data-entry-id=text] .row').click();
    await page.locator('[data-entry-id=terminal] .row').click();
    const before = await panel.count();
    await button.click();
    assert.equal((await panel.next('openOutput', before)).index, 1);
  });

  it('stack tool calls without content in rows of 24 px, and separate others', async () => {
    const fetched = (id: string) => tool(id, { title: `Fetch ${id}.ts`, toolKind: 'fetch' });
    const edit = tool('edit', { title: 'Edit', toolKind: 'edit', content: [{ type: 'diff', diff: DIFF }] });
    const { page } = await open([fetched('a'), fetched('b'), fetched('c'), edit, fetched('d')]);
    const box = (id: string) => page.locator(`[data-entry-id=${id}]`).boundingBox();
    const [a, b, c, between, d] = await Promise.all(['a', 'b', 'c', 'edit', 'd'].map(box));
    assert.ok(a && b && c && between && d);
    assert.deepEqual([b.y - a.y, c.y - b.y], [24, 24]);
    assert.ok(between.y >= c.y + c.height + 4 && d.y >= between.y + between.height + 4);
  });

  it('enlarge an image on click or key, and restore the focus on Escape', async () => {
    const data = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    const { page } = await open([message('u', 'user', [{ type: 'image', data, mimeType: 'image/png' }])]);
    const small = page.getByRole('button', { name: 'Enlarge image' });
    await small.click();
    await page.getByRole('dialog', { name: 'Image' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Close image' }).click();
    assert.equal(await page.getByRole('dialog').count(), 0);
    assert.ok(await small.evaluate((node) => node === document.activeElement));
  });

  it('scroll to a search result and highlight only that', async () => {
    const items = Array.from({ length: 300 }, (_, index) => message(`m${index}`, 'agent', `Paragraph ${index}`));
    const { page } = await open(items, { height: 600 });
    for (const index of [20, 90]) {
      await panel.send({ type: 'reveal', index });
      await page.locator(`.found[data-entry-id=m${index}]:focus`).waitFor();
      const place = await page.locator(`[data-entry-id=m${index}]`).boundingBox();
      assert.ok(place && place.y > 0 && place.y < 600);
    }
    assert.equal(await page.locator('.found').count(), 1);
  });

  it('show the status of a tool call as an attribute and as text', async () => {
    const { page } = await open();
    const failed = page.locator('[data-entry-id=c4]');
    assert.equal(await failed.getAttribute('data-tool-status'), 'failed');
    assert.match(await failed.locator('.status').innerText(), /Failed/);
    assert.match(
      (await page.locator('[data-entry-id=c1]').innerText()).replace(/\s+/g, ' '),
      /Read test\/ ?upload\.test\.ts 0\.1 s/,
    );
  });

  it('keep the whitespace of user messages and show markup in them as text', async () => {
    const text = '  two\n\n   <b>lines</b> **not bold**';
    const { page } = await open([message('u', 'user', text)]);
    const body = page.locator('[data-entry-id=u] .said');
    assert.equal(await body.evaluate((node) => node.textContent), text);
    assert.equal(await body.evaluate((node) => getComputedStyle(node).whiteSpace), 'pre-wrap');
    assert.equal(await body.locator('b, strong').count(), 0);
  });

  it('render fences, lists and quotes of user messages, and keep their line breaks', async () => {
    const { page } = await open([
      message('u', 'user', 'Why?\nSee:\n\n```ts\nlet x = <b>1</b>;\n```\n\n- one\n- two\n\n> said'),
      message('v', 'user', '# a comment in code\nx = a*b*c'),
    ]);
    const text = page.locator('[data-entry-id=u] .said');
    assert.equal(await text.locator('pre code').innerText(), 'let x = <b>1</b>;');
    assert.deepEqual(await text.locator('li').allInnerTexts(), ['one', 'two']);
    assert.equal(await text.locator('blockquote').innerText(), 'said');
    assert.equal(await text.locator('p').first().innerText(), 'Why?\nSee:');
    assert.equal(await page.locator('[data-entry-id=v] .said').innerText(), '# a comment in code\nx = a*b*c');
  });

  it('collapse text that an agent adds to a user message, and draw its images', async () => {
    const data = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    const { page } = await open([
      message('u', 'user', `Fix it\n<system-reminder>\n${'Be brief. '.repeat(900)}\n</system-reminder>`),
      message('v', 'user', data),
    ]);
    const entry = page.locator('[data-entry-id=u]');
    assert.equal(await entry.locator('.said').innerText(), 'Fix it');
    assert.equal(await entry.getByRole('button', { name: 'Show all' }).count(), 0);
    await entry.getByText('system-reminder', { exact: true }).click();
    assert.match(await entry.locator('.fold-body pre').innerText(), /^Be brief\./);
    await page.locator('[data-entry-id=v] img').waitFor();
    assert.equal(await page.locator('[data-entry-id=v] .said').count(), 0);
  });

  it('hide a blank message of the agent until it has text', async () => {
    const { page } = await open([message('a', 'agent', ' \n')]);
    const entry = page.locator('[data-entry-id=a]');
    assert.equal(await page.getByRole('article').count(), 0);
    await panel.update({ op: 'append', index: 0, text: 'Done', until: 0 });
    await entry.getByText('Done').waitFor();
  });

  it('show attachments as chips with their lines, and open them', async () => {
    const uri = 'file:///work/app/src/deferred.ts#L4-L6';
    const { page } = await open([
      message('u', 'user', [
        { type: 'text', text: 'Why?' },
        { type: 'resource', uri, text: 'await promise;' },
      ]),
    ]);
    const entry = page.locator('[data-entry-id=u]');
    assert.match(await entry.innerText(), /deferred\.ts:4–6/);
    assert.equal(await entry.getByRole('button').count(), 0);
    await entry.getByRole('link', { name: 'deferred.ts:4–6' }).click();
    assert.deepEqual(await panel.next('openLink'), { type: 'openLink', key: 's1', href: uri });
  });

  it('show the folder of attachments with equal names, or number them', async () => {
    const places = [
      'file:///w/src/index.ts',
      'file:///w/lib/index.ts',
      'file:///w/a.ts',
      ...Array(2).fill('attachment:///b'),
    ];
    const attached = places.map((uri) => ({ type: 'resource_link', uri, name: 'x' }) as const);
    const { page } = await open([message('u', 'user', [{ type: 'text', text: 'Why?' }, ...attached])]);
    const chips = await page.locator('[data-entry-id=u] .chip').allInnerTexts();
    assert.deepEqual(
      chips.map((chip) => chip.trim()),
      ['src/index.ts', 'lib/index.ts', 'a.ts', 'b', 'b (2)'],
    );
  });

  it('truncate long output lines until expanded', async () => {
    const line = '漢字 abc '.repeat(2_000);
    const content = [{ type: 'content', block: { type: 'text', text: `a\n${line}\nb` } }] as const;
    const terminal = { id: 'x', output: line, truncated: false, running: false, openable: false } as const;
    const { page } = await open([
      tool('f', { toolKind: 'fetch', content }),
      tool('e', { toolKind: 'execute', content: [{ type: 'terminal', terminal }] }),
    ]);
    const length = (id: string) =>
      page.locator(`[data-entry-id=${id}] .terminal-lines`).evaluate((node) => node.textContent?.length ?? 0);
    for (const id of ['f', 'e']) await page.locator(`[data-entry-id=${id}] .row`).click();
    assert.equal(await length('f'), 5_005);
    assert.equal(await length('e'), 5_001);
    await page.locator('[data-entry-id=e]').getByRole('button', { name: 'Open full output in editor' }).waitFor();
    await page.getByRole('button', { name: 'Show whole lines' }).click();
    assert.equal(await length('f'), line.length + 4);
  });

  it('collapse a thought to one line and expand it on demand', async () => {
    const { page } = await open([message('t', 'thought', 'First.\n\nThen **this**.', 4200)]);
    const row = page.getByRole('button', { name: 'Thought for 4 s' });
    assert.equal(await row.getAttribute('aria-expanded'), 'false');
    assert.equal(await page.locator('[data-entry-id=t] strong').count(), 0);
    await row.click();
    await page.locator('[data-entry-id=t] strong', { hasText: 'this' }).waitFor();
    assert.equal(await row.getAttribute('aria-expanded'), 'true');
  });

  it('show the end of a thought while it streams', async () => {
    const running = {
      phase: 'running' as const,
      turn: { id: 't1', number: 1, origin: 'user' as const, startedAt: 0, tools: 0, files: 0 },
    };
    const { page } = await open([message('t', 'thought', 'One line.\nAnd the')], { session: running });
    await panel.update({ op: 'append', index: 0, text: ' next', until: 0 });
    assert.match(await page.locator('[data-entry-id=t]').innerText(), /Thinking…\s*And the next/);
  });

  it('show an edit with its counts, and open it in the editor', async () => {
    const { page } = await open([
      tool('c', { title: 'Edit', toolKind: 'edit', content: [{ type: 'diff', diff: DIFF }] }),
    ]);
    await page.locator('.diff-line').nth(2).waitFor();
    const lines = await page
      .locator('.diff-line')
      .evaluateAll((nodes) =>
        nodes.map((node) => [
          node.getAttribute('data-old')?.trim(),
          node.getAttribute('data-new')?.trim(),
          node.textContent,
        ]),
      );
    assert.deepEqual(lines.slice(0, 3), [
      ['41', '41', '  const server = start();'],
      ['42', '', '  await sleep(100);'],
      ['', '42', "  await once(server, 'listening');"],
    ]);
    await page.getByRole('button', { name: 'Open diff' }).click();
    assert.deepEqual(await panel.next('openDiff'), { type: 'openDiff', key: 's1', index: 0, content: 0 });
  });

  it('state that a file was written differently from the diff, and compare them', async () => {
    const diff = { ...DIFF, writtenDifferently: true } as const;
    const panel = await open([tool('e1', { toolKind: 'edit', content: [{ type: 'diff', diff }] })]);
    await panel.page.getByText('The file was written differently. Compare').click();
    const { index, content } = await panel.next('openWritten');
    assert.deepEqual({ index, content }, { index: 0, content: 0 });
  });

  it('show the end of a command’s output in terminal colours, and follow it', async () => {
    const terminal = { id: 'x', output: 'one\n', truncated: false, running: true, openable: true } as const;
    const { page } = await open([
      tool('c', {
        title: 'run',
        toolKind: 'execute',
        status: 'in_progress',
        content: [{ type: 'terminal', terminal }],
      }),
    ]);
    await panel.update({
      op: 'terminal',
      terminalId: 'x',
      text: '\u001b[31mred\u001b[0m\rover\n\u001b[38;5;208mmany\u001b[0m',
      drop: 2,
    });
    const output = page.locator('.terminal-lines');
    assert.equal(await output.innerText(), 'e\nover\nmany');
    assert.equal(
      await output
        .locator('span')
        .last()
        .evaluate((node) => getComputedStyle(node).color),
      'rgb(255, 135, 0)',
    );
    await page.getByRole('button', { name: /Run/ }).first().click();
    await page.getByRole('button', { name: 'Open in terminal' }).click();
    assert.deepEqual(await panel.next('openTerminal'), { type: 'openTerminal', key: 's1', terminalId: 'x' });
  });

  it('expand a tool call to its locations, and request its raw input only then', async () => {
    const { page } = await open();
    assert.equal((await panel.posted('details')).length, 0);
    await page.locator('[data-entry-id=c1] .row').click();
    assert.deepEqual(await panel.next('details'), { type: 'details', key: 's1', index: 3 });
    await page.getByRole('button', { name: 'Open test/upload.test.ts:40' }).click();
    assert.deepEqual(await panel.next('openLocation'), {
      type: 'openLocation',
      key: 's1',
      path: '/work/app/test/upload.test.ts',
      line: 40,
    });
    const item = tool('c1', {
      title: 'Read test/upload.test.ts',
      toolKind: 'read',
      hasRaw: true,
      rawInput: '{"path":"x"}',
    });
    await panel.update({ op: 'put', index: 3, item });
    assert.match(await page.locator('[data-entry-id=c1]').innerText(), /"path":"x"/);
  });

  it('show unmarked output as is, with carriage returns as in a terminal', async () => {
    const text = (said: string) => [{ type: 'content', block: { type: 'text', text: said } }] as const;
    const listing = '# total 2\n-rw-r--r--  a_b_c\n\n\n  * x';
    const { page } = await open([
      tool('e', { toolKind: 'execute', content: text(`${listing}\n 10 %\r 50 %\r100 %\r\ndone`) }),
      tool('f', { toolKind: 'fetch', content: text('{"a": "*b*"}\n# c') }),
      tool('o', { content: text('# one') }),
      tool('c', { toolKind: 'execute', content: text('# readme\n```sh\nnpm i\n```\nend') }),
      tool('m', { toolKind: 'fetch', content: text('# page\n```sh\nnpm i\n```\nend') }),
      tool('p', { toolKind: 'switch_mode', content: text('# plan') }),
    ]);
    for (const id of ['e', 'f', 'o', 'c', 'm', 'p']) await page.locator(`[data-entry-id=${id}] .row`).click();
    const output = (id: string) => page.locator(`[data-entry-id=${id}] .terminal-lines`).innerText();
    assert.equal(await output('e'), `${listing}\n100 %\ndone`);
    assert.equal(await output('f'), '{"a": "*b*"}\n# c');
    assert.equal(await output('o'), '# one');
    assert.equal(await output('c'), '# readme\n```sh\nnpm i\n```\nend');
    await page.locator('[data-entry-id=m] h3').waitFor();
    await page.locator('[data-entry-id=p] h3').waitFor();
  });

  it('show file contents as is, a fence in them as code, and the raw JSON only on demand', async () => {
    const text = (said: string) => [{ type: 'content', block: { type: 'text', text: said } }] as const;
    const { page } = await open([
      tool('r', { toolKind: 'read', content: text('# one\n*two*\n  three'), hasRaw: true, rawOutput: '{"a":1}' }),
      tool('s', { toolKind: 'search', content: text('```ts\nlet x;\n```') }),
    ]);
    for (const id of ['r', 's']) await page.locator(`[data-entry-id=${id}] .row`).click();
    assert.equal(await page.locator('[data-entry-id=r] .terminal-lines').innerText(), '# one\n*two*\n  three');
    assert.equal(await page.locator('[data-entry-id=s] pre').innerText(), 'let x;');
    const raw = page.locator('[data-entry-id=r] .tool-facts');
    assert.doesNotMatch(await raw.innerText(), /"a"/);
    await raw.getByText('Raw output').click();
    await raw.getByText('{"a":1}').waitFor();
  });

  it('keep the link to a diff in narrow panels, and show who allowed a call once expanded', async () => {
    await open(
      [
        tool('e', {
          toolKind: 'edit',
          title: 'Edit a.ts',
          decision: { outcome: 'allowed' },
          content: [{ type: 'diff', diff: DIFF }],
        }),
      ],
      {
        width: 300,
      },
    );
    const entry = panel.page.locator('[data-entry-id=e]');
    await entry.getByRole('button', { name: 'Open diff' }).click();
    assert.equal((await panel.next('openDiff')).index, 0);
    assert.equal(await entry.getByText('Allowed').count(), 0);
    await entry.locator('.row').click();
    await entry.getByText('Allowed', { exact: true }).waitFor();
  });

  it('show what Parley attached for a mention by its name', async () => {
    const block = { type: 'resource', uri: 'parley:changes/changes', mimeType: 'text/plain', text: '-a\n+b' } as const;
    const content = [{ type: 'text', text: 'Review @changes' }, block] as const;
    const { page } = await open([{ ...message('u', 'user', ''), content } as ItemView]);
    const chips = page.locator('[data-entry-id=u] .chips');
    assert.equal((await chips.innerText()).trim(), 'changes');
    await chips.getByText('changes').click();
    await chips.getByText('+b').waitFor();
  });

  it("show the user's edit of a change as a notice with its diff", async () => {
    const edits = { ...DIFF, path: 'src/a.ts', label: 'src/a.ts' };
    const editMessage = { ...message('u', 'user', 'I edited your change of src/a.ts and …'), edits } as ItemView;
    const decision = { outcome: 'allowedEdited' } as const;
    const { page } = await open([tool('e', { toolKind: 'edit', title: 'Edit src/a.ts', decision }), editMessage]);
    const notice = page.getByRole('article', { name: 'Notice' });
    assert.match(await notice.innerText(), /^Your version of src\/a\.ts was saved\. .+ was told what you changed\./);
    assert.equal(await notice.locator('.bubble').count(), 0);
    await notice.locator('.diff-line.added').first().waitFor();
    await notice.locator('.diff-head .path').click();
    assert.equal((await panel.next('openLocation')).path, 'src/a.ts');
    await page.locator('[data-entry-id=e]').getByText('Allowed with your edits').waitFor();
  });

  it('show a long user message completely, line by line', async () => {
    const lines = Array.from({ length: 900 }, (_, index) => (index % 90 === 7 ? '' : `line ${index}`));
    const text = `${lines.join('\n')}\n${'A'.repeat(9_000)}\n\n\nend`;
    const { page } = await open([message('u', 'user', text)]);
    await page.getByRole('button', { name: 'Show all' }).click();
    const selectedText = await page.locator('.said').evaluate((said) => {
      getSelection()?.selectAllChildren(said);
      return getSelection()?.toString();
    });
    assert.equal(selectedText, text);
  });

  it('show the beginning of a long message until it is expanded, and wrap endless lines', async () => {
    const { page } = await open([message('u', 'user', '\u001b['.repeat(50_000))]);
    const boxes = (): Promise<number[]> =>
      page.locator('.said .text-box').evaluateAll((all) => all.map((box) => box.textContent?.length ?? 0));
    const sum = (lengths: readonly number[]): number => lengths.reduce((total, length) => total + length, 0);
    assert.equal(sum(await boxes()), 6_000);
    await page.getByRole('button', { name: 'Show all' }).click();
    assert.equal(sum(await boxes()), 100_000);
    assert.ok(Math.max(...(await boxes())) <= 12_000);
    assert.ok(await page.getByRole('button', { name: 'Show less' }).evaluate((it) => it === document.activeElement));
  });

  it('stay expanded after a reload', async () => {
    const { page } = await open();
    await page.locator('[data-entry-id=th1] .row').click();
    await page.locator('[data-entry-id=th1] .blocks').waitFor();
    await page.reload();
    await panel.next('hello');
    await panel.snapshot({ items: conversation() });
    await page.locator('[data-entry-id=th1] .blocks').waitFor();
  });

  it('show unknown content as JSON on demand', async () => {
    const { page } = await open([
      tool('c', { content: [{ type: 'raw', kind: 'hologram', json: '{"type":"hologram"}' }] }),
      {
        kind: 'notice',
        id: 'n',
        at: 0,
        severity: 'info',
        title: 'Unknown update',
        text: '',
        json: '{"sessionUpdate":"x"}',
      },
    ]);
    await page.locator('[data-entry-id=c] .row').click();
    await page.getByText('Unsupported content: hologram').click();
    await page.getByText('{"type":"hologram"}').waitFor();
    await page.getByText('Raw message').click();
    await page.getByText('{"sessionUpdate":"x"}').waitFor();
  });

  it('show embedded images and fetch none', async () => {
    const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    const { page } = await open([
      message('a', 'agent', [
        { type: 'image', data: png, mimeType: 'image/png' },
        { type: 'text', text: `![in](data:image/png;base64,${png}) ![out](https://example.com/x.png)` },
      ]),
    ]);
    assert.equal(await page.locator('[data-entry-id=a] img').count(), 2);
    await page.getByRole('link', { name: 'out' }).click();
    assert.deepEqual(await panel.next('openLink'), { type: 'openLink', key: 's1', href: 'https://example.com/x.png' });
  });

  it('keep shown images when another one is added', async () => {
    const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkM+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    const image = { type: 'image', data: png, mimeType: 'image/png' } as const;
    const { page } = await open([message('a', 'agent', [image])]);
    const first = await page.locator('[data-entry-id=a] img').elementHandle();
    await panel.update({ op: 'blocks', index: 0, from: 1, blocks: [{ type: 'text', text: 'and' }, image], until: 0 });
    await page.getByText('and', { exact: true }).waitFor();
    assert.equal(await page.locator('[data-entry-id=a] img').count(), 2);
    assert.equal(await first?.evaluate((node) => node.isConnected), true);
    await panel.update({ op: 'append', index: 0, text: 'then', until: 0 });
    await page.getByText('then', { exact: true }).waitFor();
  });

  it('fit in each theme and at 260 px without a horizontal scroll bar', async () => {
    for (const theme of THEMES) {
      const items = conversation();
      const session = { ...SESSION_FULL, permissions: [permission(items.length - 1)] };
      await open(items, { theme, width: 260, height: 800, session });
      const wide = await panel.page.evaluate(() => {
        const { scrollWidth, clientWidth } = document.querySelector('.transcript')!;
        const buttons = [...document.querySelectorAll('button')].filter(
          (button) => button.getBoundingClientRect().right > innerWidth,
        );
        return { over: scrollWidth - clientWidth, outside: buttons.map((button) => button.textContent) };
      });
      assert.deepEqual(wide, { over: 0, outside: [] }, theme);
    }
  });
});
