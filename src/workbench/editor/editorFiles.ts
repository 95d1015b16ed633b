// Files for agents as the user sees them: unsaved buffers before the disk, writes through open
// documents, encodings and line endings preserved.
import { stat } from 'node:fs/promises';
import * as vscode from 'vscode';
import { messageOf, ParleyError } from '../../base/errors';
import { KeyedQueue } from '../../base/keyedQueue';
import type { Log } from '../../base/log';
import type { FilePort } from '../../client/ports/ports';
import { keepLineEnds, sliceLines, smallestChange } from '../../client/requests/textEdit';
import { decodeFile, encodeLike, encodeNew } from './fileEncoding';
import { openDocument, pathKey, unsavedInOtherEditors } from './openDocuments';

/**
 * Larger files are neither read nor replaced, in bytes: the answer is one line on the wire, and no
 * model reads it.
 */
const MAX_BYTES = 50 * 1024 * 1024;
/** How often an edit is tried again when the user types between looking and replacing. */
const EDIT_ATTEMPTS = 3;

export interface EditorFilesOptions {
  readonly log: Log;
}

/**
 * The {@link FilePort} of the workbench; one for all agents, so that two of them cannot write one
 * file at once.
 */
export class EditorFiles implements FilePort {
  readonly #options: EditorFilesOptions;
  readonly #queue = new KeyedQueue<string>();

  constructor(options: EditorFilesOptions) {
    this.#options = options;
  }

  /**
   * An unsaved buffer is read before the disk. An open document without changes is read from the
   * disk all the same: what a command has just written may not have reached the editor yet.
   * @throws ParleyError `file-not-found`, `file-too-large`, `file-not-text`, `file-unreadable`,
   * `workspace-untrusted`
   */
  async readText(
    path: string,
    line: number | undefined,
    limit: number | undefined,
    maxBytes = MAX_BYTES,
  ): Promise<string> {
    requireTrust();
    return this.#queue.run(pathKey(path), async () => {
      const document = await openDocument(path);
      if (document?.isDirty) return sliceLines(document.getText(), line, limit);
      const before = await readFile(path, document?.encoding, maxBytes);
      if (!before) throw new ParleyError('file-not-found', `There is no file ${path}.`);
      return sliceLines(before.text, line, limit);
    });
  }

  /**
   * Replaces the text of a file. An open document gets the smallest edit that does it, so cursors
   * and undo stay, and is saved; save participants of the user run.
   * @throws ParleyError `file-read-only`, `file-not-saved`, `file-encoding`, `file-too-large`,
   * `file-not-text`, `file-unwritable`, `workspace-untrusted`
   */
  async writeText(path: string, text: string): Promise<void> {
    requireTrust();
    return this.#queue.run(pathKey(path), async () => {
      await requireWritable(path);
      const document = await openDocument(path);
      if (document?.isDirty) return this.#writeDocument(document, text);
      if (unsavedInOtherEditors().has(pathKey(path))) {
        throw new ParleyError(
          'file-not-saved',
          `${path} has unsaved changes in an editor that is not a text editor. Save it first.`,
        );
      }
      const before = await readFile(path, document?.encoding);
      // A document that has not followed the disk yet would refuse to be saved; it reloads after a
      // write to the disk.
      if (document && before && normal(document.getText()) === normal(before.text))
        return this.#writeDocument(document, text);
      await writeFile(path, before, text);
    });
  }

  async #writeDocument(document: vscode.TextDocument, text: string): Promise<void> {
    const path = document.uri.fsPath;
    const end = document.eol === vscode.EndOfLine.CRLF ? '\r\n' : '\n';
    const after = normal(text).replaceAll('\n', end);
    const wasClean = !document.isDirty;
    for (let attempt = 1; ; attempt += 1) {
      const change = smallestChange(document.getText(), after);
      if (!change) break;
      const edit = new vscode.WorkspaceEdit();
      const range = new vscode.Range(document.positionAt(change.start), document.positionAt(change.end));
      edit.replace(document.uri, range, change.text);
      // False also where the user typed in between: the range is for a version that is gone.
      if (await vscode.workspace.applyEdit(edit)) break;
      if (attempt === EDIT_ATTEMPTS)
        throw new ParleyError('file-unwritable', `${path} could not be changed in its editor.`);
    }
    if (!document.isDirty) return;
    if ((await document.save()) || !document.isDirty) return;
    // The disk moved on between the look and the save. Nothing of the user's is in a document that
    // was clean, so the disk gets the text too: a save of what stands there already is no conflict.
    if (wasClean && document.getText() === after) {
      await writeFile(path, await readFile(path, document.encoding), text);
      if ((await document.save()) || !document.isDirty) return;
    }
    this.#options.log.warn(`${path} was changed in its editor but not saved`);
    const sentence = `${path} was changed in its editor but could not be saved; it may have changed on disk or be read-only.`;
    throw new ParleyError('file-not-saved', sentence);
  }
}

function requireTrust(): void {
  if (vscode.workspace.isTrusted) return;
  throw new ParleyError('workspace-untrusted', 'Agents do not touch files in a workspace that is not trusted.');
}

/** @returns undefined where there is no such file */
async function readFile(
  path: string,
  encoding: string | undefined,
  maxBytes = MAX_BYTES,
): Promise<{ bytes: Uint8Array; text: string } | undefined> {
  const uri = vscode.Uri.file(path);
  let bytes: Uint8Array;
  try {
    const { type, size } = await vscode.workspace.fs.stat(uri);
    if (type & vscode.FileType.Directory) throw new ParleyError('file-unreadable', `${path} is a folder.`);
    // A pipe or a device would be read forever.
    if (!(type & vscode.FileType.File)) throw new ParleyError('file-unreadable', `${path} is not a regular file.`);
    if (size > maxBytes) {
      const megabytes = Math.round(size / 1024 / 1024);
      throw new ParleyError(
        'file-too-large',
        `${path} is too large: ${megabytes} MB, and the limit is ${Math.round(maxBytes / 1024 / 1024)} MB.`,
      );
    }
    bytes = await vscode.workspace.fs.readFile(uri);
  } catch (error) {
    if (error instanceof ParleyError) throw error;
    if (error instanceof vscode.FileSystemError && error.code === 'FileNotFound') return undefined;
    throw new ParleyError('file-unreadable', `${path} could not be read: ${reasonOf(error)}.`, { cause: error });
  }
  return { bytes, text: await decodeFile(uri, bytes, encoding) };
}

/**
 * Nobody's write bits are set: root and network disks would write all the same, and the person who
 * took the bits away meant it.
 */
async function requireWritable(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isFile() && (found.mode & 0o222) === 0) throw new ParleyError('file-read-only', `${path} is read-only.`);
}

async function writeFile(
  path: string,
  before: { bytes: Uint8Array; text: string } | undefined,
  text: string,
): Promise<void> {
  const uri = vscode.Uri.file(path);
  // A mark is part of the encoding, not of the text.
  const plain = before && text.startsWith('\ufeff') ? text.slice(1) : text;
  const bytes = before ? await encodeLike(uri, before, keepLineEnds(before.text, plain)) : await encodeNew(uri, plain);
  try {
    await vscode.workspace.fs.writeFile(uri, bytes);
  } catch (error) {
    throw new ParleyError('file-unwritable', `${path} could not be written: ${reasonOf(error)}.`, { cause: error });
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof vscode.FileSystemError)) return messageOf(error);
  const reasons = new Map([
    ['NoPermissions', 'permission denied'],
    ['FileIsADirectory', 'it is a folder'],
    ['FileNotADirectory', 'its path leads through a file'],
    ['Unavailable', 'its disk is not available'],
  ]);
  return reasons.get(error.code) ?? error.message;
}

/** As an editor holds a text: one kind of line end. */
function normal(text: string): string {
  const plain = text.startsWith('\ufeff') ? text.slice(1) : text;
  return plain.replace(/\r\n?/g, '\n');
}
