// The line of the running turn, at the end of the conversation.
import { el } from '../dom/dom';
import { type ChangesLine, createChangesLine } from './changesLine';
import { panel } from './panelServices';

export interface LiveLine {
  readonly element: HTMLElement;
  /** Returns whether it shows the changes of this turn. */
  has(turnId: string): boolean;
  /** Unfolds its list, and focuses the file with this id in it. */
  seek(file: string): void;
}

export function createLiveLine(): LiveLine {
  const element = el('div');
  let shown: { readonly turnId: string; readonly line: ChangesLine } | undefined;

  function end(): void {
    if (!shown) return;
    const { turnId, line } = shown;
    const hadFocus = line.element.contains(document.activeElement);
    line.dispose();
    line.element.remove();
    shown = undefined;
    // The same line is or will be at the end of the turn.
    if (hadFocus) requestAnimationFrame(() => focusLine(turnId));
  }

  panel.effect(() => {
    const turn = panel.turn.value;
    if (shown?.turnId !== turn?.id) end();
    if (!turn?.changes) return;
    if (!shown) {
      shown = { turnId: turn.id, line: createChangesLine(turn.id) };
      element.append(shown.line.element);
    }
    shown.line.update(turn);
  });

  return {
    element,
    has: (turnId) => shown?.turnId === turnId && !shown.line.element.hidden,
    seek: (file) => shown?.line.seek(file),
  };
}

function focusLine(turnId: string): void {
  if (document.activeElement !== document.body) return;
  const line = document.querySelector<HTMLElement>(`[data-turn-changes="${CSS.escape(turnId)}"] .changes-toggle`);
  line?.focus({ preventScroll: true });
}
