// What a message of the user offers when it is hovered or focused: going back to before it.
import { el, iconButton } from '../dom/dom';
import { strings } from '../text/changesStrings';
import { whenIdle, whileIdle } from './changesWork';
import { panel } from './panelServices';

export interface MessageActions {
  readonly element: HTMLElement;
  offer(actions: { readonly canRestore?: true; readonly canEdit?: true }): void;
  dispose(): void;
}

export function createMessageActions(turnId: string): MessageActions {
  const restore = iconButton('history', strings.restoreFiles, () =>
    whenIdle(() => panel.post({ type: 'restoreCheckpoint', turnId })),
  );
  const edit = iconButton('edit', strings.editAndResend, () =>
    whenIdle(() => panel.post({ type: 'editAndResend', turnId })),
  );
  const element = el('div', 'message-actions', restore, edit);
  return {
    element,
    offer({ canRestore, canEdit }) {
      restore.hidden = !canRestore;
      edit.hidden = !canEdit;
      element.hidden = !canRestore && !canEdit;
    },
    dispose: whileIdle([restore, edit]),
  };
}
