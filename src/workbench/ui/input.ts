// VS Code's quick input. All displayed text is made inert here, but not text offered for editing.
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
  readonly value?: string;
  readonly secret?: boolean;
  readonly validate?: (text: string) => string | undefined;
}

/** @returns undefined if the user cancelled or `signal` was aborted */
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

interface LineHelp {
  readonly icon: string;
  readonly tooltip: string;
  readonly failed: (error: unknown) => string;
  run(signal: AbortSignal): Promise<string>;
}

/** As {@link askLine}, with a button that fills the box, and one that undoes that. */
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
  readonly picked?: boolean;
}

interface PickOptions {
  readonly title?: string;
  readonly ignoreFocusOut?: boolean;
}

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

export interface ListButton {
  readonly icon: string;
  readonly tooltip: string;
  readonly isBack?: true;
  readonly run: () => Promise<unknown>;
}

/** `data:` URLs. */
export interface ThemedImage {
  readonly light: string;
  readonly dark: string;
}

/** A row with `separates` is a heading. */
export interface ListRow {
  readonly label: LabelText;
  /** An image, or the name of a codicon. */
  readonly icon?: ThemedImage | string;
  readonly description?: LabelText | undefined;
  readonly detail?: LabelText | undefined;
  readonly buttons?: readonly ListButton[];
  readonly alwaysShow?: boolean;
  readonly separates?: true;
  /** Keeps focus on the row when the list is redrawn: Enter may be about to be pressed. */
  readonly id?: string;
}

type Shown<T> = QuickPickItem & { readonly row: T };
type ShownButton = QuickInputButton & { readonly run: ListButton['run'] };

interface Drawing<T> {
  readonly rows: readonly T[];
  readonly buttons: readonly ListButton[];
  readonly focus?: string | undefined;
}

/**
 * A list that changes while open. VS Code identifies rows by index, so only one redraw is in
 * progress at a time, and events refer to the previous rows until VS Code has processed it.
 */
export class List<T extends ListRow> implements Disposable {
  readonly #quick: QuickPick<Shown<T>> = window.createQuickPick<Shown<T>>();
  readonly #subscriptions: Disposable[];
  readonly #accepted = new EventEmitter<T>();
  readonly #active = new EventEmitter<T | undefined>();
  readonly #pressed = new EventEmitter<ListButton['run']>();
  #drawnRows: readonly Shown<T>[] = [];
  #next: Drawing<T> | undefined;
  #isDrawing = false;
  /** The user moved to the row, rather than typed. */
  #isChosen = false;
  /** The user typed, and VS Code hasn't reported the active row since. */
  #isFiltering = false;
  /** Enter was pressed while a redraw left no row active. */
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
    this.#subscriptions = [
      quick.onDidAccept(() => {
        const [item] = quick.selectedItems;
        const current = item && this.#currentRow(item);
        if (current) this.#accepted.fire(current.row);
        else this.#isEntered = !item && this.#isDrawing;
      }),
      quick.onDidChangeActive(([item]) => {
        this.#isFiltering = false;
        // Caused by the redraw, not the user.
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
        const pressed = this.#currentRow(item)?.buttons?.[item.buttons?.indexOf(button) ?? -1];
        if (pressed) this.#pressed.fire((pressed as ShownButton).run);
      }),
      quick.onDidTriggerButton((button) => {
        const run = button === QuickInputButtons.Back ? this.#back : (button as ShownButton).run;
        if (run) this.#pressed.fire(run);
      }),
    ];
  }

  get onDidAccept(): Event<T> {
    return this.#accepted.event;
  }

  get onDidChangeActive(): Event<T | undefined> {
    return this.#active.event;
  }

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

  /** Filters the rows, unless the user has typed something. */
  search(text: string): void {
    this.#quick.value ||= text;
  }

  set busy(isBusy: boolean) {
    this.#quick.busy = isBusy;
  }

  set ignoreFocusOut(ignores: boolean) {
    this.#quick.ignoreFocusOut = ignores;
  }

  /** @param focus id of the row to focus; default: the current row */
  draw(rows: readonly T[], buttons: readonly ListButton[], focus?: string): void {
    this.#next = { rows, buttons, focus };
    if (!this.#isDrawing) void this.#drawAll();
  }

  async #drawAll(): Promise<void> {
    this.#isDrawing = true;
    while (this.#next && !this.#isDisposed) {
      const drawing = this.#next;
      this.#next = undefined;
      let items = this.#fill(drawing, drawing.focus ?? this.#focusedId);
      await untilVsCodeIsIdle();
      // The row to focus does not match the filter.
      if (this.#quick.activeItems.length === 0 && !this.#next && !this.#isDisposed) {
        items = this.#fill(drawing, undefined);
        await untilVsCodeIsIdle();
      }
      this.#drawnRows = items;
    }
    this.#isDrawing = false;
    if (this.#isDisposed) return;
    const [active] = this.#quick.activeItems;
    const isEntered = this.#isEntered;
    this.#isEntered = false;
    this.#active.fire(active?.row);
    if (isEntered && active) this.#accepted.fire(active.row);
  }

  /** Focusing a row hidden by the filter would leave none focused. */
  get #focusedId(): string | undefined {
    const [active] = this.#quick.activeItems;
    if (this.#isFiltering) return undefined;
    // An always shown row is active only if there is no other.
    return this.#isChosen || !active?.alwaysShow ? active?.row.id : undefined;
  }

  #fill({ rows, buttons }: Drawing<T>, focusedId: string | undefined): readonly Shown<T>[] {
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
    const focused = focusedId === undefined ? undefined : items.find(({ row }) => row.id === focusedId);
    if (focused) this.#quick.activeItems = [focused];
    return items;
  }

  /** Maps an event's row to the newest rows. */
  #currentRow(item: Shown<T>): Shown<T> | undefined {
    return this.#drawnRows.length === 0 ? item : this.#drawnRows[this.#quick.items.indexOf(item)];
  }

  show(): void {
    this.#quick.show();
  }

  hide(): void {
    this.#quick.hide();
  }

  dispose(): void {
    this.#isDisposed = true;
    for (const subscription of this.#subscriptions) subscription.dispose();
    this.#accepted.dispose();
    this.#active.dispose();
    this.#pressed.dispose();
    this.#quick.dispose();
  }
}

/** Resolves when VS Code has processed everything sent to it. */
async function untilVsCodeIsIdle(): Promise<void> {
  // List changes are sent in the next turn of the event loop. Messages are ordered.
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

export interface ChoiceRow extends ListRow {
  /** Absent for informational rows. */
  readonly choose?: () => Promise<unknown>;
}

export function choiceFrom(list: List<ChoiceRow>): Promise<ChoiceRow['choose']> {
  const { promise, resolve } = Promise.withResolvers<ChoiceRow['choose']>();
  const chosen = (choose: ChoiceRow['choose']): void => {
    if (!choose) return;
    resolve(choose);
    list.hide();
  };
  const listening: readonly Disposable[] = [
    list.onDidAccept((row) => chosen(row.choose)),
    list.onDidPress(chosen),
    list.onDidHide(() => {
      for (const one of listening) one.dispose();
      list.dispose();
      resolve(undefined);
    }),
  ];
  list.show();
  return promise;
}
