// Files for review and restore: unsaved documents before the disk, all edits as one Undo step.

import * as fs from 'node:fs/promises';
import { dirname } from 'node:path';
import * as vscode from 'vscode';
import { messageOf, ParleyError } from '../../../base/errors';
import { localizable } from '../../../base/localizable';
import type { Log } from '../../../base/log';
import type { FileEdit, FileVersion, WorkingFile, WorkingFiles } from '../../../changes/model/fileChange';
import { removeEmptyFolders, requireRoom } from '../../../changes/restore/disk';
import { isBelow, isInsideRoots, realTarget } from '../../../client/requests/roots';
import { openDocument, openDocuments, pathKey, unsavedInOtherEditors } from '../../editor/openDocuments';
import { type ReportProgress, showProgress } from '../../ui/messages';
import { deleteDiskFile, isWritable, readDiskFile, writeDiskFile } from './diskFiles';
import { bytesOf, editsOf } from './documentEdits';

const ATTEMPTS = 3;
/** Larger files are not loaded into documents, bytes. */
const MAX_LOADED_BYTES = 5 * 1024 * 1024;
/** VS Code closes documents without an editor beyond about this number before they are saved. */
const MAX_LOADED = 40;

const DELETE = { ignoreIfNotExists: true, skipTrashBin: true };

type Step = {
  readonly edit: FileEdit;
  readonly uri: vscode.Uri;
} & (
  | {
      readonly by: 'document';
      readonly document: vscode.TextDocument;
      readonly edits: readonly vscode.TextEdit[];
      /** It had unsaved changes, so it is not saved. */
      readonly keepsUnsaved: boolean;
    }
  | { readonly by: 'create' | 'delete' }
  /** Has no edit in VS Code: links, modes, bytes that a document would change. */
  | { readonly by: 'disk' }
);

export class EditorWorkingFiles implements WorkingFiles {
  readonly #log: Log;
  #queue: Promise<unknown> = Promise.resolve();

  constructor(log: Log) {
    this.#log = log;
  }

  async read(path: string): Promise<WorkingFile | undefined> {
    return readWorking(path, await openDocument(path));
  }

  async apply(edits: readonly FileEdit[], label: string): Promise<readonly string[]> {
    if (!vscode.workspace.isTrusted)
      throw new ParleyError('workspace-untrusted', localizable('Trust this workspace to change its files.'));
    const applied = this.#queue.then(() => showProgress(label, (signal, report) => this.#apply(edits, signal, report)));
    this.#queue = applied.catch(() => {});
    return applied;
  }

  async #apply(edits: readonly FileEdit[], signal: AbortSignal, report: ReportProgress): Promise<readonly string[]> {
    const refused = new Set<string>();
    let open = edits;
    for (let attempt = 1; attempt <= ATTEMPTS && open.length > 0; attempt++) {
      const steps = await this.#plan(open, refused, signal, report);
      if (!steps) return edits.map(({ path }) => path);
      // Also false if the user typed in between.
      const isApplied = await applyEdit(steps);
      if (!isApplied) await removePartialFiles(steps);
      const unsaved = isApplied ? await save(steps) : new Set<Step>();
      // If VS Code rejects the edits as a whole, they are finally made file by file.
      if (!isApplied && attempt < ATTEMPTS) continue;
      open = [];
      for (const [n, step] of inWriteOrder(steps).entries()) {
        report(edits.length + n, 2 * edits.length);
        // A file to delete may hold the only copy of what could not be written.
        const isLast = step.by === 'delete' && refused.size > 0;
        if (isLast || !(await this.#settle(step, isApplied, unsaved.has(step)))) refused.add(step.edit.path);
      }
    }
    return [...refused];
  }

  async #plan(
    edits: readonly FileEdit[],
    refused: Set<string>,
    signal: AbortSignal,
    report: ReportProgress,
  ): Promise<readonly Step[] | undefined> {
    const documents = openDocuments();
    const unsaved = unsavedInOtherEditors();
    const steps: Step[] = [];
    let loaded = 0;
    const loadLimited: Load = async (uri, content) => {
      if (loaded >= MAX_LOADED) return undefined;
      loaded += 1;
      return load(uri, content);
    };
    for (const [n, edit] of edits.entries()) {
      if (signal.aborted) return undefined;
      report(n, 2 * edits.length);
      const key = pathKey(edit.path);
      try {
        const document = documents.get(key) ?? (await openDocument(edit.path));
        const step = unsaved.has(key) ? 'refused' : await planEdit(edit, document, loadLimited);
        if (step === 'refused') refused.add(edit.path);
        else if (step !== 'done') steps.push(step);
      } catch (error) {
        this.#log.warn(`${edit.path} is not changed: ${messageOf(error)}`);
        refused.add(edit.path);
      }
    }
    return steps;
  }

  /**
   * Checks the bytes on disk, and writes them if VS Code could not.
   * @param isApplied VS Code made the edit
   * @param isUnsaved VS Code could not save it
   * @returns whether the file has the wanted content
   */
  async #settle(step: Step, isApplied: boolean, isUnsaved: boolean): Promise<boolean> {
    const { path, content, mode, root, expected } = step.edit;
    try {
      // Documents with earlier or new unsaved changes are not saved.
      if (step.by === 'document' && !isUnsaved && (step.keepsUnsaved || step.document.isDirty)) return isApplied;
      const found = await readDiskFile(path);
      const isOurs =
        (isApplied && !isUnsaved) || (found ? expected?.equals(found.content) === true : step.by !== 'document');
      if (!equalFiles(found, content, mode)) {
        if (!isOurs) return false;
        if (content !== undefined) await writeDiskFile(path, { content, mode: mode ?? found?.mode ?? '100644' });
        else await deleteDiskFile(path);
      }
      if (isUnsaved && step.by === 'document' && content) await saveSame(step.document, path, content);
      if (content === undefined) await removeEmptyFolders(fs, root, dirname(path));
      return true;
    } catch (error) {
      this.#log.warn(`${path} could not be changed: ${messageOf(error)}`);
      return false;
    }
  }
}

async function planEdit(
  edit: FileEdit,
  open: vscode.TextDocument | undefined,
  load: Load,
): Promise<Step | 'done' | 'refused'> {
  const { path, root, expected, content, mode } = edit;
  const uri = vscode.Uri.file(path);
  const found = await readWorking(path, open);
  if (equalFiles(found, content, mode)) return 'done';
  if (found ? expected?.equals(found.content) !== true : expected !== undefined) return 'refused';
  if (!(await isInsideRoots(await realTarget(dirname(path)), [root])) || !(await isWritable(path))) return 'refused';
  if (found?.mode === '120000' || mode === '120000') return { edit, uri, by: 'disk' };
  if (content === undefined) return { edit, uri, by: 'delete' };
  if (!found) return { edit, uri, by: 'create' };
  const document = open ?? (await load(uri, found.content));
  if (!document) return { edit, uri, by: 'disk' };
  const edits =
    document.isDirty || (await bytesOf(document)).equals(found.content) ? await editsOf(document, content) : undefined;
  if (edits && edits.length > 0) {
    if (!document.isDirty) await requireRoom(fs, path, content);
    return { edit, uri: document.uri, by: 'document', document, edits, keepsUnsaved: document.isDirty };
  }
  // Not text, or saving would change nothing: another encoding, a mode, mixed line endings.
  return document.isDirty ? 'refused' : { edit, uri, by: 'disk' };
}

/**
 * Loads a document without an editor: text edits keep the inode, and language servers see them.
 * Undefined if it would not preserve the bytes.
 */
type Load = (uri: vscode.Uri, content: Buffer) => Promise<vscode.TextDocument | undefined>;

async function load(uri: vscode.Uri, content: Buffer): Promise<vscode.TextDocument | undefined> {
  if (content.length > MAX_LOADED_BYTES) return undefined;
  try {
    const document = await vscode.workspace.openTextDocument(uri);
    return (await bytesOf(document)).equals(content) ? document : undefined;
  } catch {
    return undefined; // not text
  }
}

/** Applies deletions last, so that a file whose replacement can't be created is not lost. */
async function applyEdit(steps: readonly Step[]): Promise<boolean> {
  const workspaceEdit = new vscode.WorkspaceEdit();
  for (const step of inWriteOrder(steps)) {
    if (step.by === 'document') workspaceEdit.set(step.uri, [...step.edits]);
    else if (step.by === 'create' && step.edit.content)
      workspaceEdit.createFile(step.uri, { contents: step.edit.content });
    else if (step.by === 'delete') workspaceEdit.deleteFile(step.uri, DELETE);
  }
  return workspaceEdit.size === 0 || vscode.workspace.applyEdit(workspaceEdit);
}

/** Orders writes before deletions, except where a write replaces a deleted file or folder. */
function inWriteOrder(steps: readonly Step[]): readonly Step[] {
  const deletedPaths = steps.flatMap(({ by, edit }) => (by === 'delete' ? [edit.path] : []));
  const rank = ({ by, edit: { path } }: Step): number => {
    if (by === 'delete') return 1;
    return deletedPaths.some((one) => isBelow(one, path) || isBelow(path, one)) ? 2 : 0;
  };
  return [...steps].sort((one, two) => rank(one) - rank(two));
}

/** Removes partially written new files after the disk was full. */
async function removePartialFiles(steps: readonly Step[]): Promise<void> {
  for (const { by, edit } of steps) {
    if (by !== 'create' || !edit.content) continue;
    const found = await readDiskFile(edit.path).catch(() => undefined);
    const length = found?.content.length ?? edit.content.length;
    if (length < edit.content.length && found?.content.equals(edit.content.subarray(0, length)))
      await deleteDiskFile(edit.path).catch(() => undefined);
  }
}

/** Saves documents that were clean: VS Code opens unsaved ones. @returns what could not be saved */
async function save(steps: readonly Step[]): Promise<ReadonlySet<Step>> {
  const failed = new Set<Step>();
  await Promise.all(
    steps.map(async (step) => {
      if (step.by === 'document' && !step.keepsUnsaved && !(await step.document.save())) failed.add(step);
    }),
  );
  return failed;
}

/**
 * Saves a document that VS Code refuses to save although it equals the disk. VS Code can combine
 * the mtime of one change with the text of the next, and then considers the file newer forever; an
 * older mtime helps.
 */
async function saveSame(document: vscode.TextDocument, path: string, content: Buffer): Promise<void> {
  if (!document.isDirty || !(await bytesOf(document)).equals(content)) return;
  await fs.utimes(path, 1, 1);
  if (await document.save()) return;
  const now = new Date();
  await fs.utimes(path, now, now);
}

async function readWorking(path: string, document: vscode.TextDocument | undefined): Promise<WorkingFile | undefined> {
  const onDisk = await readDiskFile(path);
  if (!document?.isDirty || onDisk?.mode === '120000') return onDisk && { ...onDisk, isDirty: false };
  return { content: await bytesOf(document), mode: onDisk?.mode ?? '100644', isDirty: true };
}

function equalFiles(
  found: { readonly content: Buffer; readonly mode: FileVersion['mode'] } | undefined,
  content: Buffer | undefined,
  mode: FileVersion['mode'] | undefined,
): boolean {
  if (!found || !content) return found === content;
  return found.content.equals(content) && (mode === undefined || found.mode === mode);
}
