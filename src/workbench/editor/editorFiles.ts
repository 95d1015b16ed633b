// File access for agents: unsaved documents before the disk; writes preserve all other bytes.

import * as fs from 'node:fs/promises';
import * as vscode from 'vscode';
import { Configured } from '../../base/disposable';
import { messageOf, ParleyError } from '../../base/errors';
import { KeyedQueue } from '../../base/keyedQueue';
import type { Log } from '../../base/log';
import { type FileOnDisk, fileMode, requireRoom, writeOnDisk } from '../../changes/restore/disk';
import type { FilePort, GivenText } from '../../client/ports/ports';
import { givenText, mergeWritten } from '../../client/requests/givenTexts';
import { keepLineEnds, plainEnds } from '../../client/requests/lineEnds';
import { realTarget } from '../../client/requests/roots';
import { smallestChange } from '../../client/requests/textEdit';
import { type DecodedFile, decodeFile, encodeLike, encodeNew } from './fileEncoding';
import { openDocument, pathKey, unsavedInOtherEditors } from './openDocuments';

const MAX_BYTES = 50 * 1024 * 1024;
const ATTEMPTS = 3;

interface EditorFilesOptions {
  readonly log: Log;
}

interface ReadFile extends DecodedFile {
  readonly onDisk: FileOnDisk;
  readonly stamp: string;
}

/** Shared by all agents, so that writes to a file are serialized. */
export class EditorFiles extends Configured<EditorFilesOptions> implements FilePort {
  /** By requested path, which keeps requests in order. */
  readonly #queue = new KeyedQueue<string>();
  /** By path with links resolved. */
  readonly #writes = new KeyedQueue<string>();

  /**
   * Reads an unsaved document, otherwise the disk, which may be newer than a clean document.
   * @throws ParleyError `file-not-found`, `file-too-large`, `file-not-text`, `file-unreadable`,
   * `workspace-untrusted`
   */
  async readText(path: string, maxBytes = MAX_BYTES): Promise<string> {
    requireTrust();
    return this.#queue.run(pathKey(path), async () => {
      const document = await openDocument(path);
      if (document?.isDirty) return document.getText();
      const before = await readFile(path, document?.encoding, maxBytes);
      if (!before) throw new ParleyError('file-not-found', `There is no file ${path}.`);
      return before.text;
    });
  }

  /**
   * Replaces the text of a file. A dirty document is edited and saved; a clean one reloads from
   * disk.
   * @throws ParleyError `file-changed`, `file-read-only`, `file-not-saved`, `file-encoding`,
   * `file-too-large`, `file-not-text`, `file-unreadable`, `file-unwritable`, `workspace-untrusted`
   */
  async writeText(path: string, text: string, given?: GivenText): Promise<void> {
    requireTrust();
    if (Buffer.byteLength(text) > MAX_BYTES) throw tooLarge(path, Buffer.byteLength(text), MAX_BYTES);
    return this.#queue.run(pathKey(path), async () => {
      const target = await realTarget(path).catch((error: unknown) => {
        throw unwritable(path, error);
      });
      return this.#writes.run(pathKey(target), () => this.#write(target, text, given));
    });
  }

  async #write(path: string, text: string, given: GivenText | undefined): Promise<void> {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      if (unsavedInOtherEditors().has(pathKey(path))) {
        throw new ParleyError(
          'file-not-saved',
          `${path} has unsaved changes in an editor that is not a text editor. Save it first.`,
        );
      }
      const document = await openDocument(path);
      const before = await readFile(path, document?.encoding);
      if (before && (before.onDisk.bits & 0o222) === 0)
        // Root and network disks would write anyway.
        throw new ParleyError('file-read-only', `${path} is read-only.`);
      const isDone = document?.isDirty
        ? await this.#writeDocument(document, path, before, text, given)
        : await this.#writeDisk(document, path, before, text, given);
      if (isDone) return;
    }
    throw new ParleyError('file-unwritable', `${path} changes while it is written. Try again.`);
  }

  async #writeDisk(
    document: vscode.TextDocument | undefined,
    path: string,
    before: ReadFile | undefined,
    text: string,
    given: GivenText | undefined,
  ): Promise<boolean> {
    const bytes = await bytesWith(path, before, before?.text, document, text, given);
    if (document?.isDirty || (await stampOf(path)) !== before?.stamp) return false;
    await writeBytes(path, before, bytes);
    return true;
  }

  /** @returns false if the user types at the same time */
  async #writeDocument(
    document: vscode.TextDocument,
    path: string,
    before: ReadFile | undefined,
    text: string,
    given: GivenText | undefined,
  ): Promise<boolean> {
    const { version } = document;
    const present = document.getText();
    const bytes = await bytesWith(path, before, present, document, text, given ?? givenText(before?.text ?? ''));
    const after = normalizedFor(document, await decodeFile(document.uri, bytes, document.encoding));
    await requireRoom(fs, path, Buffer.from(bytes)).catch((error: unknown) => {
      throw unwritable(path, error);
    });
    if (document.version !== version) return false;
    const change = smallestChange(present, after);
    if (change) {
      const edit = new vscode.WorkspaceEdit();
      const range = new vscode.Range(document.positionAt(change.start), document.positionAt(change.end));
      edit.replace(document.uri, range, change.text);
      // Also false if the user typed in between.
      if (!(await vscode.workspace.applyEdit(edit))) return false;
    }
    if (document.isDirty && !(await document.save()) && document.isDirty) {
      this.options.log.warn(`${path} was changed in its editor but not saved`);
      const sentence = `${path} was changed in its editor but could not be saved; it may have changed on disk or be read-only.`;
      throw new ParleyError('file-not-saved', sentence);
    }
    // Saving may change more than the edit: formatters, final newline, line endings.
    const saved = await readFile(path, document.encoding);
    if (!document.isDirty && saved && Buffer.compare(saved.bytes, bytes) !== 0) await writeBytes(path, saved, bytes);
    return true;
  }
}

/** Returns a file's bytes after a write, preserving unchanged lines. */
async function bytesWith(
  path: string,
  before: DecodedFile | undefined,
  present: string | undefined,
  document: vscode.TextDocument | undefined,
  text: string,
  given: GivenText | undefined,
): Promise<Uint8Array> {
  const uri = vscode.Uri.file(path);
  if (present === undefined) return encodeNew(uri, text);
  const merged = await mergeWritten(text, present, given);
  if (merged === undefined)
    throw new ParleyError('file-changed', `${path} has changed since you read it. Read it again, then write it.`);
  // Unless texts were merged, the writer's line endings apply.
  const agentText = text.startsWith('\ufeff') ? text.slice(1) : text;
  const old = before?.text ?? present;
  const after = keepLineEnds(old, merged === plainEnds(agentText) ? agentText : merged);
  if (after === old && after !== agentText && plainEnds(agentText) === plainEnds(present))
    throw new ParleyError(
      'line-ends-kept',
      `${path} was not written: only its line ends would change, and a write keeps them. Use a command to convert them.`,
    );
  return encodeLike(uri, before ?? { bytes: new Uint8Array(), text: '' }, after, document?.encoding);
}

function requireTrust(): void {
  if (vscode.workspace.isTrusted) return;
  throw new ParleyError('workspace-untrusted', 'Agents do not touch files in a workspace that is not trusted.');
}

async function readFile(
  path: string,
  encoding: string | undefined,
  maxBytes = MAX_BYTES,
): Promise<ReadFile | undefined> {
  let onDisk: FileOnDisk;
  let stamp: string;
  try {
    const found = await fs.stat(path, { bigint: true });
    if (found.isDirectory()) throw new ParleyError('file-unreadable', `${path} is a folder.`);
    if (!found.isFile()) throw new ParleyError('file-unreadable', `${path} is not a regular file.`);
    if (found.size > maxBytes) throw tooLarge(path, Number(found.size), maxBytes);
    const bits = Number(found.mode) & 0o777;
    onDisk = { content: await fs.readFile(path), mode: fileMode(bits), bits };
    stamp = stampIn(found);
  } catch (error) {
    if (error instanceof ParleyError) throw error;
    if (codeOf(error) === 'ENOENT') return undefined;
    throw new ParleyError('file-unreadable', `${path} could not be read: ${reasonOf(error)}.`, { cause: error });
  }
  const text = await decodeFile(vscode.Uri.file(path), onDisk.content, encoding);
  return { bytes: onDisk.content, text, onDisk, stamp };
}

async function writeBytes(path: string, before: ReadFile | undefined, bytes: Uint8Array): Promise<void> {
  const mode = before?.onDisk.mode ?? '100644';
  await writeOnDisk(fs, path, Buffer.from(bytes), mode, before?.onDisk).catch((error: unknown) => {
    throw unwritable(path, error);
  });
}

async function stampOf(path: string): Promise<string | undefined> {
  const found = await fs.stat(path, { bigint: true }).catch(() => undefined);
  return found && stampIn(found);
}

function stampIn({ ino, size, mtimeNs, ctimeNs }: Record<'ino' | 'size' | 'mtimeNs' | 'ctimeNs', bigint>): string {
  return [ino, size, mtimeNs, ctimeNs].join(' ');
}

function normalizedFor({ eol }: vscode.TextDocument, text: string): string {
  const plain = text.replace(/\r\n?/g, '\n');
  return eol === vscode.EndOfLine.CRLF ? plain.replaceAll('\n', '\r\n') : plain;
}

function tooLarge(path: string, bytes: number, maxBytes: number): ParleyError {
  const [size, limit] = [bytes, maxBytes].map((count) => Math.round(count / 1024 / 1024));
  return new ParleyError('file-too-large', `${path} is too large: ${size} MB, and the limit is ${limit} MB.`);
}

function unwritable(path: string, error: unknown): ParleyError {
  return new ParleyError('file-unwritable', `${path} could not be written: ${reasonOf(error)}.`, { cause: error });
}

function reasonOf(error: unknown): string {
  const reasons = new Map<unknown, string>([
    ['EACCES', 'permission denied'],
    ['EPERM', 'permission denied'],
    ['EROFS', 'its disk is read-only'],
    ['EISDIR', 'it is a folder'],
    ['ELOOP', 'its links go in a circle'],
    ['ENOTDIR', 'its path leads through a file'],
    ['ENOSPC', 'the disk is full'],
    ['EDQUOT', 'the disk is full'],
  ]);
  return reasons.get(codeOf(error)) ?? messageOf(error);
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
