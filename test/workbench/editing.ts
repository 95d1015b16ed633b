// Editor helpers for tests.
import { strict as assert } from 'node:assert';
import { setTimeout as delay } from 'node:timers/promises';
import * as vscode from 'vscode';

export async function openFile(path: string): Promise<vscode.TextEditor> {
  return vscode.window.showTextDocument(await vscode.workspace.openTextDocument(vscode.Uri.file(path)));
}

/** Timeout of one wait, ms. Fails with the condition, unlike a test's timeout. */
const LONGEST = 30_000;

type Listen<T> = (listener: (value: T) => void) => { dispose(): unknown };

/** Resolves with the first matching event. */
function firstOf<T>(events: readonly Listen<T>[], fits: (value: T) => boolean): Promise<T> {
  return new Promise((resolve, reject) => {
    const end = (): void => {
      clearTimeout(limit);
      for (const one of listening) one.dispose();
    };
    const listen = (value: T): void => {
      if (!fits(value)) return;
      end();
      resolve(value);
    };
    const listening = events.map((event) => event(listen));
    const limit = setTimeout(() => {
      end();
      reject(new Error(`Not so after ${LONGEST / 1000} s: ${fits}`));
    }, LONGEST);
  });
}

/** Resolves with the next matching event. */
export function once<T>(event: vscode.Event<T>, fits: (value: T) => boolean = () => true): Promise<T> {
  return firstOf([event], fits);
}

/** Resolves when a condition holds, checked now and after each event. */
export async function until(fits: () => boolean, ...events: readonly Listen<unknown>[]): Promise<void> {
  if (!fits()) await firstOf(events, fits);
}

/** Disables auto save, which VS Code for the Web enables by default. Call it in a `describe`. */
export function withoutAutoSave(): void {
  const set = (mode: string | undefined): Thenable<void> =>
    vscode.workspace.getConfiguration('files').update('autoSave', mode, vscode.ConfigurationTarget.Global);
  before(() => set('off'));
  after(() => set(undefined));
}

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

/** Closes an editor without a dialog about changes, which a test could not answer. */
export async function discard(editor: vscode.TextEditor): Promise<void> {
  await vscode.window.showTextDocument(editor.document);
  await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
}

/** Undoes the last edit of an editor; resolves when the document has changed. */
export async function undoIn(editor: vscode.TextEditor): Promise<void> {
  const { document } = editor;
  const undone = once(
    vscode.workspace.onDidChangeTextDocument,
    (change) => `${change.document.uri}` === `${document.uri}` && change.contentChanges.length > 0,
  );
  // VS Code undoes in the focused element, which may be an input or a webview.
  for (let isUndone = false; !isUndone; ) {
    await vscode.window.showTextDocument(document, editor.viewColumn);
    await vscode.commands.executeCommand('workbench.action.focusActiveEditorGroup');
    await vscode.commands.executeCommand('undo');
    isUndone = await Promise.race([undone.then(() => true), delay(2_000, false)]);
  }
}

/** Resolves when a document has this text: VS Code reports changes with a delay. */
export function hasText(document: vscode.TextDocument, text: string): Promise<void> {
  return until(() => document.getText() === text, vscode.workspace.onDidChangeTextDocument);
}
