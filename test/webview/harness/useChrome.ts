// The parts around the transcript, for tests of each of them.
import type { Locator } from 'playwright-core';
import type { Panel, PanelOptions } from './browser';
import { type HarnessInUse, useHarness } from './useHarness';

/** A turn runs. */
export const RUNNING = {
  phase: 'running',
  turn: { id: 't1', number: 1, origin: 'user', startedAt: 0, tools: 0, files: 0 },
} as const;

export interface Chrome {
  readonly browser: HarnessInUse;
  open(options?: PanelOptions): Promise<Panel>;
  /** The field that messages are written in. */
  field(): Locator;
  button(name: string): Locator;
}

/** Registers the hooks. @param take gets each panel that is opened; the rest speaks of the last one */
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
