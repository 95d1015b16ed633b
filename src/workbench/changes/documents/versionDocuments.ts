// Versions of changed files as read-only documents, for the left side of comparisons and the gutter.
import * as vscode from 'vscode';
import * as z from 'zod/mini';
import type { FileVersion } from '../../../changes/model/fileChange';
import { asUtf8, ReadonlyDocuments } from './readonlyDocuments';

export const VERSION_SCHEME = 'parley-version';

/** Which content an address names. */
export interface VersionRef {
  /** Our key of the session whose store has it. */
  readonly session: string;
  /** Absolute path of the folder of the file. */
  readonly root: string;
  readonly version: FileVersion;
}

/**
 * Reads a version.
 * @throws ParleyError where the session or the version is gone
 */
export type ReadVersion = (ref: VersionRef) => Promise<Buffer>;

/** Versions by their addresses. */
export class VersionDocuments extends ReadonlyDocuments {
  readonly #read: ReadVersion;

  constructor(read: ReadVersion) {
    super(VERSION_SCHEME);
    this.#read = read;
  }

  stat(uri: vscode.Uri): vscode.FileStat {
    if (uri.query === '') return { type: vscode.FileType.File, ctime: 0, mtime: 0, size: 0 };
    return { type: vscode.FileType.File, ctime: 0, mtime: 0, size: known(uri).version.size };
  }

  async readFile(uri: vscode.Uri): Promise<Uint8Array> {
    if (uri.query === '') return new Uint8Array();
    return asUtf8(uri.path, await this.#read(known(uri)));
  }
}

/** Returns the address that stands for a file that is not there: it is empty. */
export function absentUri(path: string): vscode.Uri {
  return vscode.Uri.file(path).with({ scheme: VERSION_SCHEME });
}

/**
 * Returns the address of a version, the same for the same one. It says all that is needed to read
 * the version again after the window was reloaded.
 * @param path of the file, absolute: it names the document, and tells its language
 */
export function versionUri(path: string, { session, root, version }: VersionRef): vscode.Uri {
  const { oid, mode, size } = version;
  const query = new URLSearchParams({ session, root, oid, mode, size: String(size) }).toString();
  return vscode.Uri.file(path).with({ scheme: VERSION_SCHEME, query });
}

/** Returns what an address names; undefined where it is none of ours. */
export function versionOf(uri: vscode.Uri): VersionRef | undefined {
  if (uri.scheme !== VERSION_SCHEME) return undefined;
  const query = new URLSearchParams(uri.query);
  const found = refSchema.safeParse(Object.fromEntries(query));
  if (!found.success) return undefined;
  const { session, root, oid, mode, size } = found.data;
  return { session, root, version: { oid, mode, size: Number(size) } };
}

const refSchema = z.object({
  session: z.string(),
  root: z.string(),
  oid: z.string().check(z.regex(/^[0-9a-f]{40,64}$/)),
  mode: z.enum(['100644', '100755', '120000']),
  size: z.string().check(z.regex(/^\d{1,15}$/)),
});

function known(uri: vscode.Uri): VersionRef {
  const ref = versionOf(uri);
  if (!ref) throw vscode.FileSystemError.FileNotFound(uri);
  return ref;
}
