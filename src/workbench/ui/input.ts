// VS Code's quick input. All text that it shows is made inert here; text that it offers for editing
// is not changed.
import {
  CancellationTokenSource,
  commands,
  type Disposable,
  type Event,
  EventEmitter,
  type IconPath,
  l10n,
  type QuickInputButton,
  QuickInputButtons,
  type QuickPick,
  type QuickPickItem,
  QuickPickItemKind,
  ThemeIcon,
  Uri,
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
  /** Says what is wrong with what is typed; undefined: nothing. */
  readonly validate?: (text: string) => string | undefined;
}

/**
 * Asks for one line of text.
 * @returns undefined where the user went away, or `signal` was aborted
 */
export async function askLine(
  { title, prompt, value, secret = false, validate }: LineQuestion,
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
      title: title !== undefined ? inert(title) : undefined,
      value,
      validateInput: validate
        ? (text: string) => {
            const problem = validate(text);
            return problem && inert(problem);
          }
        : undefined,
    };
    return await window.showInputBox(options, source.token);
  } finally {
    signal?.removeEventListener('abort', cancel);
    source.dispose();
  }
}

/** Fills a box while it is open. */
export interface LineHelp {
  readonly icon: string;
  readonly tooltip: string;
  /** What is shown where it failed. */
  readonly failed: (error: unknown) => string;
  run(signal: AbortSignal): Promise<string>;
}

/**
 * As {@link askLine}, with a button that fills the box. What was in it before comes back with a
 * second button.
 * @returns undefined where the user went away
 */
export function askLineWithHelp(
  { title, prompt, value = '' }: LineQuestion,
  help: LineHelp,
): Promise<string | undefined> {
  const box = window.createInputBox();
  const abort = new AbortController();
  const fill = { iconPath: new ThemeIcon(help.icon), tooltip: inert(help.tooltip) };
  const back = { iconPath: new ThemeIcon('discard'), tooltip: l10n.t('Restore Previous Text') };
  let previous = value;
  box.prompt = inert(prompt);
  box.value = value;
  box.ignoreFocusOut = true;
  box.buttons = [fill];
  if (title !== undefined) box.title = inert(title);
  const run = async (): Promise<void> => {
    box.validationMessage = undefined;
    box.busy = true;
    box.enabled = false;
    try {
      const found = await help.run(abort.signal);
      previous = box.value;
      box.value = found;
      box.buttons = [back, fill];
    } catch (error) {
      box.validationMessage = inert(help.failed(error));
    } finally {
      box.busy = false;
      box.enabled = true;
    }
  };
  return new Promise((resolve) => {
    const listening = [
      box.onDidChangeValue(() => {
        box.validationMessage = undefined;
      }),
      box.onDidTriggerButton((button) => {
        if (button === fill && !box.busy) void run();
        else if (button === back) [box.value, previous] = [previous, box.value];
      }),
      box.onDidAccept(() => {
        if (box.busy) return;
        resolve(box.value);
        box.hide();
      }),
      box.onDidHide(() => {
        abort.abort();
        resolve(undefined);
        for (const one of listening) one.dispose();
        box.dispose();
      }),
    ];
    box.show();
  });
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
    description: description ? labelOf(description) : undefined,
    detail: detail ? labelOf(detail) : undefined,
  }));
  const options = {
    placeHolder: inert(placeHolder),
    matchOnDescription: true,
    matchOnDetail: true,
    ignoreFocusOut,
    title: title !== undefined ? inert(title) : undefined,
  };
  return (await window.showQuickPick(rows, options))?.id;
}

/** Asks for some of a list. @returns their ids; undefined where the user went away */
export async function pickSome(
  items: readonly PickItem[],
  placeHolder: string,
  { title }: Pick<PickOptions, 'title'> = {},
): Promise<readonly string[] | undefined> {
  const rows = items.map(({ id, label, description, detail, picked = false }) => ({
    id,
    label: labelOf(label),
    picked,
    description: description ? labelOf(description) : undefined,
    detail: detail ? labelOf(detail) : undefined,
  }));
  const options = {
    placeHolder: inert(placeHolder),
    canPickMany: true as const,
    ignoreFocusOut: true,
    title: title !== undefined ? inert(title) : undefined,
  };
  return (await window.showQuickPick(rows, options))?.map(({ id }) => id);
}

/** A button of a list or of one of its rows: a codicon with a name. */
export interface ListButton {
  readonly icon: string;
  readonly tooltip: string;
  /** It is VS Code's own way back, at the beginning of the title. */
  readonly isBack?: true;
  readonly run: () => Promise<unknown>;
}

/** An image for each kind of theme, as an address (`data:`). */
export interface ThemedImage {
  readonly light: string;
  readonly dark: string;
}

/** A row of a {@link List}. One with `separates` is a heading. */
export interface ListRow {
  readonly label: LabelText;
  /** In front of the label: an image, or the name of a codicon. */
  readonly icon?: ThemedImage | string;
  readonly description?: LabelText | undefined;
  readonly detail?: LabelText | undefined;
  readonly buttons?: readonly ListButton[];
  readonly alwaysShow?: boolean;
  readonly separates?: true;
  /**
   * Where the focus is on the row, it stays there when the list is drawn again: Enter may be on its
   * way.
   */
  readonly id?: string;
}

type Shown<T> = QuickPickItem & { readonly row: T };
type ShownButton = QuickInputButton & { readonly run: ListButton['run'] };

interface Drawing<T> {
  readonly rows: readonly T[];
  readonly buttons: readonly ListButton[];
  /** The id of the row that gets the focus. */
  readonly focus?: string | undefined;
}

/**
 * A list that changes while it is open. VS Code names a row by its place, so what it tells of the
 * rows before would be taken for the rows of now: one drawing is under way at a time, and until
 * VS Code has it, events are about the rows before.
 */
export class List<T extends ListRow> implements Disposable {
  readonly #quick: QuickPick<Shown<T>> = window.createQuickPick<Shown<T>>();
  readonly #listening: Disposable[];
  readonly #accepted = new EventEmitter<T>();
  readonly #active = new EventEmitter<T | undefined>();
  readonly #pressed = new EventEmitter<ListButton['run']>();
  /** The rows that VS Code is known to show. */
  #shown: readonly Shown<T>[] = [];
  /** What is to be shown after the drawing that is under way. */
  #next: Drawing<T> | undefined;
  #isDrawing = false;
  /** The user has gone to the row, and did not just type. */
  #isChosen = false;
  /** The user has typed, and VS Code has not told since which row is active. */
  #isFiltering = false;
  /** Enter was pressed while a drawing left no row active: it takes the one that is active then. */
  #isEntered = false;
  #isDisposed = false;
  #back: ListButton['run'] | undefined;

  constructor(placeholder: string, title?: string) {
    const quick = this.#quick;
    if (title !== undefined) quick.title = inert(title);
    quick.placeholder = inert(placeholder);
    quick.matchOnDescription = true;
    quick.matchOnDetail = true;
    quick.keepScrollPosition = true;
    this.#listening = [
      quick.onDidAccept(() => {
        const [item] = quick.selectedItems;
        const meant = item && this.#meant(item);
        if (meant) this.#accepted.fire(meant.row);
        else this.#isEntered = !item && this.#isDrawing;
      }),
      quick.onDidChangeActive(([item]) => {
        this.#isFiltering = false;
        // A drawing makes VS Code choose, not the user; what is active then is told when it is done.
        if (this.#isDrawing) return;
        this.#isChosen = true;
        this.#active.fire(item?.row);
      }),
      quick.onDidChangeValue(() => {
        this.#isChosen = false;
        this.#isFiltering = true;
        this.#isEntered = false;
      }),
      quick.onDidTriggerItemButton(({ item, button }) => {
        const pressed = this.#meant(item)?.buttons?.[item.buttons?.indexOf(button) ?? -1];
        if (pressed) this.#pressed.fire((pressed as ShownButton).run);
      }),
      quick.onDidTriggerButton((button) => {
        const run = button === QuickInputButtons.Back ? this.#back : (button as ShownButton).run;
        if (run) this.#pressed.fire(run);
      }),
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

  set placeholder(text: string) {
    this.#quick.placeholder = inert(text);
  }

  /** Searches the rows as if the user had typed it, unless they have typed something. */
  search(text: string): void {
    this.#quick.value ||= text;
  }

  set busy(isBusy: boolean) {
    this.#quick.busy = isBusy;
  }

  /** The list stays while another window or box has the focus. */
  set ignoreFocusOut(stays: boolean) {
    this.#quick.ignoreFocusOut = stays;
  }

  /**
   * Shows these rows and the buttons above them, as soon as VS Code has shown those before.
   * @param focus the id of the row that gets the focus; absent: the one that has it keeps it
   */
  draw(rows: readonly T[], buttons: readonly ListButton[], focus?: string): void {
    this.#next = { rows, buttons, focus };
    if (!this.#isDrawing) void this.#drawAll();
  }

  async #drawAll(): Promise<void> {
    this.#isDrawing = true;
    while (this.#next && !this.#isDisposed) {
      const drawing = this.#next;
      this.#next = undefined;
      let items = this.#fill(drawing, drawing.focus ?? this.#kept);
      await everythingIsHandled();
      // The row that was to keep the focus is not among those that match what was typed meanwhile.
      if (this.#quick.activeItems.length === 0 && !this.#next && !this.#isDisposed) {
        items = this.#fill(drawing, undefined);
        await everythingIsHandled();
      }
      this.#shown = items;
    }
    this.#isDrawing = false;
    if (this.#isDisposed) return;
    const [active] = this.#quick.activeItems;
    const isEntered = this.#isEntered;
    this.#isEntered = false;
    this.#active.fire(active?.row);
    if (isEntered && active) this.#accepted.fire(active.row);
  }

  /** The id of the row that keeps the focus; a row that the filter hides would take it from all. */
  get #kept(): string | undefined {
    const [active] = this.#quick.activeItems;
    if (this.#isFiltering) return undefined;
    // One that is there whatever is typed has the focus only as long as there is nothing else.
    return this.#isChosen || !active?.alwaysShow ? active?.row.id : undefined;
  }

  #fill({ rows, buttons }: Drawing<T>, kept: string | undefined): readonly Shown<T>[] {
    const items = rows.map((row) => ({
      row,
      label: labelOf(row.label),
      iconPath: row.icon !== undefined ? iconOf(row.icon) : undefined,
      description: row.description ? labelOf(row.description) : undefined,
      detail: row.detail ? labelOf(row.detail) : undefined,
      buttons: row.buttons ? row.buttons.map(shownButton) : undefined,
      alwaysShow: row.alwaysShow || undefined,
      kind: row.separates ? QuickPickItemKind.Separator : undefined,
    }));
    this.#back = buttons.find(({ isBack }) => isBack)?.run;
    this.#quick.buttons = buttons.map((button) => (button.isBack ? QuickInputButtons.Back : shownButton(button)));
    this.#quick.items = items;
    const again = kept === undefined ? undefined : items.find(({ row }) => row.id === kept);
    if (again) this.#quick.activeItems = [again];
    return items;
  }

  /** What an event is about that names one of the newest rows. */
  #meant(item: Shown<T>): Shown<T> | undefined {
    return this.#shown.length === 0 ? item : this.#shown[this.#quick.items.indexOf(item)];
  }

  show(): void {
    this.#quick.show();
  }

  hide(): void {
    this.#quick.hide();
  }

  dispose(): void {
    this.#isDisposed = true;
    for (const listening of this.#listening) listening.dispose();
    this.#accepted.dispose();
    this.#active.dispose();
    this.#pressed.dispose();
    this.#quick.dispose();
  }
}

/** Settles when VS Code has handled all that was sent to it, and what it told before has come. */
async function everythingIsHandled(): Promise<void> {
  // Changes of a list leave in the next turn of the event loop. What is sent and answered keeps its
  // order, so any command of the window will do.
  await new Promise((resolve) => setTimeout(resolve, 0));
  await commands.executeCommand('setContext', 'parley.drawn', true).then(undefined, () => {});
}

function iconOf(icon: NonNullable<ListRow['icon']>): IconPath {
  return typeof icon === 'string'
    ? new ThemeIcon(icon)
    : { light: Uri.parse(icon.light, true), dark: Uri.parse(icon.dark, true) };
}

function shownButton({ icon, tooltip, run }: ListButton): ShownButton {
  return { iconPath: new ThemeIcon(icon), tooltip: inert(tooltip), run };
}
