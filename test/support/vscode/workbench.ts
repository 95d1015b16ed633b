// What a user does in the workbench: run a command by its title, look into the chat.
import type { FrameLocator, Locator, Page } from 'playwright-core';

/** The open list or box of VS Code. One that fades out is closed already, and takes nothing. */
export function quickInput(page: Page): Locator {
  return page.locator('.quick-input-widget:not([inert]):visible');
}

/**
 * Runs a command from the palette by its whole title, category included ("Parley: Focus Chat").
 * @throws Error after 30 s without such a command
 */
export async function command(page: Page, title: string): Promise<void> {
  const deadline = Date.now() + 30_000;
  let reason: unknown;
  while (Date.now() < deadline) {
    try {
      await choose(page, title);
      return;
    } catch (error) {
      reason = error;
    }
  }
  throw new Error(`There is no command "${title}" in the palette`, { cause: reason });
}

/** One attempt. @throws Error of Playwright if a step takes longer than a moment */
async function choose(page: Page, title: string): Promise<void> {
  const palette = quickInput(page);
  const input = palette.locator('input.input');
  const row = palette.locator('.quick-input-list .monaco-list-row').filter({
    has: page.locator('.label-name', { hasText: new RegExp(`^${title.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`) }),
  });
  if (!(await input.isVisible())) {
    await page.keyboard.press('F1');
    await input.waitFor({ timeout: 5_000 });
  }
  await input.fill(`>${title}`, { timeout: 2_000 });
  try {
    await row.first().click({ timeout: 3_000 });
  } catch (error) {
    await page.keyboard.press('Escape');
    await palette.waitFor({ state: 'hidden', timeout: 5_000 });
    throw error;
  }
  await paletteTaken(page);
}

/**
 * Waits until the palette has run a command: it goes, or it stays for a command that asks something
 * itself.
 */
export async function paletteTaken(page: Page): Promise<void> {
  const searches = `[...document.querySelectorAll('.quick-input-widget')].some(
    (palette) => palette.style.display !== 'none' && palette.querySelector('input.input')?.value.startsWith('>'),
  )`;
  await page.waitForFunction(`!${searches}`, undefined, { timeout: 5_000 }).catch(() => undefined);
}

/** How long a step in a list may take before the list counts as closed, ms. */
const IN_LIST = { timeout: 5_000 };

/**
 * Makes VS Code show a list, and does something in it.
 * @throws Error of Playwright if the list does not stay
 */
export async function inList<T>(
  page: Page,
  how: string | (() => Promise<void>),
  act: (list: Locator, patience: typeof IN_LIST) => Promise<T>,
): Promise<T> {
  const list = quickInput(page);
  for (let left = 4; ; left--) {
    try {
      if (!(await list.isVisible())) await (typeof how === 'string' ? command(page, how) : how());
      return await act(list, IN_LIST);
    } catch (error) {
      if (left === 0) throw error;
      await page.keyboard.press('Escape');
    }
  }
}

export type ChatPlace = 'panel' | 'view' | 'any';

export function chatFrame(page: Page, place: ChatPlace = 'any'): FrameLocator {
  const ours = 'iframe.webview.ready[src*="extensionId=parley.parley"]';
  const purpose = { panel: ':not([src*="purpose=webviewView"])', view: '[src*="purpose=webviewView"]', any: '' }[place];
  return page.locator(`${ours}${purpose}`).first().contentFrame().frameLocator('#active-frame');
}

export function toolFrame(page: Page): FrameLocator {
  const panels = 'iframe.webview.ready[src*="extensionId=parley.parley"]:not([src*="purpose=webviewView"])';
  // The chat is another panel, and the first.
  return page.locator(panels).last().contentFrame().frameLocator('#active-frame');
}

export async function chatReady(page: Page, place: ChatPlace = 'any', timeout = 30_000): Promise<FrameLocator> {
  const frame = chatFrame(page, place);
  await frame.getByRole('textbox', { name: 'Message' }).waitFor({ timeout });
  return frame;
}

export async function sendMessage(frame: FrameLocator, text: string): Promise<void> {
  const composer = frame.getByRole('textbox', { name: 'Message' });
  await composer.fill(text);
  await composer.press('Enter');
}

/** Waits for the end of the n-th turn (1-based). @returns its `data-stop-reason` */
export async function turnEnd(frame: FrameLocator, number = 1, timeout = 60_000): Promise<string | null> {
  const boundary = frame.locator('[role=separator][data-turn-id]').nth(number - 1);
  await boundary.waitFor({ timeout });
  return boundary.getAttribute('data-stop-reason');
}

export async function copied(page: Page, copies: () => Promise<void>): Promise<string> {
  await page.evaluate('navigator.clipboard.writeText("")');
  await copies();
  return page.evaluate(`(async () => {
    for (;;) {
      const text = await navigator.clipboard.readText();
      if (text !== '') return text;
      await new Promise(requestAnimationFrame);
    }
  })()`);
}

export function openFile(page: Page, name: string): Promise<void> {
  return inList(
    page,
    () => page.keyboard.press('Control+P'),
    async (list, patience) => {
      await list.locator('input.input').fill(name, patience);
      // Until VS Code has searched, the row in focus is what was open last.
      await list.locator('.monaco-list-row.focused', { hasText: name }).waitFor(patience);
      await list.locator('input.input').press('Enter', patience);
      await list.waitFor({ state: 'hidden', ...patience });
    },
  );
}

/**
 * Shows the notifications, which VS Code does not by itself while it is driven.
 * @returns all of them
 */
export async function showNotifications(page: Page): Promise<Locator> {
  const center = page.locator('.notifications-center.visible');
  if (!(await center.isVisible())) await command(page, 'Notifications: Show Notifications');
  await center.waitFor();
  return center.locator('.notification-list-item');
}
