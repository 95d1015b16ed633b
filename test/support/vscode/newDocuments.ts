// A script that runs first in each document that a page loads from now on, for one test of a window
// that others use too.
import type { Page } from 'playwright-core';

export async function inNewDocuments(page: Page, source: string): Promise<() => Promise<void>> {
  const session = await page.context().newCDPSession(page);
  await session.send('Page.enable');
  await session.send('Page.addScriptToEvaluateOnNewDocument', { source });
  return () => session.detach();
}
