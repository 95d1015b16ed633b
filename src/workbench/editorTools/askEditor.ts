// Asks language servers with a time limit: a server may hang, and requests can't be withdrawn.

import { commands } from 'vscode';
import { inTime } from '../../editorTools/inTime';

/** A server that has just started reads the whole project first; in milliseconds. */
const PATIENCE_MS = 30_000;

/**
 * Runs a command of the editor.
 * @throws Error with a sentence for the model if there is no answer in time; the reason of
 * `signal`; what the command throws
 */
export function askEditor<T>(signal: AbortSignal, command: string, ...args: readonly unknown[]): Promise<T> {
  return inTime(commands.executeCommand<T>(command, ...args), PATIENCE_MS, signal);
}

/** As {@link askEditor}, for a list; empty if no server has an answer. */
export async function listFrom<T>(signal: AbortSignal, command: string, ...args: readonly unknown[]): Promise<T[]> {
  return (await askEditor<T[] | undefined>(signal, command, ...args)) ?? [];
}
