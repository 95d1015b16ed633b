// The traffic inspector in a real browser.
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import type { FromTraffic, LaneMark, ToTraffic, TrafficRow, TurnLane } from '../../src/panel/trafficContract';
import { THEMES } from '../support/tier';
import { cutOff, seriousFindings } from './harness/axe';
import type { Theme } from './harness/server';
import type { Language } from './harness/texts';
import { useHarness } from './harness/useHarness';

interface TrafficHost {
  readonly posted: readonly FromTraffic[];
  readonly violations: readonly string[];
  send(message: ToTraffic): void;
  next(type: string, after?: number): Promise<FromTraffic>;
}

const SESSIONS: ToTraffic = {
  type: 'sessions',
  sessions: [
    { key: 'a', label: 'Claude: Fix the parser' },
    { key: 'b', label: 'Gemini: New session' },
  ],
};

function row(seq: number, given: Partial<TrafficRow> = {}): TrafficRow {
  const at = new Date(2026, 0, 1, 12, 0, 0, seq).getTime();
  return {
    seq,
    at,
    key: 'a',
    direction: 'in',
    kind: 'notification',
    method: 'session/update agent_message_chunk',
    size: 240 + seq,
    ...given,
  };
}

const ROWS: readonly TrafficRow[] = [
  row(0, { direction: 'out', kind: 'request', method: 'initialize', id: '0' }),
  row(1, { kind: 'response', method: 'initialize', id: '0', ms: 376, request: 0 }),
  row(2, { direction: 'stderr', kind: 'text', method: '[session/create] phase=settings' }),
  row(3, { direction: 'out', kind: 'request', method: 'session/prompt', id: '2' }),
  row(4),
  row(5, { kind: 'response', method: 'session/prompt', id: '2', ms: 12_345, request: 3, isError: true }),
  row(6, { direction: 'noise', kind: 'text', method: 'Listening on 8080', isError: true }),
  row(7, { key: 'b' }),
];

function lane(id: number, marks: readonly Partial<LaneMark>[], given: Partial<TurnLane> = {}): TurnLane {
  let at = 0;
  const timed = marks.map((mark, index): LaneMark => {
    const ms = index === 0 ? 0 : (mark.ms ?? 10);
    at += ms;
    return { kind: 'sent', ...mark, ms, at };
  });
  return { id, key: 'a', requestId: String(id), marks: timed, ...given };
}

const LANES: ToTraffic = {
  type: 'lanes',
  first: 1,
  lanes: [
    lane(1, [
      { seq: 0 },
      { kind: 'output', seq: 1 },
      { kind: 'barrier', seq: 3, ms: 12_345 },
      { kind: 'settled' },
      { kind: 'answer', seq: 5, note: 'late', ms: 2_000 },
    ]),
    lane(2, [
      { seq: 3 },
      { kind: 'barrier', seq: 4, note: 'foreign' },
      { kind: 'idle', seq: 7, note: 'doubled', count: 3 },
    ]),
    lane(3, [{ kind: 'output', seq: 7 }], { key: 'b', isOwn: true }),
  ],
};

describe('the traffic inspector', () => {
  const browser = useHarness();
  let page: Page;

  async function open(theme: Theme = 'dark', width = 860, language: Language = 'en'): Promise<void> {
    page = await browser.harness.page(browser.harness.server.toolUrl('traffic', theme, language), width, 700);
    await page.evaluate(() => (host as unknown as TrafficHost).next('hello'));
  }
  const send = (message: ToTraffic): Promise<void> =>
    page.evaluate((data) => (host as unknown as TrafficHost).send(data), message);
  const add = async (rows: readonly TrafficRow[], first = 0, found: readonly number[] = []): Promise<void> => {
    const after = await page.evaluate(() => host.posted.length);
    await send({ type: 'rows', first, rows, found });
    await page.evaluate((skip) => (host as unknown as TrafficHost).next('ack', skip), after);
    await painted();
  };
  const painted = (): Promise<unknown> =>
    page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  const posted = async <T extends FromTraffic['type']>(type: T): Promise<Extract<FromTraffic, { type: T }>[]> => {
    const all = await page.evaluate(() => (host as unknown as TrafficHost).posted);
    return all.filter((message): message is Extract<FromTraffic, { type: T }> => message.type === type);
  };
  const next = async <T extends FromTraffic['type']>(type: T): Promise<Extract<FromTraffic, { type: T }>> =>
    (await page.evaluate((name) => (host as unknown as TrafficHost).next(name), type)) as Extract<
      FromTraffic,
      { type: T }
    >;
  const grid = () => page.getByRole('grid', { name: 'Messages' });
  const drawn = () => page.locator('.traffic-rows [role=row]');
  const visibleRows = async (): Promise<readonly string[]> => {
    await painted();
    return (await page.locator('.traffic-rows .traffic-method').allInnerTexts()).map((text) => text.trim());
  };
  const selected = (seq: number) => page.locator(`#message-${seq}[aria-selected=true]`);
  const content = () => page.locator('.traffic-content');

  afterEach('look for errors', async () => {
    const { violations, problems } = await page.evaluate(() => ({
      violations: (host as unknown as TrafficHost).violations,
      problems: (host as unknown as TrafficHost).posted.filter(({ type }) => type === 'problem'),
    }));
    await page.close();
    assert.deepEqual([violations, problems], [[], []]);
  });

  it('lists messages with direction, method, id, latency, size and session', async () => {
    await open();
    await page.getByText('No messages yet.').waitFor();
    await send(SESSIONS);
    await add(ROWS);
    assert.equal(await drawn().count(), 8);
    const cells = (seq: number) =>
      page.locator(`#message-${seq} [role=gridcell]`).evaluateAll((all) => all.map((cell) => cell.textContent));
    assert.deepEqual(await cells(1), [
      '12:00:00.001',
      'From agent, Response',
      'initialize',
      '0',
      '376 ms',
      '241 B',
      'Claude: Fix the parser',
    ]);
    assert.deepEqual((await cells(0)).slice(1, 5), ['To agent, Request', 'initialize', '0', '376 ms']);
    assert.deepEqual((await cells(5)).slice(1, 5), ['From agent, Response, Error', 'session/prompt', '2', '12.3 s']);
    assert.equal(await page.locator('.traffic-count').innerText(), '8 messages');
  });

  it('filters by direction, method, session, errors and text', async () => {
    await open();
    await send(SESSIONS);
    await add(ROWS);
    const choose = (name: string, label: string) => page.getByRole('combobox', { name }).selectOption({ label });
    await choose('Direction', 'Error output');
    assert.deepEqual(await visibleRows(), ['[session/create] phase=settings']);
    await choose('Direction', 'All directions');
    await choose('Method', 'session/prompt');
    assert.deepEqual(await visibleRows(), ['session/prompt', 'session/prompt']);
    await choose('Method', 'All methods');
    await choose('Session', 'Gemini: New session');
    assert.equal((await visibleRows()).length, 1);
    await choose('Session', 'All sessions');
    await page.getByRole('checkbox', { name: 'Errors only' }).check();
    assert.deepEqual(await visibleRows(), ['[session/create] phase=settings', 'session/prompt', 'Listening on 8080']);
    await page.getByRole('checkbox', { name: 'Errors only' }).uncheck();
    await page.getByRole('searchbox', { name: 'Search in messages' }).fill('needle');
    const { id, text } = await next('find');
    assert.equal(text, 'needle');
    await send({ type: 'found', id: id - 1, seqs: [0, 1, 2] });
    await send({ type: 'found', id, seqs: [4] });
    await page.locator('.traffic-count', { hasText: '1 of 8 messages' }).waitFor();
    await add([row(8), row(9)], 0, [9]);
    assert.equal(await page.locator('.traffic-count').innerText(), '2 of 10 messages');
    await page.getByRole('searchbox').fill('nothing has this');
    await page.getByText('No messages match the filter.').waitFor();
  });

  it('shows a message as text when its row is selected, and links a request to its response', async () => {
    await open();
    await add(ROWS);
    await page.locator('#message-3').click();
    assert.equal((await next('select')).seq, 3);
    const evil = '{\n  "text": "<img src=x onerror=alert(1)> \u202e"\n}';
    await send({ type: 'payload', seq: 3, text: evil, cut: 12 });
    await content().getByText('onerror').waitFor();
    assert.equal(await content().locator('*').count(), 0);
    assert.match(await content().innerText(), /… 12 more characters$/);
    assert.doesNotMatch(await content().innerText(), /\u202e/);
    await page.getByRole('button', { name: 'Go to response' }).click();
    await selected(5).waitFor();
    await page.getByRole('button', { name: 'Go to request' }).click();
    await selected(3).waitFor();
    await page.getByRole('button', { name: 'Copy' }).click();
    assert.deepEqual(await posted('copy'), [{ type: 'copy', seq: 3 }]);
    await send({ type: 'payload', seq: 3, text: null, cut: 0 });
    await content().getByText('no longer kept').waitFor();
  });

  it('can be used by keyboard alone', async () => {
    await open();
    await add(ROWS);
    await grid().focus();
    const active = (seq: number) => page.locator(`.traffic-grid[aria-activedescendant=message-${seq}]`).waitFor();
    await page.keyboard.press('Home');
    await active(0);
    await page.keyboard.press('ArrowDown');
    await active(1);
    await page.keyboard.press('End');
    await active(7);
    await selected(7).waitFor();
    await page.keyboard.press('Enter');
    assert.ok(await content().evaluate((element) => element === document.activeElement));
    await page.keyboard.press('Escape');
    assert.ok(await grid().evaluate((element) => element === document.activeElement));
  });

  const lanes = () => page.getByRole('grid', { name: 'Turns' });
  const laneTexts = (): Promise<readonly (readonly string[])[]> =>
    page
      .locator('.traffic-lane')
      .filter({ visible: true })
      .evaluateAll((all) => all.map(({ children }) => [...children].map((cell) => cell.textContent?.trim() ?? '')));
  const selectedMarks = () =>
    page.locator('.lane-mark[aria-selected=true]').evaluateAll((all) => all.map(({ id }) => id));

  it('shows a lane for each prompt, and marks late, foreign and repeated messages', async () => {
    await open();
    assert.ok(await lanes().isHidden());
    await send(SESSIONS);
    await add(ROWS);
    await send(LANES);
    assert.deepEqual(await laneTexts(), [
      [
        'Prompt 1 12.4 s · Claude: Fix the parser',
        'Sent',
        '+10 ms First output',
        '+12.3 s turn_complete',
        '+10 ms Settled',
        '+2,000 ms Response late',
      ],
      ['Prompt 2 Claude: Fix the parser', 'Sent', '+10 ms turn_complete foreign', '+10 ms Idle repeated ×3'],
      ['No prompt Gemini: New session', 'First output'],
    ]);
    assert.equal(await lanes().locator('.lane-mark[data-note] .codicon').count(), 3, 'with an icon each');
  });

  it('selects the message of a mark, and the mark of a message', async () => {
    await open();
    await add(ROWS);
    await send(LANES);
    await lanes().getByRole('gridcell', { name: 'late' }).click();
    await selected(5).waitFor();
    assert.equal((await next('select')).seq, 5);
    assert.deepEqual(await selectedMarks(), ['mark-1-4']);
    await page.locator('#message-4').click();
    await selected(4).waitFor();
    assert.deepEqual(await selectedMarks(), ['mark-2-1']);
    await page.locator('#message-2').click();
    assert.deepEqual(await selectedMarks(), []);
    await page.getByRole('combobox', { name: 'Direction' }).selectOption({ label: 'Error output' });
    assert.equal((await visibleRows()).length, 1);
    await lanes().getByRole('gridcell', { name: 'foreign' }).click();
    await selected(4).waitFor();
    assert.equal((await visibleRows()).length, 8, 'a filter that hides the message is removed');
  });

  it('reaches every mark with the arrow keys, and its message with Enter', async () => {
    await open();
    await add(ROWS);
    await send(LANES);
    await lanes().focus();
    const at = async (key: string, id: string): Promise<void> => {
      await page.keyboard.press(key);
      await page.locator(`.traffic-lanes[aria-activedescendant=${id}]`).waitFor();
      assert.deepEqual(await selectedMarks(), [id]);
    };
    await at('ArrowRight', 'mark-3-0');
    await at('ArrowUp', 'mark-2-0');
    await at('ArrowRight', 'mark-2-1');
    await at('End', 'mark-2-2');
    await at('ArrowUp', 'mark-1-2');
    await at('Home', 'mark-1-0');
    await at('ArrowDown', 'mark-2-0');
    await selected(3).waitFor();
    await page.keyboard.press('Enter');
    assert.ok(await grid().evaluate((element) => element === document.activeElement));
  });

  it('shows the turns of the selected session, and none if turned off', async () => {
    await open();
    await send(SESSIONS);
    await add(ROWS);
    await send(LANES);
    await page.getByRole('combobox', { name: 'Session' }).selectOption({ label: 'Gemini: New session' });
    assert.deepEqual(await laneTexts(), [['No prompt Gemini: New session', 'First output']]);
    await page.getByRole('combobox', { name: 'Session' }).selectOption({ label: 'All sessions' });
    assert.equal((await laneTexts()).length, 3);
    const toggle = page.getByRole('checkbox', { name: 'Turns' });
    await toggle.uncheck();
    assert.ok(await lanes().isHidden());
    await toggle.check();
    assert.ok(await lanes().isVisible());
  });

  it('draws only changed lanes, and drops old ones', async () => {
    await open();
    await add(ROWS);
    await send(LANES);
    await page
      .locator('.traffic-lane')
      .first()
      .evaluate((element) => {
        element.firstElementChild!.id = 'untouched';
      });
    await send({ type: 'lanes', first: 1, lanes: [lane(3, [{ seq: 7 }, { kind: 'settled' }])] });
    await lanes().getByText('Settled').nth(1).waitFor();
    assert.equal(await page.locator('#untouched').count(), 1);
    await send({ type: 'lanes', first: 3, lanes: [lane(4, [{}])] });
    await lanes().getByText('Prompt 4').waitFor();
    assert.equal(await page.locator('.traffic-lane').count(), 2);
    await send({ type: 'lanes', first: 5, lanes: [] });
    await lanes().waitFor({ state: 'hidden' });
  });

  it('has a constant number of elements for any number of messages, and follows the newest', async () => {
    await open();
    await add(Array.from({ length: 500 }, (_one, seq) => row(seq)));
    const before = await page.evaluate(() => document.querySelectorAll('*').length);
    for (let seq = 500; seq < 10_000; seq += 500)
      await add(
        Array.from({ length: 500 }, (_one, n) => row(seq + n)),
        Math.max(0, seq - 4_500),
      );
    const after = await page.evaluate(() => document.querySelectorAll('*').length);
    assert.ok(after <= before + 20, `${before} elements, then ${after}`);
    assert.equal(await page.locator('.traffic-count').innerText(), '5,000 messages');
    await page.locator('#message-9999').waitFor();
    await page.locator('#message-9990').click();
    await add([row(10_000)], 5_001);
    await selected(9_990).waitFor();
  });

  it('pauses, clears, exports and opens recordings', async () => {
    await open();
    await send(SESSIONS);
    await add(ROWS);
    const button = (name: string) => page.getByRole('button', { name, exact: true });
    await button('Pause').click();
    await button('Resume').click();
    assert.deepEqual(
      (await posted('pause')).map(({ isPaused }) => isPaused),
      [true, false],
    );
    await button('Export recording…').click();
    await page.getByRole('combobox', { name: 'Session' }).selectOption({ label: 'Claude: Fix the parser' });
    await button('Export recording…').click();
    assert.deepEqual(
      (await posted('export')).map(({ key }) => key),
      [null, 'a'],
    );
    await button('Open recording…').click();
    assert.equal((await posted('openRecording')).length, 1);
    await page.locator('#message-1').click();
    await button('Clear').click();
    assert.equal((await posted('clear')).length, 1);
    await add([], 8);
    await page.getByText('No messages yet.').waitFor();
    assert.equal(await page.locator('[aria-selected=true]').count(), 0);
  });

  for (const theme of THEMES)
    it(`has no axe-core violations: ${theme}`, async () => {
      await open(theme);
      await send(SESSIONS);
      await add(ROWS);
      await send(LANES);
      await page.locator('#message-5').click();
      assert.deepEqual(await seriousFindings(page, 'html'), []);
    });

  for (const language of ['en', 'de'] as const)
    it(`fits into 280 px: ${language}`, async () => {
      await open('dark', 280, language);
      await send(SESSIONS);
      await add(ROWS);
      await send(LANES);
      assert.deepEqual(await cutOff(page, '.traffic-bar *, .traffic-lanes *, .traffic-grid, .traffic-details', 1), []);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
      assert.ok(await page.locator('.traffic-grid').evaluate((element) => element.clientHeight >= 79));
    });
});
