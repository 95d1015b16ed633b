// Layout at every width with Claude's pickers, commands and long paths.
import assert from 'node:assert/strict';
import { isSlow, THEMES } from '../support/tier';
import { violationsIn } from './harness/axe';
import type { Panel } from './harness/browser';
import { claudeScenes, WIDTHS } from './harness/claudeSamples';
import { translateTo } from './harness/texts';
import { useHarness } from './harness/useHarness';

const HEIGHT = 1200;
/** With one line of text, px. */
const COMPOSER = 70;

/** Returns layout errors. */
function faults(panel: Panel): Promise<readonly string[]> {
  return panel.page.evaluate(() => {
    const found: string[] = [];
    const boxOf = (element: Element): DOMRect => element.getBoundingClientRect();
    const isShown = (element: Element): boolean => element.checkVisibility() && element.closest('.sr-only') === null;
    const all = (selector: string): HTMLElement[] =>
      [...document.querySelectorAll<HTMLElement>(selector)].filter(isShown);
    const isCut = ({ scrollWidth, clientWidth }: HTMLElement): boolean => scrollWidth > clientWidth;

    for (const row of all('.header, .tool-line, .queue-item, .bar, .bar-start, .pickers, .bar-end')) {
      const { left, top, right, bottom, height } = boxOf(row);
      if (height > 35) found.push(`${row.className} is ${height} px high`);
      for (const child of [...row.children].filter(isShown).map(boxOf))
        if (child.left < left - 5 || child.right > right + 1 || child.top < top - 1 || child.bottom > bottom + 1)
          found.push(`${row.className} does not hold ${child.left}–${child.right}`);
    }
    if (document.documentElement.scrollWidth > innerWidth) found.push('the page is too wide');

    const middle = (selector: string): number =>
      boxOf(document.querySelector(selector)!).left * 2 + boxOf(document.querySelector(selector)!).width;
    for (const selector of ['.composer', '.page'])
      if (Math.abs(middle(selector) - innerWidth) > 1)
        found.push(`${selector} is not in the middle: ${middle(selector) / 2}`);

    const [name] = all('.agent-name > .cut');
    if (!name || (isCut(name) && innerWidth > 260)) found.push('the name of the agent is cut');
    for (const file of all('.tool .object > .name'))
      if (isCut(file) ? innerWidth >= 480 || file.clientWidth < 50 : file.clientWidth === 0)
        found.push(`${file.textContent} has ${file.clientWidth} px`);
    for (const fact of all('.tool .result, .tool .time')) if (isCut(fact)) found.push(`${fact.textContent} is cut`);
    for (const picked of all('.pickers .cut'))
      if (isCut(picked) && picked.clientWidth < 50) found.push(`${picked.textContent} has ${picked.clientWidth} px`);
    for (const command of all('.completion-list .popup-label'))
      if (isCut(command)) found.push(`${command.textContent} is cut`);
    for (const list of all('.popup'))
      if (boxOf(list).left < 0 || boxOf(list).right > innerWidth) found.push(`a list ends at ${boxOf(list).right}`);
    return found;
  });
}

describe('the panel at every width', () => {
  const browser = useHarness();

  for (const language of ['en', 'de'] as const)
    for (const [name, scene] of Object.entries(claudeScenes(translateTo(language))))
      it(`has single-line rows, visible names and a composer of constant height: ${name}, ${language}`, async () => {
        const panel = await browser.open({ ...scene, language, height: HEIGHT });
        const { page } = panel;
        const height = () => page.locator('.composer').evaluate((node) => node.getBoundingClientRect().height);
        for (const width of WIDTHS) {
          await page.setViewportSize({ width, height: HEIGHT });
          await page.locator('[data-entry-id=w3] .result').waitFor({ state: 'visible' });
          assert.deepEqual([await height(), await faults(panel)], [COMPOSER, []], `${width} px`);
        }
      });

  it('shows lists that fit, with complete command names', async () => {
    const { 'Claude at work': scene } = claudeScenes(translateTo('de'));
    const panel = await browser.open({ ...scene, language: 'de', height: HEIGHT });
    const { page } = panel;
    const field = page.locator('.message');
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: HEIGHT });
      for (const trigger of await page.locator('.bar button[aria-haspopup], .header button[aria-haspopup]').all()) {
        if (!(await trigger.isVisible())) continue;
        await trigger.click();
        assert.deepEqual(await faults(panel), [], `${width} px: ${await trigger.getAttribute('aria-label')}`);
        await page.keyboard.press('Escape');
      }
      await field.fill('');
      await field.pressSequentially('/');
      await page.locator('.completion-list').waitFor();
      assert.deepEqual(await faults(panel), [], `${width} px: commands`);
    }
  });

  it('opens each picker from a single menu at the smallest width, and closes it', async () => {
    const { 'Claude, idle': scene } = claudeScenes(translateTo('en'));
    const panel = await browser.open({ ...scene, width: 260 });
    const { page } = panel;
    const more = page.getByRole('button', { name: 'Mode and options' });
    await more.press('Enter');
    const items = page.getByRole('menu', { name: 'Mode and options' }).getByRole('menuitem');
    assert.deepEqual(await items.allInnerTexts(), [
      'Mode\nAccept edits',
      'Model\nDefault (recommended)',
      'Effort\nDefault',
      'Speed\nStandard',
    ]);
    await items.nth(2).click();
    await page.getByRole('listbox', { name: 'Effort' }).waitFor();
    await page.keyboard.press('End');
    await page.keyboard.press('Enter');
    assert.deepEqual(await panel.next('setConfig'), { type: 'setConfig', key: 's1', id: 'effort', value: 'High' });
    assert.ok(await more.evaluate((node) => node === document.activeElement));
  });

  for (const theme of THEMES)
    it(`has no accessibility violations, ${theme}`, async () => {
      for (const [name, scene] of Object.entries(claudeScenes(translateTo('de'))))
        for (const width of isSlow ? [260, 480, 1040] : [260]) {
          const panel = await browser.open({ ...scene, language: 'de', theme, width, height: HEIGHT });
          const found = await violationsIn(panel.page, 'html');
          assert.deepEqual(
            found.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`),
            [],
            `${name}, ${width} px`,
          );
        }
    });
});
