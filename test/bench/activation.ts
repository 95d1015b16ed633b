// How long VS Code says that our activation took.
import type { Page } from 'playwright-core';
import { command } from '../support/vscode/workbench';

/**
 * Milliseconds, from the row of "Developer: Show Running Extensions".
 * @throws Error if there is no such row
 */
export async function activationMs(page: Page): Promise<number> {
  await command(page, 'Developer: Show Running Extensions');
  const row = page.locator('.runtime-extensions-editor .extension').filter({ hasText: 'Parley' }).first();
  // Only the rows in view are in the page, and how far down ours is depends on what else ran.
  const list = page.locator('.runtime-extensions-editor .monaco-list').first();
  await list.waitFor();
  for (let pages = 0; pages < 20 && !(await row.isVisible()); pages++) {
    await list.focus();
    await page.keyboard.press(pages === 0 ? 'Home' : 'PageDown');
    await row.waitFor({ timeout: 300 }).catch(() => {}); // on a later page, then
  }
  await row.waitFor();
  const time = row.locator('.activation-time');
  const text = await time.innerText();
  const match = /(\d+)\s*ms/.exec(text);
  if (!match) throw new Error(`No activation time in "${text}"`);
  return Number(match[1]);
}
