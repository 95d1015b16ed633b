// Documents that are only read, for comparisons.
import * as vscode from 'vscode';
import type { Disposable } from '../../../base/disposable';
import { decodeFile } from '../../editor/fileEncoding';

/** Bytes to search for a byte 0, which no text has. */
const BYTES_SEEN = 8_000;

/**
 * A file system without folders: VS Code finds the encoding, shows images as such, and lets nothing
 * be written.
 */
export abstract class ReadonlyDocuments implements vscode.FileSystemProvider, Disposable {
  readonly #scheme: string;
  readonly #never = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  readonly onDidChangeFile = this.#never.event;

  protected constructor(scheme: string) {
    this.#scheme = scheme;
  }

  register(): vscode.Disposable {
    const options = { isReadonly: true, isCaseSensitive: true };
    return vscode.workspace.registerFileSystemProvider(this.#scheme, this, options);
  }

  /** @throws FileSystemError where there is no such document */
  abstract stat(uri: vscode.Uri): vscode.FileStat | Promise<vscode.FileStat>;

  abstract readFile(uri: vscode.Uri): Promise<Uint8Array>;

  watch(): vscode.Disposable {
    return new vscode.Disposable(() => {});
  }

  readDirectory(uri: vscode.Uri): never {
    throw vscode.FileSystemError.FileNotADirectory(uri);
  }

  createDirectory(uri: vscode.Uri): never {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  writeFile(uri: vscode.Uri): never {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  delete(uri: vscode.Uri): never {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  rename(uri: vscode.Uri): never {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  dispose(): void {
    this.#never.dispose();
  }
}

/**
 * Returns a text in UTF-8 with a byte order mark, which VS Code always believes: settings of
 * encodings are for folders, and these addresses are in none.
 * @param path of the file, absolute
 */
export async function asUtf8(path: string, content: Buffer): Promise<Uint8Array> {
  const head = content.subarray(0, BYTES_SEEN);
  if (head.every((byte) => byte > 0 && byte < 0x80) && content.length <= BYTES_SEEN) return content;
  if (head.includes(0) && content[0] !== 0xff && content[0] !== 0xfe) return content;
  const text = await decodeFile(vscode.Uri.file(path), content).catch(() => undefined);
  return text === undefined ? content : Buffer.from(`\ufeff${text}`);
}
