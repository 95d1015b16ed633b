// Versions of changed files as read-only documents, for comparisons and the gutter.
import * as vscode from 'vscode';
import { FileSystemError } from 'vscode';
import * as z from 'zod/mini';
import type { FileVersion } from '../../../changes/model/fileChange';
import { asUtf8, DocumentFiles, documentStat } from '../../editor/documentFiles';
import type { Conversations } from '../../sessions/conversations';

export const VERSION_SCHEME = 'parley-version';

export interface VersionRef {
  readonly session: string;
  readonly root: string;
  readonly version: FileVersion;
}

export type ReadVersion = (ref: VersionRef) => Promise<Buffer>;

export class VersionDocuments extends DocumentFiles {
  readonly #read: ReadVersion;

  constructor(read: ReadVersion) {
    super(VERSION_SCHEME);
    this.#read = read;
  }

  stat(uri: vscode.Uri): vscode.FileStat {
    return documentStat(uri.query === '' ? 0 : versionRefOf(uri).version.size);
  }

  async readFile(uri: vscode.Uri): Promise<Uint8Array> {
    if (uri.query === '') return new Uint8Array();
    return asUtf8(uri.path, await this.#read(versionRefOf(uri)));
  }
}

export function absentUri(path: string): vscode.Uri {
  return vscode.Uri.file(path).with({ scheme: VERSION_SCHEME });
}

/** Returns a URI that stays valid after a reload. @param path determines name and language */
export function versionUri(path: string, { session, root, version }: VersionRef): vscode.Uri {
  const { oid, mode, size } = version;
  const query = new URLSearchParams({ session, root, oid, mode, size: String(size) }).toString();
  return vscode.Uri.file(path).with({ scheme: VERSION_SCHEME, query });
}

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

function versionRefOf(uri: vscode.Uri): VersionRef {
  const ref = versionOf(uri);
  if (!ref) throw vscode.FileSystemError.FileNotFound(uri);
  return ref;
}

/**
 * @throws FileSystemError if the session is closed; ParleyError `state-gone`, `version-not-kept`
 */
export async function readVersion(
  conversations: Pick<Conversations, 'find'>,
  { session, root, version }: VersionRef,
): Promise<Buffer> {
  const states = await conversations.find(session)?.changes.states();
  if (!states?.roots.includes(root)) throw FileSystemError.FileNotFound();
  return states.read(root, version);
}
