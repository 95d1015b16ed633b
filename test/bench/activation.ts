// How long VS Code says that our activation took.
import type { Page } from 'playwright-core';
import { command } from '../support/vscode/workbench';

/** Milliseconds, from the row of "Developer: Show Running Extensions". @throws Error where there is no such row */
export async function activationMs(page: Page): Promise<number> {
  await command(page, 'Developer: Show Running Extensions');
  const row = page.locator('.runtime-extensions-editor .extension').filter({ hasText: 'Parley' }).first();
  await row.waitFor();
  const time = row.locator('.activation-time');
  const text = await time.innerText();
  const match = /(\d+)\s*ms/.exec(text);
  if (!match) throw new Error(`No activation time in "${text}"`);
  return Number(match[1]);
}
