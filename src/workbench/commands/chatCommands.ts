// Commands about the chat itself: from prompt to prompt, to the next mode or model, to another place,
// and between editor and chat.
import { commands, l10n, window } from 'vscode';
import { ParleyError } from '../../base/errors';
import { choiceOf, nextOf } from '../../client/conversation/sessionChoices';
import { showStatus } from '../ui/messages';
import type { Command, CommandServices, Register } from './commandServices';
import { sessionOf } from './commandSession';

export function chatCommands(services: CommandServices, register: Register): Command[] {
  const { chat, away } = services;
  return [
    register('previousPrompt', () => chat.focusOn('previousPrompt')),
    register('nextPrompt', () => chat.focusOn('nextPrompt')),
    register('nextMode', (argument?: unknown) => chooseNext(services, 'mode', argument)),
    register('nextModel', (argument?: unknown) => chooseNext(services, 'model', argument)),
    register('toggleAway', async (argument?: unknown) => away.toggle((await sessionOf(services, argument)).key)),
    register('moveChatToEditor', () => chat.move('editor')),
    register('moveChatToSideBar', () => chat.move('sideBar')),
    register('moveChatToNewWindow', () => chat.move('window')),
    register('toggleFocus', async (argument?: { to?: 'editor' | 'chat' }) => {
      // Of the palette's own accord nobody has the focus: a chat in a tab is no text editor.
      const to = argument?.to ?? (window.activeTextEditor ? 'chat' : 'editor');
      if (to === 'chat') chat.open().focus();
      else await focusEditor();
    }),
  ];
}

/** Goes to the editor beside the chat, else to the one before it in its group. */
async function focusEditor(): Promise<void> {
  // Editors inside a comparison of several files have no column. VS Code 1.106 lists them even after
  // the comparison was closed.
  const editor = window.activeTextEditor ?? window.visibleTextEditors.find((one) => one.viewColumn !== undefined);
  if (editor) await window.showTextDocument(editor.document, { viewColumn: editor.viewColumn ?? 1 });
  else await commands.executeCommand('workbench.action.openPreviousRecentlyUsedEditor');
}

/** @throws ParleyError `no-modes`, `no-models`; what the agent answers */
async function chooseNext(
  services: CommandServices,
  what: 'mode' | 'model',
  argument: unknown,
): Promise<string | undefined> {
  const conversation = await sessionOf(services, argument);
  const choice = choiceOf(conversation, what);
  const next = choice && nextOf(choice);
  if (!next) {
    const name = conversation.agent.name;
    throw new ParleyError(
      `no-${what}s`,
      what === 'mode' ? l10n.t('{0} has no modes.', name) : l10n.t('{0} has no models.', name),
    );
  }
  await choice.choose(next.value);
  showStatus(what === 'mode' ? l10n.t('Mode: {0}', next.name) : l10n.t('Model: {0}', next.name));
  return next.value;
}
