// Hooks and helpers for tests of the parts around the transcript.
import type { Locator } from 'playwright-core';
import type { Panel, PanelOptions } from './browser';
import { type HarnessInUse, useHarness } from './useHarness';

export const RUNNING = {
  phase: 'running',
  turn: { id: 't1', number: 1, origin: 'user', startedAt: 0, tools: 0, files: 0 },
} as const;

export interface Chrome {
  readonly browser: HarnessInUse;
  open(options?: PanelOptions): Promise<Panel>;
  field(): Locator;
  button(name: string): Locator;
}

/**
 * Registers the hooks.
 * @param take called with each opened panel; the other functions use the last one
 */
export function useChrome(take: (panel: Panel) => void): Chrome {
  const browser = useHarness();
  return {
    browser,
    async open(options) {
      const panel = await browser.open(options);
      take(panel);
      return panel;
    },
    field: () => browser.panel.page.getByRole('textbox', { name: 'Message' }),
    button: (name) => browser.panel.page.getByRole('button', { name, exact: true }),
  };
}
