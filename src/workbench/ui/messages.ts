// Notifications, dialogs and status bar messages. All text is made inert here.

import { type MessageItem, ProgressLocation, window } from 'vscode';
import { messageOf } from '../../base/errors';
import { inert, inertLines } from './inertText';

const STATUS_MS = 5_000;
/** Shorter work needs no notification, ms. */
const SOON_MS = 500;

export async function showInfo<T extends string>(text: string, ...buttons: readonly T[]): Promise<T | undefined> {
  return chosen(buttons, await window.showInformationMessage(inert(text), ...buttons.map(inert)));
}

export async function showWarning<T extends string>(text: string, ...buttons: readonly T[]): Promise<T | undefined> {
  return chosen(buttons, await window.showWarningMessage(inert(text), ...buttons.map(inert)));
}

export async function showError<T extends string>(text: string, ...buttons: readonly T[]): Promise<T | undefined> {
  return chosen(buttons, await window.showErrorMessage(inert(text), ...buttons.map(inert)));
}

export function tellError(error: unknown): void {
  void showError(`Parley: ${messageOf(error)}`);
}

/**
 * @param detail line breaks are preserved
 * @param buttons besides “Cancel”; the first has focus: the action if the user invoked it,
 * otherwise the rejection
 * @returns undefined if cancelled
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

/** Asks for consent in a modal dialog, as {@link askModal}. @param yes label of the button */
export async function confirm(question: string, detail: string | undefined, yes: string): Promise<boolean> {
  return (await askModal(question, detail, [yes])) === yes;
}

/** VS Code queues modal dialogs. */
const dialogs = new Set<Promise<unknown>>();

/** An editor revealed behind a dialog would take focus and keys. */
export function isDialogOpen(): boolean {
  return dialogs.size > 0;
}

export async function dialogsClosed(): Promise<void> {
  while (dialogs.size > 0) await Promise.allSettled(dialogs);
}

/** @param total 0: shows only the text @param text replaces both numbers */
export type ReportProgress = (done: number, total: number, text?: string) => void;

/** Shows a notification with a cancel button for slow work. */
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

export function showStatus(text: string): void {
  window.setStatusBarMessage(inert(text), STATUS_MS);
}

function chosen<T extends string>(buttons: readonly T[], label: string | undefined): T | undefined {
  return buttons.find((button) => inert(button) === label);
}
