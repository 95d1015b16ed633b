// The line under a turn that says what changed on disk: files and lines. It unfolds to the list.

import type { Disposable } from '../../base/disposable';
import type { ChangesAction, TurnView } from '../../panel/contract';
import { button, el, icon, iconButton, setAttributes } from '../dom/dom';
import { strings } from '../text/changesStrings';
import { whenIdle, whileIdle } from './changesWork';
import { countedLines, linesLabel } from './lineCounts';
import { ListFold } from './listFold';
import { panel } from './panelServices';
import { pressGuard } from './pressGuard';

export interface ChangesLine extends Disposable {
  readonly element: HTMLElement;
  /** Shows what is known of the turn; nothing is shown of a turn that changed nothing. */
  update(turn: TurnView): void;
  toggle(): void;
  /** Unfolds the list, and focuses the file with this id in it. */
  seek(file: string): void;
  /** Focuses the line. */
  focus(): void;
}

export function createChangesLine(turnId: string): ChangesLine {
  const scope = { turnId };
  const act = (kind: ChangesAction['kind']) => (): void => panel.post({ type: 'changesAction', kind, scope });
  const words = el('span', 'changes-words');
  const lines = el('span', 'changes-lines');
  const toggle = button('row changes-toggle', '', () => {});
  const name = el('span', 'sr-only');
  words.ariaHidden = 'true';
  toggle.append(name, icon('chevron-right'), words, lines);
  const review = iconButton('diff-multiple', strings.reviewChanges, act('open'));
  const other = iconButton('send', strings.reviewWith, () =>
    panel.post({ type: 'continueFrom', turnId, how: 'review' }),
  );
  const undo = iconButton('discard', strings.undoTurn, () => {});
  const restore = iconButton('history', strings.restoreFiles, () =>
    whenIdle(() => panel.post({ type: 'restoreCheckpoint', turnId })),
  );
  pressGuard.watch(undo, act('undo'));
  const actions = el('span', 'changes-actions', review, other, undo, restore);
  const head = el('div', 'changes-line', toggle, actions);
  const incomplete = el('p', 'changes-incomplete dim');
  const fold = new ListFold(scope, toggle);
  const element = setAttributes(el('div', 'changes', head, incomplete, fold.body), { 'data-turn-changes': turnId });
  const stop = whileIdle([undo, restore]);

  return {
    element,
    update(turn) {
      const { changes } = turn;
      const files = changes?.files ?? 0;
      // A turn without any tool has most likely changed nothing, whether or not that is sure.
      const doubt = files > 0 || turn.tools > 0 ? changes?.incomplete : undefined;
      element.hidden = !changes || (files === 0 && doubt === undefined);
      if (!changes || element.hidden) return;
      head.hidden = files === 0;
      incomplete.hidden = doubt === undefined;
      incomplete.textContent = doubt ?? '';
      words.textContent = strings.filesChanged(files);
      lines.replaceChildren(countedLines(changes));
      name.textContent = `${strings.filesChanged(files)}, ${linesLabel(changes)}`;
      for (const one of [other, undo, restore]) one.hidden = turn.endedAt === undefined;
      fold.setCount(changes);
    },
    toggle: () => fold.toggle(),
    seek: (file) => fold.seek(file),
    focus: () => toggle.focus({ preventScroll: true }),
    dispose() {
      stop();
      fold.dispose();
    },
  };
}
