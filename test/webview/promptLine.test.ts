// The line over the transcript with the user message of the visible turn.
import assert from 'node:assert/strict';
import type { ItemView } from '../../src/panel/contract';
import type { PanelOptions } from './harness/browser';
import { conversation, message, permission, tool } from './harness/samples';
import { RUNNING } from './harness/useChrome';
import { useHarness } from './harness/useHarness';

const turnEnd = conversation().find(({ kind }) => kind === 'turn_end')!;

function turn(name: string, count = 60): ItemView[] {
  return [
    message(`u-${name}`, 'user', `\n  Question ${name}\u202e\nwith a second line`),
    ...Array.from({ length: count }, (_, at) =>
      message(`${name}-${at}`, 'agent', `Paragraph ${at} of ${name}.\n\nMore.`),
    ),
    { ...turnEnd, id: `end-${name}` },
  ].map((item) => ({ ...item, turnId: name }));
}

const of = (item: ItemView): ItemView => ({ ...item, turnId: 't' });
const ask = (text: string): ItemView => of(message('u', 'user', text));

describe('the prompt line', () => {
  const browser = useHarness();

  async function open(options: PanelOptions) {
    const panel = await browser.open({ width: 600, height: 600, ...options });
    const line = panel.page.locator('.prompt-line');
    const shows = (text: string) =>
      panel.page.waitForFunction((wanted) => {
        const one = document.querySelector<HTMLElement>('.prompt-line')!;
        return (one.hidden ? '' : one.textContent) === wanted;
      }, text);
    return { panel, page: panel.page, line, shows };
  }

  const ONE = 'Question one⟨U+202E⟩';
  const TWO = 'Question two⟨U+202E⟩';

  it('shows the first line of the message while the message is out of view', async () => {
    const { panel, page, shows } = await open({ items: [...turn('one'), ...turn('two')] });
    await shows(TWO);
    await panel.scrollTo(0);
    await shows('');
    await panel.scrollTo(1_000);
    await shows(ONE);
    const height = await page.locator('.transcript').evaluate((box) => box.scrollHeight);
    await panel.scrollTo(0);
    await shows('');
    assert.equal(await page.locator('.transcript').evaluate((box) => box.scrollHeight), height);
  });

  it('is updated when text is streamed at the end', async () => {
    const { panel, shows } = await open({
      items: [ask('Tell me'), of(message('a', 'agent', 'Once'))],
      session: RUNNING,
    });
    await shows('');
    await panel.update({ op: 'append', index: 1, text: '\n\nand again'.repeat(60), until: 0 });
    await shows('Tell me');
  });

  it('shows a message that is not loaded', async () => {
    const prompt = { turnId: 'one', index: 0, text: 'Question one' };
    const { panel, line, shows } = await open({ items: turn('one').slice(40), from: 40, prompt });
    await shows('Question one');
    const before = await panel.count();
    await line.click();
    assert.equal((await panel.next('page', before)).from, 0);
  });

  it('scrolls to the message on click and Enter, and disappears there', async () => {
    const { panel, page, line, shows } = await open({ items: [...turn('one'), ...turn('two')] });
    await shows(TWO);
    await line.click();
    await page.locator('[data-entry-id=u-two]:focus').waitFor();
    await panel.scrollTo(1_000);
    await shows(ONE);
    await line.focus();
    await page.keyboard.press('Enter');
    await page.locator('[data-entry-id=u-one]:focus').waitFor();
    await shows('');
  });

  it('does not cover anything that is scrolled into view', async () => {
    const { panel, page, shows } = await open({ items: turn('one') });
    await panel.scrollTo(1_000);
    await shows(ONE);
    const covered = () =>
      page.evaluate(() => {
        const { bottom } = document.querySelector('.prompt-line')!.getBoundingClientRect();
        return bottom - document.activeElement!.getBoundingClientRect().top;
      });
    await page.locator('[data-index="24"]').focus();
    for (let at = 0; at < 12; at++) {
      await page.keyboard.press('ArrowUp');
      const by = await covered();
      assert.ok(by <= 0, `${by} px of ${await page.evaluate(() => document.activeElement!.outerHTML.slice(0, 80))}`);
    }
  });

  it('shows the message of the visible turn only, and nothing if the turn has none', async () => {
    const late = Array.from({ length: 30 }, (_, at) => message(`l${at}`, 'agent', `Late ${at}.\n\nMore.`));
    const { panel, shows } = await open({ items: [...turn('one', 20), ...late] });
    await panel.scrollTo(600);
    await shows(ONE);
    await panel.scrollTo(1e6);
    await shows('');
    const picture = [tool('t', { title: 'ls' }), ...turn('two', 30).slice(1)];
    await panel.snapshot({ items: picture });
    await panel.scrollTo(600);
    await shows('');
  });

  it('shows a message that is too far above its answer to be loaded', async () => {
    const { panel, shows } = await open({ items: [ask('Tell me')], session: RUNNING });
    await panel.update({ op: 'put', index: 5_000, item: of(message('a', 'agent', 'Text\n\n'.repeat(100))) });
    await shows('Tell me');
    await panel.scrollTo(200);
    await shows('');
  });

  it('is hidden if the message was never loaded', async () => {
    const items = turn('one', 300);
    const { shows } = await open({ items: items.slice(-20), total: items.length, from: items.length - 20 });
    await shows('');
  });

  it('does not cover a question being answered', async () => {
    const items = [
      ask('Do it'),
      ...turn('x', 20).slice(1, -1),
      ...[1, 2].map((at) => tool(`t${at}`, { title: `rm ${at}`, status: 'pending', toolKind: 'execute' })),
      ...turn('y', 12).slice(1, -1),
    ].map(of);
    const { panel, page, shows } = await open({
      items,
      session: { ...RUNNING, permissions: [permission(21)] },
    });
    const card = page.locator('[data-permission-id]');
    const moveTo = (distance: number) =>
      card.evaluate((one, px) => {
        const box = document.querySelector('.transcript')!;
        box.dispatchEvent(new WheelEvent('wheel'));
        box.scrollTop += one.getBoundingClientRect().top - box.getBoundingClientRect().top - px;
      }, distance);
    await moveTo(100);
    await shows('Do it');
    await panel.answerable();
    await moveTo(4);
    await card.focus();
    await page.keyboard.press('1');
    assert.deepEqual(await panel.posted('permission'), []);
    const [bottom, top] = await page.evaluate(() =>
      ['.prompt-line', '[data-permission-id]'].map(
        (selector) =>
          document.querySelector(selector)!.getBoundingClientRect()[selector.startsWith('.') ? 'bottom' : 'top'],
      ),
    );
    assert.ok(top! >= bottom!, `${top} is above ${bottom}`);
    await panel.answerable();
    await page.keyboard.press('1');
    assert.equal((await panel.next('permission')).optionId, 'yes');
  });

  it('is hidden in small panels', async () => {
    const { shows, line } = await open({ items: turn('one'), height: 300 });
    await shows(ONE);
    assert.equal(await line.isVisible(), false);
  });
});
