// Shows the error of a command once, and never with text that VS Code renders as link or icon.
import { RpcError } from '../../acp/jsonrpc/rpcError';
import { messageOf, ParleyError } from '../../base/errors';
import type { Conversation } from '../../client/conversation/conversation';
import { ownText } from '../../session/events/ownText';
import { inert } from '../ui/inertText';
import { showError, showInfo } from '../ui/messages';

/** Arguments of VS Code's menus: editor title, tree, webview, terminal, failed test. */
const OF_MENUS = [
  'groupId',
  'editorIndex',
  '$treeViewId',
  'webview',
  'preventDefaultContextMenuItems',
  'shellIntegration',
  'test',
];

/**
 * Returns whether a program called: programs and keybindings pass plain objects or our texts, menus
 * pass URIs, their objects, or nothing.
 */
export function isProgram(args: readonly unknown[]): boolean {
  const [first] = args;
  if (typeof first === 'string') return true;
  if (typeof first !== 'object' || first === null || Object.getPrototypeOf(first) !== Object.prototype) return false;
  return !OF_MENUS.some((key) => key in first);
}

export function showFailure(error: unknown, conversation: Conversation | undefined): void {
  if (error instanceof RpcError && conversation) {
    const noticeText = ownText('command-refused', conversation.agent.name);
    const description = error.message;
    const event = { type: 'notice', own: true, severity: 'error', title: '', said: noticeText, description } as const;
    conversation.note([{ at: Date.now(), event }]);
    return;
  }
  const hint = error instanceof ParleyError && error.hint !== undefined ? ` ${error.hint}` : '';
  const text = `Parley: ${messageOf(error)}${hint}`;
  void (error instanceof ParleyError && error.code === 'no-changes' ? showInfo(text) : showError(text));
}

/** VS Code shows the returned error in a notification if the caller was a keybinding. */
export function failureFor(error: unknown): unknown {
  const message = messageOf(error);
  const inertMessage = inert(message);
  if (inertMessage === message) return error;
  return new ParleyError(error instanceof ParleyError ? error.code : 'command-failed', inertMessage, { cause: error });
}
