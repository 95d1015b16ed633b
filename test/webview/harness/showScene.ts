// Shows a scene with everything expanded.
import type { Panel, PanelOptions } from './browser';
import { ListHost } from './changeSamples';
import { type Scene, scenesIn } from './scenes';
import { translateTo } from './texts';
import type { HarnessInUse } from './useHarness';

export async function showScene(
  browser: HarnessInUse,
  name: string,
  { language = 'en', ...options }: Pick<PanelOptions, 'language' | 'theme' | 'width' | 'height'>,
): Promise<{ readonly panel: Panel; readonly scene: Scene }> {
  const scene: Scene = scenesIn(translateTo(language))[name] ?? {};
  const panel = await browser.open({ height: 1400, ...options, ...scene, language });
  await visibleDrawn(panel);
  if (scene.opens !== undefined) {
    await panel.page.locator(scene.opens).first().waitFor({ state: 'attached' });
    await panel.page.locator(scene.opens).evaluateAll((elements) => {
      for (const element of elements) (element as HTMLElement).click();
    });
  }
  const { files = [], count = 0 } = scene.lists ?? {};
  const host = new ListHost(panel, files);
  for (let list = 0; list < count; list++) await host.answer();
  if (count > 0) await panel.page.locator('.change').last().waitFor();
  return { panel, scene };
}

/** Waits until no visible part of the transcript is an empty box; drawing lags by a frame. */
async function visibleDrawn(panel: Panel): Promise<void> {
  await panel.page.waitForFunction(() => {
    const pages = [...document.querySelectorAll('.transcript .page:empty')].map((page) => page.getBoundingClientRect());
    return pages.every(({ height, bottom, top }) => height === 0 || bottom <= 0 || top >= innerHeight);
  });
}
