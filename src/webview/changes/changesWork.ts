// Keeping, undoing and restoring files, one at a time: meanwhile their buttons do nothing.
import type { ChangesWorkView } from '../../panel/contract';
import { setAttributes } from '../dom/dom';
import { strings } from '../text/changesStrings';
import { panel } from './panelServices';

/**
 * Marks buttons as disabled while files are kept, undone or restored. They keep the focus.
 * @returns a function that ends this
 */
export function whileIdle(buttons: readonly HTMLElement[]): () => void {
  return panel.effect(() => {
    const isBusy = panel.changesWork.value !== undefined;
    for (const one of buttons) setAttributes(one, { 'aria-disabled': isBusy ? 'true' : undefined });
  });
}

/** "Undoing changes… 120 of 2,000" */
export function workLabel({ kind, done, total }: ChangesWorkView): string {
  const words = strings.changesWork[kind];
  return done === undefined || total === undefined ? words : `${words} ${strings.progress(done, total)}`;
}

/** Calls `act` unless files are being kept, undone or restored. */
export function whenIdle(act: () => void): void {
  if (panel.changesWork.peek() === undefined) act();
}
