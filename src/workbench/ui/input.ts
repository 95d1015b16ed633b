// VS Code's quick input. All text that it shows is made inert here; text that it offers for editing
// is not changed.
import {
  CancellationTokenSource,
  type Disposable,
  type Event,
  EventEmitter,
  type QuickInputButton,
  type QuickPick,
  type QuickPickItem,
  QuickPickItemKind,
  ThemeIcon,
  window,
} from 'vscode';
import { inert, type LabelText, labelOf } from './inertText';

export interface LineQuestion {
  readonly title?: string;
  readonly prompt: string;
  /** What stands in the box at first, unchanged. */
  readonly value?: string;
  /** What is typed is not shown. */
  readonly secret?: boolean;
}

/**
 * Asks for one line of text.
 * @returns undefined where the user went away, or `signal` was aborted
 */
export async function askLine(
  { title, prompt, value, secret = false }: LineQuestion,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const source = new CancellationTokenSource();
  const cancel = (): void => source.cancel();
  signal?.addEventListener('abort', cancel, { once: true });
  try {
    const options = {
      prompt: inert(prompt),
      password: secret,
      ignoreFocusOut: true,
      ...(title !== undefined && { title: inert(title) }),
      ...(value !== undefined && { value }),
    };
    return await window.showInputBox(options, source.token);
  } finally {
    signal?.removeEventListener('abort', cancel);
    source.dispose();
  }
}

export interface PickItem {
  readonly id: string;
  readonly label: LabelText;
  readonly description?: LabelText | undefined;
  readonly detail?: LabelText | undefined;
  /** The one that is chosen now. */
  readonly picked?: boolean;
}

export interface PickOptions {
  readonly title?: string;
  /** The list stays while another window or box has the focus. */
  readonly ignoreFocusOut?: boolean;
}

/** Asks for one of a list. @returns its id; undefined where the user went away */
export async function pick(
  items: readonly PickItem[],
  placeHolder: string,
  { title, ignoreFocusOut = false }: PickOptions = {},
): Promise<string | undefined> {
  const rows = items.map(({ id, label, description, detail, picked }): QuickPickItem & { id: string } => ({
    id,
    label: picked ? `$(check) ${labelOf(label)}` : labelOf(label),
    ...(description && { description: labelOf(description) }),
    ...(detail && { detail: labelOf(detail) }),
  }));
  const options = {
    placeHolder: inert(placeHolder),
    matchOnDescription: true,
    matchOnDetail: true,
    ignoreFocusOut,
    ...(title !== undefined && { title: inert(title) }),
  };
  return (await window.showQuickPick(rows, options))?.id;
}

/** A button of a list or of one of its rows: a codicon with a name. */
export interface ListButton {
  readonly icon: string;
  readonly tooltip: string;
  readonly run: () => Promise<unknown>;
}

/** A row of a {@link List}. One with `separates` is a heading. */
export interface ListRow {
  readonly label: LabelText;
  readonly description?: LabelText | undefined;
  readonly detail?: LabelText | undefined;
  readonly buttons?: readonly ListButton[];
  readonly alwaysShow?: boolean;
  readonly separates?: true;
  /** Where the focus is on the row, it stays there when the list is drawn again. */
  readonly id?: string;
}

type Shown<T> = QuickPickItem & { readonly row: T };
type ShownButton = QuickInputButton & { readonly run: ListButton['run'] };

/** A list that changes while it is open. */
export class List<T extends ListRow> implements Disposable {
  readonly #quick: QuickPick<Shown<T>> = window.createQuickPick<Shown<T>>();
  readonly #listening: Disposable[];
  readonly #accepted = new EventEmitter<T>();
  readonly #active = new EventEmitter<T | undefined>();
  readonly #pressed = new EventEmitter<ListButton['run']>();

  constructor(placeholder: string) {
    const quick = this.#quick;
    quick.placeholder = inert(placeholder);
    quick.matchOnDescription = true;
    quick.matchOnDetail = true;
    quick.keepScrollPosition = true;
    this.#listening = [
      quick.onDidAccept(() => {
        const [item] = quick.selectedItems;
        if (item) this.#accepted.fire(item.row);
      }),
      quick.onDidChangeActive(([item]) => this.#active.fire(item?.row)),
      quick.onDidTriggerItemButton(({ button }) => this.#pressed.fire((button as ShownButton).run)),
      quick.onDidTriggerButton((button) => this.#pressed.fire((button as ShownButton).run)),
    ];
  }

  /** A row was chosen. */
  get onDidAccept(): Event<T> {
    return this.#accepted.event;
  }

  /** The row that the focus is on. */
  get onDidChangeActive(): Event<T | undefined> {
    return this.#active.event;
  }

  /** A button was pressed; what it does. */
  get onDidPress(): Event<ListButton['run']> {
    return this.#pressed.event;
  }

  get onDidChangeValue(): Event<string> {
    return this.#quick.onDidChangeValue;
  }

  get onDidHide(): Event<void> {
    return this.#quick.onDidHide;
  }

  set busy(isBusy: boolean) {
    this.#quick.busy = isBusy;
  }

  /** The list stays while another window or box has the focus. */
  set ignoreFocusOut(stays: boolean) {
    this.#quick.ignoreFocusOut = stays;
  }

  /** Shows these rows and the buttons above them. */
  draw(rows: readonly T[], buttons: readonly ListButton[]): void {
    const [active] = this.#quick.activeItems;
    // On the first row, the user has not gone anywhere yet.
    const first = this.#quick.items.find(({ kind }) => kind !== QuickPickItemKind.Separator);
    const kept = active === first ? undefined : active?.row.id;
    this.#quick.buttons = buttons.map(shownButton);
    this.#quick.items = rows.map((row) => ({
      row,
      label: labelOf(row.label),
      ...(row.description && { description: labelOf(row.description) }),
      ...(row.detail && { detail: labelOf(row.detail) }),
      ...(row.buttons && { buttons: row.buttons.map(shownButton) }),
      ...(row.alwaysShow && { alwaysShow: true }),
      ...(row.separates && { kind: QuickPickItemKind.Separator }),
    }));
    const again = kept === undefined ? undefined : this.#quick.items.find(({ row }) => row.id === kept);
    if (again) this.#quick.activeItems = [again];
  }

  show(): void {
    this.#quick.show();
  }

  hide(): void {
    this.#quick.hide();
  }

  dispose(): void {
    for (const listening of this.#listening) listening.dispose();
    this.#accepted.dispose();
    this.#active.dispose();
    this.#pressed.dispose();
    this.#quick.dispose();
  }
}

function shownButton({ icon, tooltip, run }: ListButton): ShownButton {
  return { iconPath: new ThemeIcon(icon), tooltip: inert(tooltip), run };
}
