// Accessibility of the panel's scenes in each theme, checked with axe-core.
import assert from 'node:assert/strict';
import type { ItemView, MentionView } from '../../src/panel/contract';
import { isSlow, THEMES } from '../support/tier';
import { seriousFindings, seriousViolations } from './harness/axe';
import type { Panel, PanelOptions } from './harness/browser';
import { FILES, ListHost, REVIEW } from './harness/changeSamples';
import { asksForm } from './harness/questionSamples';
import { conversation, message, permission, SESSION_FULL, tool } from './harness/samples';
import { scenesIn } from './harness/scenes';
import { showScene } from './harness/showScene';
import { useHarness } from './harness/useHarness';

const SCENES: Readonly<Record<string, PanelOptions>> = {
  empty: {},
  'a conversation with a question and a queue': {
    session: { ...SESSION_FULL, permissions: [permission(9)] },
    items: conversation(),
  },
  'a form': { session: { phase: 'requiresAction', elicitations: [asksForm] } },
  'changed files': { ...REVIEW, session: { ...REVIEW.session, phase: 'ready' } },
  'a failed start': {
    session: {
      phase: 'failed',
      status: 'failed',
      error: {
        code: 'x',
        message: 'The agent ended.',
        stderr: 'boom',
        actions: [
          { id: 'signIn:a', label: 'Log in', detail: 'Opens the browser.' },
          { id: 'restart', label: 'Try again' },
        ],
      },
    },
  },
};

const MENTIONS: readonly MentionView[] = [
  { id: 'selection', kind: 'selection', label: 'src/a.ts:3–9', description: 'Selection' },
  { id: 'path:src/server.ts', kind: 'file', label: 'src/server.ts' },
  { id: 'path:src', kind: 'folder', label: 'src' },
];

async function openLists(panel: Panel): Promise<void> {
  await panel.page.getByRole('button', { name: /files changed/ }).click();
  await panel.page.getByRole('button', { name: 'Changed files' }).click();
  const host = new ListHost(panel, FILES);
  await host.answer();
  await host.answer();
  await panel.page.locator('.review .change').last().waitFor();
}

async function findings({ page }: Panel): Promise<readonly string[]> {
  const found = await seriousFindings(page, 'html', ['page-has-heading-one']);
  // The theme defines the colours of terminal output.
  return found.filter((finding) => !/^color-contrast: <span class="fg-ansi/.test(finding));
}

/**
 * Returns the findings that persist: syntax colours are drawn briefly before the marks of changed
 * words replace them.
 */
async function lastingFindings(panel: Panel): Promise<readonly string[]> {
  for (const deadline = Date.now() + 5_000; ; ) {
    const found = await findings(panel);
    if (found.length === 0 || Date.now() > deadline) return found;
  }
}

describe('the panel', () => {
  const browser = useHarness();

  for (const name of Object.keys(scenesIn((text) => text)))
    it(`has no serious violations in any theme: scene “${name}”`, async () => {
      for (const theme of THEMES) {
        const { panel } = await showScene(browser, name, { theme });
        assert.deepEqual(await lastingFindings(panel), [], theme);
      }
    });

  // In Solarized Light, the contrast of text is 4.1 : 1, and of a button's label 2.7 : 1.
  for (const theme of isSlow ? (['solarizedLight', 'solarizedDark'] as const) : (['solarizedLight'] as const))
    for (const [name, scene] of Object.entries(SCENES))
      it(`has no worse contrast than the theme's own buttons: ${name}, ${theme}`, async () => {
        const panel = await browser.open({ ...scene, theme, height: 1400 });
        if (scene.session?.review) await openLists(panel);
        for (const { id, nodes } of await seriousViolations(panel.page, 'html', ['page-has-heading-one'])) {
          assert.equal(id, 'color-contrast');
          for (const { html, any } of nodes) assert.ok(any[0]?.data.contrastRatio >= 2.7, html);
        }
      });

  it('fits into a window at 200 % text size, and scrolls in one direction only', async () => {
    for (const [name, scene] of Object.entries(SCENES)) {
      const panel = await browser.open({ ...scene, width: 320, height: 400 });
      const outside = await panel.page.evaluate(() => {
        const { scrollWidth, clientWidth } = document.documentElement;
        const wide = [...document.querySelectorAll('.transcript')].filter((box) => box.scrollWidth > box.clientWidth);
        const controls = [...document.querySelectorAll('textarea, button, select, input')].filter((control) => {
          const { left, right, width } = control.getBoundingClientRect();
          return (
            width > 0 && control.closest('pre, .table, [role=log] .scroll') === null && (left < 0 || right > innerWidth)
          );
        });
        return [scrollWidth - clientWidth, wide.length, controls.map((control) => control.outerHTML.slice(0, 120))];
      });
      assert.deepEqual(outside, [0, 0, []], name);
      const composer = await panel.page.getByRole('textbox', { name: 'Message' }).boundingBox();
      assert.ok(
        composer && composer.y >= 0 && composer.y + composer.height <= 400,
        `${name}: the composer is in sight`,
      );
    }
  });

  it('avoids motion and marks the selection if the system requests that', async () => {
    const { page } = await browser.open({
      session: {
        phase: 'running',
        status: 'Working',
        turn: { id: 't', number: 1, origin: 'user', startedAt: 0, tools: 0, files: 0 },
      },
      items: [tool('t', { title: 'ls', toolKind: 'execute', status: 'in_progress' })],
    });
    await page.emulateMedia({ reducedMotion: 'reduce', forcedColors: 'active' });
    const moving = () =>
      page.evaluate(() =>
        document
          .getAnimations()
          .filter(({ playState }) => playState === 'running')
          .map(({ effect }) => (effect as KeyframeEffect).target?.className),
      );
    assert.deepEqual(await moving(), []);
    await page.getByRole('button', { name: 'More' }).click();
    const active = page.locator('.popup-item[data-active="true"]');
    assert.notEqual(
      await active.evaluate((node) => getComputedStyle(node).backgroundColor),
      await page
        .locator('.popup-item[data-active="false"]')
        .first()
        .evaluate((node) => getComputedStyle(node).backgroundColor),
    );
    await page.emulateMedia({ reducedMotion: null, forcedColors: null });
    assert.equal((await moving()).length, 3);
    // VS Code's setting, which may differ from the system's.
    await page.evaluate(() => document.body.classList.add('vscode-reduce-motion'));
    assert.deepEqual(await moving(), []);
  });

  it('draws right-to-left paragraphs, and left-to-right code in them', async () => {
    const text = 'مرحبا بالعالم\n\nHello\n\n```sh\nls\n```';
    const { page } = await browser.open({ items: [message('u', 'user', 'שלום עולם'), message('a', 'agent', text)] });
    const directions = (selector: string) =>
      page.locator(selector).evaluateAll((elements) => elements.map((element) => getComputedStyle(element).direction));
    assert.deepEqual(await directions('[data-entry-id=u] .said'), ['rtl']);
    assert.deepEqual(await directions('[data-entry-id=a] .segment p'), ['rtl', 'ltr']);
    assert.deepEqual(await directions('[data-entry-id=a] pre'), ['ltr']);
  });

  for (const theme of THEMES) {
    for (const [name, scene] of Object.entries(SCENES))
      it(`has no serious violations: ${name}, ${theme}`, async () => {
        const panel = await browser.open({ ...scene, theme, height: 1400 });
        if (scene.session?.review) await openLists(panel);
        assert.deepEqual(await findings(panel), []);
      });

    it(`has no serious violations: expanded nested calls, one with a request, ${theme}`, async () => {
      const nested = (index: number): ItemView => ({
        ...tool(`c${index}`, { title: `rm ${index}`, toolKind: 'execute' }),
        path: [0],
      });
      const call = tool('t', { title: 'Explore', status: 'in_progress', nested: { calls: 2, open: 1, now: 'rm 1' } });
      const permissions = [permission(2, { by: 'Explore' })];
      const panel = await browser.open({ items: [call, nested(1), nested(2)], session: { permissions }, theme });
      await panel.page.locator('.nest-line').click();
      await panel.next('nested');
      const items = [1, 2].map((index) => ({ index, item: nested(index) }));
      await panel.send({ type: 'nested', revision: panel.revision, index: 0, from: 0, total: 2, items });
      await panel.page.locator('.nest-list [data-entry-id=c1]').waitFor();
      assert.equal(await panel.page.locator('[data-entry-id=c2]').count(), 1);
      assert.deepEqual(await findings(panel), []);
    });

    it(`has no serious violations: the open list of mentions and the find widget, ${theme}`, async () => {
      const panel = await browser.open({ session: SESSION_FULL, items: [message('a', 'agent', 'A test.')], theme });
      await panel.page.keyboard.press('Control+f');
      await panel.page.getByRole('search').getByRole('textbox').fill('test');
      const { id } = await panel.next('find');
      await panel.send({ type: 'found', id, counts: [[0, 1]], isDone: true, isNew: true });
      await panel.page.getByRole('search').getByText('1 of 1', { exact: true }).waitFor();
      await panel.page.getByRole('textbox', { name: 'Message' }).pressSequentially('@');
      await panel.send({ type: 'mentions', query: '', offers: MENTIONS });
      await panel.page.getByRole('option', { name: 'src/server.ts' }).waitFor();
      assert.deepEqual(await findings(panel), []);
    });
  }
});
