// What a message of the user offers when it is hovered or focused: its text, and going back to before
// it, here or in a new session.
import type { FromTurn } from '../../panel/contract';
import { el, iconButton } from '../dom/dom';
import { strings } from '../text/changesStrings';
import { whenIdle, whileIdle } from './changesWork';
import { panel } from './panelServices';

export interface MessageActions {
  readonly element: HTMLElement;
  offer(actions: { readonly canRestore?: true; readonly canEdit?: true }): void;
  dispose(): void;
}

export function createMessageActions(turnId: string, copy: () => void): MessageActions {
  const restore = iconButton('history', strings.restoreFiles, () =>
    whenIdle(() => panel.post({ type: 'restoreCheckpoint', turnId })),
  );
  const continueFrom = (how: FromTurn) => () => panel.post({ type: 'continueFrom', turnId, how });
  const edit = iconButton('edit', strings.editAndResend, () => whenIdle(continueFrom('edit')));
  const others = [
    // A double click would open two sessions.
    iconButton('git-branch', strings.forkFromMessage, ({ detail }) => detail < 2 && continueFrom('fork')()),
    iconButton('send', strings.retryWith, continueFrom('retry')),
  ];
  const element = el('div', 'message-actions', iconButton('copy', strings.copyMessage, copy), restore, edit, ...others);
  return {
    element,
    offer({ canRestore, canEdit }) {
      restore.hidden = !canRestore;
      for (const one of [edit, ...others]) one.hidden = !canEdit;
      element.hidden = !canRestore && !canEdit;
    },
    dispose: whileIdle([restore, edit]),
  };
}
