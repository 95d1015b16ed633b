// A changed file in a list: what happened to it, its name, its lines, and what can be done with it.
import { revealControls } from '../../base/revealControls';
import type { ChangedFileView, ChangesAction } from '../../panel/contract';
import { button, el, icon, iconButton, setAttributes } from '../dom/dom';
import type { IconName } from '../dom/icons';
import { strings } from '../text/changesStrings';
import { splitPath } from '../text/format';
import { countedLines, linesLabel } from './lineCounts';
import { panel } from './panelServices';
import { pressGuard } from './pressGuard';

/** What a row does. */
export interface FileRowContext {
  act(kind: ChangesAction['kind'], file: string): void;
}

/** The buttons of a row, in their order. */
export type RowButton = 'open' | 'tool' | 'keep' | 'undo';

/** As VS Code marks changed files. */
const LETTERS = { added: 'A', modified: 'M', deleted: 'D', renamed: 'R' } as const;

export class FileRow {
  readonly element = el('li', 'change');
  readonly buttons: Readonly<Record<RowButton, HTMLButtonElement>>;
  readonly #lines = el('span', 'change-lines');
  #file: ChangedFileView | undefined;

  constructor(context: FileRowContext) {
    const act = (kind: ChangesAction['kind']) => (): void => {
      if (this.#file) context.act(kind, this.#file.id);
    };
    const keep = iconButton('check', strings.keep, () => {});
    const undo = iconButton('discard', strings.undo, () => {});
    pressGuard.watch(keep, act('keep'));
    pressGuard.watch(undo, act('undo'));
    const tool = iconButton('go-to-file', strings.showToolCall, () => {
      if (this.#file?.index !== undefined) panel.reveal(this.#file.index);
    });
    this.buttons = { open: button('change-open', '', act('open')), tool, keep, undo };
    this.element.append(this.buttons.open, el('span', 'change-actions', tool, keep, undo), this.#lines);
  }

  /**
   * Shows a file at its place.
   * @param file undefined while it is not loaded
   */
  show(file: ChangedFileView | undefined, index: number, total: number): void {
    setAttributes(this.element, { 'aria-posinset': index + 1, 'aria-setsize': total, 'data-index': index });
    if (file === this.#file) return;
    this.#file = file;
    if (file) this.#draw(file);
  }

  /** Sets whether its buttons are in the tab order. */
  setActive(active: boolean): void {
    for (const one of Object.values(this.buttons)) one.tabIndex = active ? 0 : -1;
  }

  setBusy(busy: boolean): void {
    for (const one of [this.buttons.keep, this.buttons.undo])
      setAttributes(one, { 'aria-disabled': busy ? 'true' : undefined });
  }

  /** Focuses a button, or opening if the row does not have it. */
  focus(wanted: RowButton): void {
    // The other buttons are only there while the row has the focus.
    this.buttons.open.focus({ preventScroll: true });
    this.buttons[wanted].focus({ preventScroll: true });
  }

  /** Returns which of its buttons has the focus. */
  get focused(): RowButton | undefined {
    const [found] = Object.entries(this.buttons).find(([, one]) => one === document.activeElement) ?? [];
    return found as RowButton | undefined;
  }

  #draw(file: ChangedFileView): void {
    const { open, tool, keep, undo } = this.buttons;
    setAttributes(this.element, {
      'data-path': file.label,
      'data-change-state': file.state,
      'data-change': file.change,
    });
    const [folder, name] = splitPath(revealControls(file.label));
    const from = file.oldLabel === undefined ? undefined : strings.renamedFrom(revealControls(file.oldLabel));
    const state = file.state === 'unreviewed' ? undefined : strings.changeState[file.state];
    const yours = file.alsoYours ? strings.alsoYours : undefined;
    const apart = file.apart && strings.apart[file.apart];
    const lines = file.isBinary ? strings.binaryFile : linesLabel(file);
    const words = [revealControls(file.label), strings.changeKind[file.change], from, lines, state, yours, apart];
    const label = words.filter((one) => one !== undefined).join(', ');
    open.title = [label, file.state === 'conflict' ? strings.conflictHint : undefined].filter(Boolean).join('\n');
    const look = [
      el('span', 'change-letter', LETTERS[file.change]),
      el('span', 'change-name', name),
      el('span', 'change-folder dim', from ?? folder.replace(/[\\/]$/, '')),
      ...mark('edit', yours, 'yours'),
      ...mark('question', apart, 'apart'),
      ...mark(STATE_ICONS[file.state], state, file.state),
    ];
    for (const one of look) one.ariaHidden = 'true';
    open.replaceChildren(el('span', 'sr-only', label), ...look);
    this.#lines.replaceChildren(file.isBinary ? el('span', 'dim', strings.binaryFile) : countedLines(file));
    tool.hidden = file.index === undefined;
    keep.hidden = file.state === 'kept' || file.state === 'undone';
    undo.hidden = file.state === 'undone';
  }
}

const STATE_ICONS: Readonly<Record<ChangedFileView['state'], IconName>> = {
  unreviewed: 'circle-outline',
  kept: 'check',
  undone: 'discard',
  conflict: 'warning',
};

/** What else is to be known of a file; where space is short, only the icon. */
function mark(name: IconName, words: string | undefined, kind: string): readonly HTMLElement[] {
  return words === undefined ? [] : [el('span', `change-mark ${kind}`, icon(name), el('span', 'words', words))];
}
