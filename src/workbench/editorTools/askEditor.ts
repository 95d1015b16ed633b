// Queries language servers with a timeout: they may hang, and requests can't be cancelled.

import { commands } from 'vscode';
import { inTime } from '../../editorTools/inTime';

/** A newly started server loads the whole project first; ms. */
const PATIENCE_MS = 30_000;

/** @throws Error with a sentence for the model on timeout; the reason of `signal` */
export function askEditor<T>(signal: AbortSignal, command: string, ...args: readonly unknown[]): Promise<T> {
  return inTime(commands.executeCommand<T>(command, ...args), PATIENCE_MS, signal);
}

/** As {@link askEditor}, for a list; empty if no server responds. */
export async function listFrom<T>(signal: AbortSignal, command: string, ...args: readonly unknown[]): Promise<T[]> {
  return (await askEditor<T[] | undefined>(signal, command, ...args)) ?? [];
}
