// The timeline of the session, in a real browser.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { THEMES } from '../support/tier';
import { cutOff, violationsIn } from './harness/axe';
import type { Panel } from './harness/browser';
import type { Theme } from './harness/server';
import type { Language } from './harness/texts';
import { longTimeline, openTimeline, timeline, timelineItems } from './harness/timelineSamples';
import { useChrome } from './harness/useChrome';

describe('the timeline in the panel', () => {
  let panel: Panel;
  const { open, field: message } = useChrome((opened) => {
    panel = opened;
  });

  const region = () => panel.page.getByRole('region', { name: 'Timeline' });
  const list = () => panel.page.getByRole('listbox', { name: 'Turns and tool calls' });
  const press = (key: string) => panel.page.keyboard.press(key);
  const frame = () =>
    panel.page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  const active = () =>
    list().evaluate((node) => {
      const id = node.getAttribute('aria-activedescendant');
      return document.getElementById(id ?? '')?.textContent;
    });
  /** Returns a digest of the picture, and the number of drawn pixels. */
  const picture = async () => {
    await frame();
    return panel.page.locator('.timeline-picture').evaluate((canvas: HTMLCanvasElement) => {
      const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
      let drawn = 0;
      let digest = 0;
      for (let at = 3; at < data.length; at += 4) {
        if (data[at] !== 0) drawn++;
        digest = (digest * 31 + data[at - 3]! + data[at - 2]! * 3 + data[at - 1]! * 7 + data[at]!) | 0;
      }
      return { drawn, digest };
    });
  };
  const changed = async (before: { readonly digest: number }) => {
    for (;;) {
      const now = await picture();
      if (now.digest !== before.digest) return now;
    }
  };
  const start = async (options: { theme?: Theme; width?: number; language?: Language; height?: number } = {}) => {
    await open({ ...options, items: timelineItems() });
    await openTimeline(panel, timeline());
  };

  it('opens from the menu', async () => {
    await open({ items: timelineItems() });
    await panel.page.getByRole('button', { name: 'More', exact: true }).click();
    await panel.page.getByRole('menuitem', { name: 'Timeline' }).click();
    const { from } = await panel.next('timeline');
    assert.equal(from, 0);
    await region().waitFor();
  });

  it('names each turn and call for the keyboard and screen readers', async () => {
    await start();
    assert.match((await active()) ?? '', /^Run npm run build In progress · 35 s$/);
    await press('Home');
    assert.match((await active()) ?? '', /^Turn 1 6 tool calls 8\.1K tokens · 18% of the context · 95 s$/);
    await press('PageDown');
    assert.match(
      (await active()) ?? '',
      /^Turn 2 4 tool calls waited for you 32 s · 25K tokens · 46% of the context · \$0\.21 · 3 min$/,
    );
    for (let step = 0; step < 3; step++) await press('ArrowDown');
    assert.equal(await active(), 'Edit test/upload.test.ts waited for you 32 s · 35 s');
    const row = list().getByRole('option', { selected: true });
    assert.deepEqual([await row.getAttribute('aria-posinset'), await row.getAttribute('aria-setsize')], ['11', '14']);
    await press('PageUp');
    await press('PageUp');
    await press('ArrowDown');
    assert.equal(await active(), 'Read src/server.ts 5 s');
    assert.match(
      (await panel.page.getByRole('img', { name: /drawn along time/ }).getAttribute('aria-label')) ?? '',
      /^3 turns, 11 tool calls/,
    );
  });

  it('reveals the entry of a row on Enter, and of a bar on click', async () => {
    await start();
    await press('Home');
    await press('ArrowDown');
    await press('Enter');
    await panel.page.locator('.transcript [data-index="1"]:focus').waitFor();
    await region().waitFor();
    // The first call of turn 2, at 136.5 to 140.5 s of 378 s.
    const box = (await panel.page.locator('.timeline-picture').boundingBox())!;
    await panel.page.mouse.click(box.x + (138 / 378) * box.width, box.y + 18 + 8 + 5);
    await panel.page.locator('.transcript [data-index="9"]:focus').waitFor();
    assert.match((await active()) ?? '', /^Read test\/upload/);
  });

  it('zooms and pans by wheel and keyboard, and resets to show everything', async () => {
    await start();
    const all = await picture();
    assert.ok(all.drawn > 1000, `${all.drawn}`);
    await press('+');
    const near = await changed(all);
    await press('ArrowLeft');
    const moved = await changed(near);
    await press('0');
    await changed(moved);
    assert.deepEqual(await picture(), all);
    await panel.page.locator('.timeline-picture').hover();
    await panel.page.mouse.wheel(0, -100);
    const wheeled = await changed(all);
    await panel.page.mouse.wheel(200, 0);
    const pushed = await changed(wheeled);
    await panel.page.getByRole('button', { name: 'Show All (0)' }).click();
    await changed(pushed);
    assert.deepEqual(await picture(), all);
  });

  it('restores the focus when closed', async () => {
    await open({ items: timelineItems() });
    await message().focus();
    await openTimeline(panel, timeline());
    await press('Escape');
    await region().waitFor({ state: 'detached' });
    assert.ok(await message().evaluate((node) => node === document.activeElement));
  });

  it('requests updates while the session continues, and keeps the selection', async () => {
    await start();
    await press('Home');
    const before = await panel.count();
    await panel.update({ op: 'put', index: 14, item: timelineItems()[14]! });
    const { id, from } = await panel.next('timeline', before);
    assert.equal(from, 14);
    const { turns, calls, now } = timeline();
    const ended = { ...calls.at(-1)!, endedAt: now + 5000, status: 'completed' };
    const part = { from, turns: turns.slice(2), calls: [ended], now: now + 9000, isDone: true };
    await panel.send({ type: 'timeline', id, ...part });
    await panel.page.getByRole('img', { name: /drawn along time/ }).waitFor();
    assert.match((await active()) ?? '', /^Turn 1/);
    await press('End');
    await list().getByRole('option', { name: 'Run npm run build 40 s' }).waitFor();
    assert.equal(await active(), 'Run npm run build 40 s');
  });

  it('does not start the agent of an old session', async () => {
    await open({ items: timelineItems(), session: { phase: 'idle' } });
    await openTimeline(panel, timeline());
    await press('Home');
    await press('Enter');
    await panel.page.locator('.transcript [data-index="0"]:focus').waitFor();
    assert.deepEqual(await panel.posted('wake'), []);
  });

  it('draws only the visible rows of a long session', async () => {
    await open({ items: timelineItems() });
    await openTimeline(panel, longTimeline(10_000));
    assert.ok((await panel.page.locator('.timeline-row').count()) < 40);
    await press('Home');
    assert.match((await active()) ?? '', /^Turn 1 20 tool calls/);
    await press('End');
    assert.equal(await list().getByRole('option', { selected: true }).getAttribute('aria-setsize'), '10500');
    assert.ok((await picture()).drawn > 5000);
  });

  it('closes when another session is shown', async () => {
    await start();
    await panel.snapshot({ session: { key: 's2' } });
    await region().waitFor({ state: 'detached' });
  });

  for (const theme of THEMES)
    for (const [width, language] of [
      [860, 'en'],
      [280, 'de'],
    ] as const)
      it(`fits and has no axe-core violations: ${theme}, ${width} px, ${language}`, async () => {
        await start({ theme, width, language });
        assert.deepEqual(await cutOff(panel.page, '.timeline *'), []);
        const violations = await violationsIn(panel.page, '.timeline');
        assert.deepEqual(
          violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`),
          [],
        );
        assert.deepEqual(await panel.problems(), []);
        const { TIMELINE_SHOTS: folder } = process.env;
        if (folder) await panel.page.screenshot({ path: join(folder, `timeline-${theme}-${width}.png`) });
      });
});
