// Accessibility checks with axe-core.
import axe, { type Result } from 'axe-core';
import type { Page } from 'playwright-core';

/** @param part selector of what is checked */
export async function violationsIn(page: Page, part: string): Promise<Result[]> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(
    (selector) => (globalThis as unknown as { axe: typeof axe }).axe.run(selector, { resultTypes: ['violations'] }),
    part,
  );
  return violations;
}

/** Returns serious violations, and those of `rules`. */
export async function seriousViolations(page: Page, part: string, rules: readonly string[] = []): Promise<Result[]> {
  const violations = await violationsIn(page, part);
  return violations.filter(({ id, impact }) => impact === 'serious' || impact === 'critical' || rules.includes(id));
}

/** Returns rule and element of each serious violation. */
export async function seriousFindings(...of: Parameters<typeof seriousViolations>): Promise<string[]> {
  const violations = await seriousViolations(...of);
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`));
}

/**
 * Returns the classes of elements that are cut off at the right edge of the window.
 * @param by by more than this, px
 */
export function cutOff(page: Page, selector: string, by = 0): Promise<readonly string[]> {
  return page.evaluate(
    ([part, most]) =>
      [...document.querySelectorAll(part)]
        .filter((element) => element.getBoundingClientRect().right > innerWidth + most)
        .map((element) => element.className),
    [selector, by] as const,
  );
}
