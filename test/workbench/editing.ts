// What tests do in the editor of VS Code, as its user would.
import { strict as assert } from 'node:assert';
import * as vscode from 'vscode';

export async function openFile(path: string): Promise<vscode.TextEditor> {
  return vscode.window.showTextDocument(await vscode.workspace.openTextDocument(vscode.Uri.file(path)));
}

export async function typeInto(editor: vscode.TextEditor, text: string): Promise<void> {
  assert.ok(await editor.edit((edit) => edit.insert(new vscode.Position(0, 0), text)));
}

/** Closes an editor without asking what to do with changes, which a test could not answer. */
export async function discard(editor: vscode.TextEditor): Promise<void> {
  await vscode.window.showTextDocument(editor.document);
  await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
}

/** Undoes the last edit of the active editor; resolves when the document has changed. */
export async function undoIn(editor: vscode.TextEditor): Promise<void> {
  const undone = new Promise<void>((resolve) => {
    const listening = vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
      if (document !== editor.document || contentChanges.length === 0) return;
      listening.dispose();
      resolve();
    });
  });
  // VS Code undoes where the focus is, which may be an input or a webview.
  await vscode.window.showTextDocument(editor.document, editor.viewColumn);
  await vscode.commands.executeCommand('workbench.action.focusActiveEditorGroup');
  await vscode.commands.executeCommand('undo');
  await undone;
}

/** Resolves when a document has this text: VS Code is told of what others wrote a little late. */
export async function hasText(document: vscode.TextDocument, text: string): Promise<void> {
  if (document.getText() === text) return;
  await new Promise<void>((resolve) => {
    const listening = vscode.workspace.onDidChangeTextDocument((changed) => {
      if (changed.document !== document || document.getText() !== text) return;
      listening.dispose();
      resolve();
    });
  });
}
