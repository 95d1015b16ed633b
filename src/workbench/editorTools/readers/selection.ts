// What the user has selected.

import { window } from 'vscode';
import { isBelow } from '../../../client/requests/roots';

export interface EditorSelection {
  /** Absolute. */
  readonly path: string;
  /** 1-based. */
  readonly startLine: number;
  readonly endLine: number;
  readonly text: string;
}

/**
 * Returns the selection of the active text editor, or of a visible one while the chat is active.
 */
export function selectionIn(roots: readonly string[]): EditorSelection | undefined {
  const editors = [...(window.activeTextEditor ? [window.activeTextEditor] : []), ...window.visibleTextEditors];
  const shown = editors.find(
    ({ document: { uri } }) => uri.scheme === 'file' && roots.some((root) => isBelow(root, uri.fsPath)),
  );
  if (!shown) return undefined;
  const { document, selection } = shown;
  return {
    path: document.uri.fsPath,
    startLine: selection.start.line + 1,
    endLine: selection.end.line + 1,
    text: document.getText(selection),
  };
}
