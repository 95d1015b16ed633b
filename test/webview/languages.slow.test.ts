// The panel in other languages: all texts are translated, and longer ones fit.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { THEMES } from '../support/tier';
import type { Panel } from './harness/browser';
import { claudeScenes, WIDTHS } from './harness/claudeSamples';
import { scenesIn } from './harness/scenes';
import type { Theme } from './harness/server';
import { showScene } from './harness/showScene';
import { englishTexts, type Language } from './harness/texts';
import { useHarness } from './harness/useHarness';

const NAMES = Object.keys(scenesIn((text) => text));

/** Fields of a view that hold codes, which must not be shown. */
const CODES: ReadonlySet<string> = new Set([
  ...['id', 'key', 'kind', 'type', 'phase', 'liveness', 'state', 'toolKind', 'origin', 'stopReason', 'barrier'],
  ...['outcome', 'severity', 'priority', 'stages', 'status', 'mode', 'opens', 'agentId'],
]);

/**
 * Texts that are not translated: the product's and the agent's name, an unknown content type, Git's
 * letters.
 */
const NAMED = ['Parley', 'Claude', 'hologram', 'https://', 'AMDR'];
/** Separators between texts: pseudo-language texts, and the colon between a name and its value. */
const PSEUDO = /[⟦⟧\uFF01-\uFF5E]+|: /;
const NUMBER = /\d[KMB]\b/g;
const TRIM = /^[^\p{L}\p{N}/]+|[^\p{L}\p{N}/]+$/gu;

/**
 * Returns texts of a scene that come from the agent or user: strings that are neither codes nor the
 * host's own.
 */
function textsOfOthers(value: unknown, key = ''): readonly string[] {
  if (CODES.has(key)) return [];
  if (typeof value === 'string') return value === '' ? [] : [value];
  if (Array.isArray(value)) return value.flatMap((item) => textsOfOthers(item, key));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, item]) => textsOfOthers(item, name));
}

/**
 * Returns everything the page shows or announces: texts, names, tooltips and hints, including
 * hidden ones.
 */
function wordsOnPage(panel: Panel): Promise<readonly string[]> {
  return panel.page.evaluate(() => {
    const words: string[] = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (node instanceof Text) {
        if (!node.parentElement?.closest('script, style')) words.push(node.data);
      } else if (node instanceof Element) {
        for (const name of ['aria-label', 'title', 'placeholder', 'alt', 'aria-description', 'aria-roledescription'])
          words.push(node.getAttribute(name) ?? '');
        for (const part of ['::before', '::after'])
          words.push(/^"(.*)"$/.exec(getComputedStyle(node, part).content)?.[1] ?? '');
      }
    }
    return words.map((text) => text.replaceAll(/\s+/g, ' ').trim()).filter((text) => text !== '');
  });
}

function overflows(panel: Panel): Promise<readonly string[]> {
  return panel.page.evaluate(() => {
    const found: string[] = [];
    const width = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth > width) found.push(`the page: ${document.documentElement.scrollWidth}`);
    for (const element of document.body.querySelectorAll<HTMLElement>('*')) {
      if (!element.checkVisibility({ visibilityProperty: true }) || element.closest('.sr-only, svg, select')) continue;
      const style = getComputedStyle(element);
      const name = `${element.tagName.toLowerCase()}.${element.className}: ${element.textContent?.slice(0, 60)}`;
      // Skips scrolling boxes and text only for assistive technology.
      if (/auto|scroll/.test(style.overflowX) || style.clipPath !== 'none') continue;
      let box = element.parentElement;
      while (box && getComputedStyle(box).overflowX === 'visible') box = box.parentElement;
      const { left, right } = element.getBoundingClientRect();
      if (!box && right > left && (right > width + 1 || left < -1)) found.push(`outside ${right}: ${name}`);
      if (style.display === 'inline' || element.scrollWidth <= element.clientWidth + 1) continue;
      const isCutOnPurpose = style.textOverflow === 'ellipsis' && element.closest('[title]') !== null;
      const isOwnButton = element.closest('.primary, .secondary, .text-button') !== null;
      if (isOwnButton || (style.overflowX === 'hidden' && !isCutOnPurpose))
        found.push(`cut ${element.scrollWidth} > ${element.clientWidth}: ${name}`);
    }
    return found;
  });
}

describe('the panel in another language', () => {
  const browser = useHarness();

  const show = (name: string, language: Language, look: { theme?: Theme; width?: number; height?: number } = {}) =>
    showScene(browser, name, { ...look, language });

  for (const name of NAMES)
    it(`translates each of its texts: ${name}`, async () => {
      const { panel, scene } = await show(name, 'pseudo');
      const others = [...textsOfOthers(scene), ...NAMED].map((text) => text.replaceAll(/\s+/g, ' ').trim());
      const isOthers = (part: string): boolean => others.some((text) => text.includes(part.replaceAll(TRIM, '')));
      const isEnglish = (text: string): boolean => {
        const parts = text
          .replaceAll(NUMBER, '')
          .split(PSEUDO)
          .filter((part) => /[A-Za-z]/.test(part));
        return (
          parts.some((part) => !isOthers(part)) ||
          (parts.length > 0 && englishTexts.includes(text) && !others.includes(text))
        );
      };
      const english = (await wordsOnPage(panel)).filter(isEnglish);
      assert.deepEqual([...new Set(english)], []);
    });

  for (const name of NAMES)
    it(`fits into 280 pixels in German: ${name}`, async () => {
      const { panel } = await show(name, 'de', { width: 280 });
      assert.deepEqual([...new Set(await overflows(panel))], []);
    });

  it('formats counts and numbers for the language', async () => {
    const { panel } = await show('turns', 'de');
    const rule = panel.page.locator('.turn-rule[aria-label*="1 h 3 min"]');
    assert.match((await rule.getAttribute('aria-label')) ?? '', /1 h 3 min .*3 Tools, 1 Datei, .*Eingabe: 1\.000/);
    assert.match(await panel.page.locator('.dropped').first().innerText(), /120\.000 Zeichen/);
    assert.equal(await panel.page.locator('html').getAttribute('lang'), 'de');
  });

  // Takes screenshots for people to review: SHOTS names the folder.
  const { SHOTS: folder } = process.env;
  const looks = [
    ...THEMES.map((theme) => ({ theme, language: 'en', width: 640 }) as const),
    ...(['en', 'de'] as const).map((language) => ({ theme: 'dark', language, width: 280 }) as const),
    { theme: 'dark', language: 'de', width: 640 } as const,
  ].flatMap((look) => NAMES.map((name) => ({ ...look, name })));
  const claudes = THEMES.flatMap((theme) =>
    WIDTHS.flatMap((width) =>
      Object.keys(claudeScenes((text) => text)).map((name) => ({ theme, language: 'de', width, name }) as const),
    ),
  );
  if (folder !== undefined)
    for (const { language, name, ...look } of [...looks, ...claudes])
      it(`is captured as a screenshot: ${name}, ${look.theme}, ${language}, ${look.width}`, async () => {
        const { panel } = await show(name, language, { ...look, height: 900 });
        // Syntax colours come from a separate script.
        await panel.page.waitForLoadState('networkidle');
        const path = join(folder, `${look.theme}-${language}-${look.width}`, `${name}.png`);
        await panel.page.screenshot({ path, animations: 'disabled' });
      });
});
