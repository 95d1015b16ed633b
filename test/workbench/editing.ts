// What tests do in the editor of VS Code, as its user would.
import { strict as assert } from 'node:assert';
import { setTimeout as delay } from 'node:timers/promises';
import * as vscode from 'vscode';

export async function openFile(path: string): Promise<vscode.TextEditor> {
  return vscode.window.showTextDocument(await vscode.workspace.openTextDocument(vscode.Uri.file(path)));
}

/** Resolves with the next event that fits. */
export function once<T>(event: vscode.Event<T>, fits: (value: T) => boolean = () => true): Promise<T> {
  return new Promise((resolve) => {
    const listening = event((value) => {
      if (!fits(value)) return;
      listening.dispose();
      resolve(value);
    });
  });
}

type Listen = (listener: () => void) => { dispose(): unknown };

/** Resolves when something is so: looked at now, and after each of the events. */
export async function until(fits: () => boolean, ...events: readonly Listen[]): Promise<void> {
  await new Promise<void>((resolve) => {
    const look = (): void => {
      if (!fits()) return;
      for (const one of listening) one.dispose();
      resolve();
    };
    const listening = events.map((event) => event(look));
    look();
  });
}

/** Switches auto save off, which is on by default in VS Code for the Web and saves what a test leaves unsaved. Call it in a `describe`. */
export function withoutAutoSave(): void {
  const set = (mode: string | undefined): Thenable<void> =>
    vscode.workspace.getConfiguration('files').update('autoSave', mode, vscode.ConfigurationTarget.Global);
  before(() => set('off'));
  after(() => set(undefined));
}

/** Replaces a text in a document, unsaved. */
export async function replaceIn(uri: vscode.Uri, from: string, to: string): Promise<void> {
  const document = await vscode.workspace.openTextDocument(uri);
  const at = document.getText().indexOf(from);
  const change = new vscode.WorkspaceEdit();
  change.replace(uri, new vscode.Range(document.positionAt(at), document.positionAt(at + from.length)), to);
  assert.ok(await vscode.workspace.applyEdit(change));
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
  const undone = once(
    vscode.workspace.onDidChangeTextDocument,
    ({ document, contentChanges }) => document === editor.document && contentChanges.length > 0,
  );
  // VS Code undoes where the focus is, which may be an input or a webview, and a page can take it meanwhile.
  for (let isUndone = false; !isUndone; ) {
    await vscode.window.showTextDocument(editor.document, editor.viewColumn);
    await vscode.commands.executeCommand('workbench.action.focusActiveEditorGroup');
    await vscode.commands.executeCommand('undo');
    isUndone = await Promise.race([undone.then(() => true), delay(2_000, false)]);
  }
}

/** Resolves when a document has this text: VS Code is told of what others wrote a little late. */
export function hasText(document: vscode.TextDocument, text: string): Promise<void> {
  return until(() => document.getText() === text, vscode.workspace.onDidChangeTextDocument);
}
