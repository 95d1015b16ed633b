// Runs a sign-in command in a terminal; its exit code tells whether it succeeded.
import { l10n, ThemeIcon, window, workspace } from 'vscode';
import { ParleyError } from '../../base/errors';
import type { TerminalCommand } from '../../client/ports/ports';
import { isTooLong } from '../ui/inertText';
import { confirm } from '../ui/messages';
import { newTerminal } from '../ui/places';

/**
 * Runs a command in a visible terminal; a program chosen by the agent needs consent.
 * @returns the exit code; undefined if the terminal was closed or consent denied
 * @throws ParleyError `workspace-untrusted`; the signal's reason, after closing the terminal
 */
export async function signInTerminal(command: TerminalCommand, signal: AbortSignal): Promise<number | undefined> {
  if (!workspace.isTrusted)
    throw new ParleyError('workspace-untrusted', l10n.t("Parley doesn't start programs in an untrusted workspace."));
  if (command.unfamiliar !== undefined) {
    const question = l10n.t('Run this program in a terminal to sign in?');
    if (isTooLong(command.unfamiliar) || !(await confirm(question, command.unfamiliar, l10n.t('Run'))))
      return undefined;
  }
  signal.throwIfAborted();
  const terminal = newTerminal(command.title, {
    shellPath: command.command,
    shellArgs: typeof command.args === 'string' ? command.args : [...command.args],
    cwd: command.cwd,
    env: { ...command.env },
    strictEnv: true,
    isTransient: true,
    iconPath: new ThemeIcon('key'),
  });
  terminal.show();
  return new Promise((resolve, reject) => {
    const closing = window.onDidCloseTerminal((closed) => {
      if (closed !== terminal) return;
      end();
      resolve(closed.exitStatus?.code);
    });
    const onAbort = (): void => {
      end();
      terminal.dispose();
      reject(signal.reason);
    };
    const end = (): void => {
      closing.dispose();
      signal.removeEventListener('abort', onAbort);
    };
    signal.addEventListener('abort', onAbort, { once: true });
  });
}
