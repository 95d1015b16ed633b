// Virtual documents: versions, worktree files, editable proposals.
import * as vscode from 'vscode';
import type { Disposable } from '../../base/disposable';
import { decodeFile } from './fileEncoding';

/** Number of bytes to search for a NUL, which marks binary files. */
const BYTES_SEEN = 8_000;

/** A read-only file system provider without folders; VS Code detects encodings and shows images. */
export abstract class DocumentFiles implements vscode.FileSystemProvider, Disposable {
  readonly #scheme: string;
  protected readonly didChange = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  readonly onDidChangeFile = this.didChange.event;

  protected constructor(scheme: string) {
    this.#scheme = scheme;
  }

  register(isReadonly = true): vscode.Disposable {
    return vscode.workspace.registerFileSystemProvider(this.#scheme, this, { isReadonly, isCaseSensitive: true });
  }

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

  writeFile(uri: vscode.Uri, _content?: Uint8Array): void | Promise<void> {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  delete(uri: vscode.Uri): never {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  rename(uri: vscode.Uri): never {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  dispose(): void {
    this.didChange.dispose();
  }
}

export function documentStat(size: number, mtime = 0): vscode.FileStat {
  return { type: vscode.FileType.File, ctime: 0, mtime, size };
}

/** Returns a text with a byte order mark, which overrides encoding settings. */
export async function asUtf8(path: string, content: Buffer): Promise<Uint8Array> {
  const head = content.subarray(0, BYTES_SEEN);
  if (head.every((byte) => byte > 0 && byte < 0x80) && content.length <= BYTES_SEEN) return content;
  if (head.includes(0) && content[0] !== 0xff && content[0] !== 0xfe) return content;
  const text = await decodeFile(vscode.Uri.file(path), content).catch(() => undefined);
  return text === undefined ? content : Buffer.from(`\ufeff${text}`);
}
