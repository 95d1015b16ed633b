// Runs a command and shows a failure to people, or throws it to programs.
import { Uri } from 'vscode';
import { ChatHome } from '../chat/chatHome';
import type { Workbench } from '../core/workbench';
import { failureFor, isProgram, showFailure } from './commandErrors';
import { NothingChosen, onlyOf } from './commandSession';

export async function runCommand(workbench: Workbench, id: string, all: readonly unknown[]): Promise<unknown> {
  // Keybindings and links can pass null for a missing argument.
  const args = withoutPage(all).map((one) => one ?? undefined);
  try {
    return await workbench.run(id, ...args);
  } catch (error) {
    if (error instanceof NothingChosen) return undefined;
    if (isProgram(args)) throw failureFor(error);
    const chat = workbench.get(ChatHome);
    showFailure(error, chat.isVisible ? onlyOf(chat.current) : undefined);
    return undefined;
  }
}

/** VS Code's menus pass the URI of an editor's page first. */
function withoutPage(args: readonly unknown[]): readonly unknown[] {
  const [first] = args;
  return first instanceof Uri && first.scheme === 'webview-panel' ? args.slice(1) : args;
}
