// Notifications, dialogs and the messages of the status bar. All text that they show is made inert
// here.

import { type MessageItem, ProgressLocation, window } from 'vscode';
import { messageOf } from '../../base/errors';
import { inert, inertLines } from './inertText';

/** How long a message stays in the status bar, in ms. */
const STATUS_MS = 5_000;
/** What is done within this time, in ms, needs no notification. */
const SOON_MS = 500;

/** Shows a notification. @returns the button that was pressed; undefined where it was closed */
export async function showInfo<T extends string>(text: string, ...buttons: readonly T[]): Promise<T | undefined> {
  return chosen(buttons, await window.showInformationMessage(inert(text), ...buttons.map(inert)));
}

/** As {@link showInfo}, as a warning. */
export async function showWarning<T extends string>(text: string, ...buttons: readonly T[]): Promise<T | undefined> {
  return chosen(buttons, await window.showWarningMessage(inert(text), ...buttons.map(inert)));
}

/** As {@link showInfo}, as an error. */
export async function showError<T extends string>(text: string, ...buttons: readonly T[]): Promise<T | undefined> {
  return chosen(buttons, await window.showErrorMessage(inert(text), ...buttons.map(inert)));
}

/** Shows a failure that nobody waits for. */
export function tellError(error: unknown): void {
  void showError(`Parley: ${messageOf(error)}`);
}

/**
 * Asks in a modal dialog. @param detail below the question; its line breaks are kept
 * @param buttons besides “Cancel”; the first has the focus. As in VS Code, that is the action where
 * the user has just commanded it (delete, sign out); where a question comes unasked, the refusal
 * @returns the button that was pressed; undefined where the dialog was cancelled
 */
export async function askModal<T extends string>(
  question: string,
  detail: string | undefined,
  buttons: readonly T[],
): Promise<T | undefined> {
  const options = { modal: true, detail: detail !== undefined ? inertLines(detail) : undefined };
  const items = buttons.map((button): MessageItem => ({ title: inert(button) }));
  const answer = Promise.resolve(window.showWarningMessage(inert(question), options, ...items));
  dialogs.add(answer);
  try {
    return chosen(buttons, (await answer)?.title);
  } finally {
    dialogs.delete(answer);
  }
}

/** The modal dialogs that wait for an answer. VS Code shows one after the other. */
const dialogs = new Set<Promise<unknown>>();

/**
 * Returns whether a modal dialog is open. VS Code lets an editor that is revealed behind it take the
 * focus, and with it the keys.
 */
export function isDialogOpen(): boolean {
  return dialogs.size > 0;
}

/** Resolves when no modal dialog is open. */
export async function dialogsClosed(): Promise<void> {
  while (dialogs.size > 0) await Promise.allSettled(dialogs);
}

/**
 * Shows how far long work is; where `total` is 0, only the text.
 * @param text what is done now, instead of both numbers
 */
export type ReportProgress = (done: number, total: number, text?: string) => void;

/**
 * Shows a notification while something works that is not done at once, with a button that aborts
 * it.
 * @param text what is done, such as “Uploading messages…”
 */
export async function showProgress<T>(
  text: string,
  work: (signal: AbortSignal, report: ReportProgress) => Promise<T>,
): Promise<T> {
  const aborter = new AbortController();
  let last: Parameters<ReportProgress> | undefined;
  let show: ReportProgress = (...report) => {
    last = report;
  };
  const working = work(aborter.signal, (...report) => show(...report));
  const done = working.then(
    () => 'done',
    () => 'done',
  );
  const soon = new Promise((resolve) => setTimeout(resolve, SOON_MS));
  if ((await Promise.race([done, soon])) !== 'done') {
    const options = { location: ProgressLocation.Notification, title: inert(text), cancellable: true };
    await window.withProgress(options, (progress, token) => {
      token.onCancellationRequested(() => aborter.abort());
      let shown = 0;
      show = (count, total, text) => {
        if (total === 0 && text === undefined) return;
        const percent = total === 0 ? shown : (100 * count) / total;
        progress.report({ message: inert(text ?? `${count} / ${total}`), increment: percent - shown });
        shown = percent;
      };
      if (last) show(...last);
      return done;
    });
  }
  return working;
}

/** Says something in the status bar for a few seconds. */
export function showStatus(text: string): void {
  window.setStatusBarMessage(inert(text), STATUS_MS);
}

function chosen<T extends string>(buttons: readonly T[], label: string | undefined): T | undefined {
  return buttons.find((button) => inert(button) === label);
}
