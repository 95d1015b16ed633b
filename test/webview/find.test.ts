// Find in the session, in a real browser.
import assert from 'node:assert/strict';
import type { SessionEvent } from '../../src/session/events/event';
import { THEMES } from '../support/tier';
import { cutOff, violationsIn } from './harness/axe';
import type { Panel, PanelOptions } from './harness/browser';
import { FindHost } from './harness/findHost';
import { useChrome } from './harness/useChrome';

const LONG = 600;

const says = (messageId: string, text: string, role: 'user' | 'agent' | 'thought' = 'agent'): SessionEvent => ({
  type: 'message_chunk',
  role,
  messageId,
  block: { type: 'text', text },
});

function talk(places: readonly number[], count = LONG): SessionEvent[] {
  return Array.from({ length: count }, (_, index) =>
    says(
      `m${index}`,
      places.includes(index) ? `Here is the **needle** of ${index}.` : `Nothing in ${index}.`,
      index % 2 ? 'agent' : 'user',
    ),
  );
}

describe('find in the panel', () => {
  let panel: Panel;
  let session: FindHost;
  afterEach(() => session.stop());
  const { open, field: message } = useChrome((opened) => {
    panel = opened;
  });

  const widget = () => panel.page.getByRole('search', { name: 'Find in session' });
  const field = () => panel.page.getByRole('textbox', { name: 'Find', exact: true });
  const press = (key: string) => panel.page.keyboard.press(key);
  const untilSaid = (words: string) => widget().getByText(words, { exact: true }).waitFor();
  /** Waits until the current match is visible. @returns its entry and text */
  const current = async () => {
    const handle = await panel.page.waitForFunction(() => {
      const [range] = [...((CSS.highlights.get('find-current') ?? []) as Iterable<Range>)];
      const box = document.querySelector('.transcript')!.getBoundingClientRect();
      const rect = range?.getBoundingClientRect();
      if (!range || !rect || rect.height === 0 || rect.top < box.top || rect.bottom > box.bottom) return undefined;
      const entry = range.startContainer.parentElement!.closest<HTMLElement>('[data-index]')!;
      return { index: Number(entry.dataset.index), text: range.toString() };
    });
    return handle.jsonValue();
  };
  const at = async (index: number) =>
    panel.page.waitForFunction((wanted) => {
      const [range] = [...((CSS.highlights.get('find-current') ?? []) as Iterable<Range>)];
      return range?.startContainer.parentElement?.closest<HTMLElement>('[data-index]')?.dataset.index === `${wanted}`;
    }, index);

  async function start(events: readonly SessionEvent[], options: PanelOptions = {}): Promise<void> {
    session = new FindHost(...events);
    const { items } = session;
    const from = Math.max(0, items.length - 64);
    await open({ ...options, items: items.slice(from), from, total: items.length });
    session.serve(panel);
  }

  async function find(text: string): Promise<void> {
    await press('Control+f');
    await field().fill(text);
  }

  it('finds text of subagents inside their calls, and counts it once', async () => {
    const call = (toolCallId: string, title: string, parent?: string): SessionEvent => ({
      type: 'tool_call',
      toolCallId,
      announced: true,
      patch: { title, kind: 'edit', status: 'completed', ...(parent !== undefined && { parent }) },
    });
    await start([
      call('A', 'Explore'),
      call('a', 'Edit needle.ts', 'A'),
      call('B', 'Deeper', 'A'),
      call('b', 'Edit a needle', 'B'),
      { ...says('n', 'The **needle** is here.'), parent: 'B' } as SessionEvent,
      says('m', 'No more.'),
    ]);
    await find('needle');
    await untilSaid('1 of 3');
    assert.deepEqual(await current(), { index: 1, text: 'needle' });
    for (const [number, index] of [
      [2, 3],
      [3, 4],
    ] as const) {
      await press('Enter');
      await untilSaid(`${number} of 3`);
      await at(index);
      assert.deepEqual(await current(), { index, text: 'needle' });
    }
  });

  it('counts matches in the whole session, and reveals those that are not drawn', async () => {
    await start(talk([3, 101, 581]));
    await find('NEEDLE OF');
    await at(581);
    await untilSaid('3 of 3');
    await press('Enter');
    await at(3);
    await untilSaid('1 of 3');
    assert.deepEqual(await current(), { index: 3, text: 'needle of' });
    await press('Enter');
    await at(101);
    await press('Shift+Enter');
    await at(3);
    await press('F3');
    await at(101);
    await press('Shift+F3');
    await at(3);
    assert.deepEqual(await current(), { index: 3, text: 'needle of' });
    assert.ok(await field().evaluate((node) => node === document.activeElement), 'the focus stays in the field');
  });

  it('restores the focus when closed', async () => {
    await start(talk([], 4));
    await message().fill('half a thought');
    await message().focus();
    await find('zzz');
    await untilSaid('No results');
    await press('Escape');
    await widget().waitFor({ state: 'detached' });
    assert.ok(await message().evaluate((node) => node === document.activeElement));
    assert.equal(await message().inputValue(), 'half a thought');
    const sent = await panel.page.evaluate(() => host.posted.map(({ type }) => type));
    assert.equal(
      sent.findLast((type) => type === 'find' || type === 'endFind'),
      'endFind',
    );
  });

  it('does not start the agent of an old session', async () => {
    await start(talk([1], 4), { session: { phase: 'idle' } });
    await panel.page.locator('.transcript').evaluate((box: HTMLElement) => box.focus());
    await find('needle');
    await untilSaid('1 of 1');
    await press('Enter');
    assert.deepEqual(await panel.posted('wake'), []);
  });

  it('expands collapsed entries to show a match', async () => {
    await start([
      says('u', `${'Line.\n'.repeat(101)}The first needle.`, 'user'),
      says('t', 'A second needle.', 'thought'),
      {
        type: 'tool_call',
        toolCallId: 'c',
        announced: true,
        patch: {
          title: 'Read',
          kind: 'read',
          status: 'completed',
          content: [
            {
              type: 'content',
              block: { type: 'text', text: `${'x\n'.repeat(300)}third needle\n${'y\n'.repeat(300)}` },
            },
          ],
        },
      },
      says('a', 'The end.'),
    ]);
    await find('needle');
    await at(0);
    await current();
    await press('Enter');
    await at(1);
    await current();
    await press('Enter');
    await at(2);
    assert.deepEqual(await current(), { index: 2, text: 'needle' });
    await untilSaid('3 of 3');
  });

  it('expands folds of a message and groups of calls', async () => {
    const call = (toolCallId: string, title: string): SessionEvent => ({
      type: 'tool_call',
      toolCallId,
      announced: true,
      patch: { title, kind: 'read', status: 'completed' },
    });
    const folds = '<details>\n<summary>Outer</summary>\n\n<details>\n\nThe needle.\n\n</details>\n</details>';
    await start([
      says('u', 'Do it', 'user'),
      says('a', `Words.\n\n${folds}`),
      call('c', 'Read a.ts'),
      call('d', 'Read needle.ts'),
      call('e', 'Read c.ts'),
      says('b', 'The end.'),
    ]);
    await find('needle');
    assert.deepEqual(await current(), { index: 1, text: 'needle' });
    await press('Enter');
    assert.deepEqual(await current(), { index: 3, text: 'needle' });
    await untilSaid('2 of 2');
  });

  it('highlights the formula for a match anywhere in its source', async () => {
    const source = '$\\frac{1}{2} + \\frac{1}{4} + \\frac{1}{8} + \\sqrt{needle}$';
    await start([says('a', `Let ${source} be.`)], { width: 300 });
    await panel.page.locator('.formula.inline math').waitFor();
    await find('sqrt{needle}');
    await untilSaid('1 of 1');
    const highlighted = await (
      await panel.page.waitForFunction(() => {
        const [range] = [...((CSS.highlights.get('find-current') ?? []) as Iterable<Range>)];
        const formula = document.querySelector('.formula.inline')!.getBoundingClientRect();
        const rect = range?.getBoundingClientRect();
        if (!range || !rect) return undefined;
        return [range.toString(), rect.left < formula.right && rect.top < formula.bottom] as const;
      })
    ).jsonValue();
    assert.deepEqual(highlighted, [source, true]);
  });

  it('continues to work while a turn streams', async () => {
    await start(talk([2], 20));
    await find('needle');
    await untilSaid('1 of 1');
    await session.apply(says('new', 'Another needle'));
    await untilSaid('1 of 2');
    await panel.page.waitForFunction(() => CSS.highlights.get('find-match')?.size === 2);
    await at(2);
  });

  it('matches case, whole words and regular expressions', async () => {
    await start([says('a', 'Word sword WORD')]);
    await find('word');
    await untilSaid('1 of 3');
    await press('Alt+c');
    await untilSaid('1 of 1');
    await press('Alt+c');
    await press('Alt+w');
    await untilSaid('1 of 2');
    await press('Alt+w');
    await press('Alt+r');
    await field().fill('w.r');
    await untilSaid('1 of 3');
    await field().fill('(');
    await untilSaid('Invalid expression');
    assert.equal(await field().getAttribute('aria-invalid'), 'true');
    assert.equal(await widget().getByRole('button', { pressed: true }).count(), 1);
  });

  it('reports that an expression takes too long, and stays usable', async () => {
    await start([says('a', `${'a'.repeat(60)}!`)]);
    await find('x');
    await press('Alt+r');
    await field().fill('(a+)+$');
    await untilSaid('Expression takes too long');
    await field().fill('a!');
    await untilSaid('1 of 1');
  });

  it('announces a result and each step once', async () => {
    await start(talk([1, 3], 6));
    await find('needle');
    const liveRegion = panel.page.locator('[aria-live="polite"]');
    await liveRegion.getByText('1 of 2', { exact: true }).waitFor();
    await press('Enter');
    await liveRegion.getByText('2 of 2', { exact: true }).waitFor();
  });

  it('searches for the selection', async () => {
    await start(talk([1, 3], 6));
    await panel.page.getByText('needle').first().dblclick();
    await press('Control+f');
    await untilSaid('1 of 2');
    assert.equal(await field().inputValue(), 'needle');
  });

  it('closes when another session is shown', async () => {
    await start(talk([1], 4));
    await find('needle');
    await untilSaid('1 of 1');
    await panel.snapshot({ session: { key: 's2' }, items: [] });
    await widget().waitFor({ state: 'detached' });
    assert.equal(await panel.page.evaluate(() => CSS.highlights.get('find-match')?.size), 0);
  });

  for (const theme of THEMES)
    it(`is accessible in a narrow panel: ${theme}`, async () => {
      await start(talk([1, 3], 6), { theme, width: 280 });
      await find('needle');
      await untilSaid('1 of 2');
      await panel.page.getByRole('button', { name: 'Match Case (Alt+C)' }).click();
      await untilSaid('1 of 2');
      await current();
      assert.deepEqual(await cutOff(panel.page, '.find *'), []);
      const violations = await violationsIn(panel.page, '.find');
      assert.deepEqual(
        violations.map(({ id }) => id),
        [],
      );
      if (process.env.FIND_SHOTS) await panel.page.screenshot({ path: `${process.env.FIND_SHOTS}/find-${theme}.png` });
    });
});
