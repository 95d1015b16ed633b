// Reads versions of changed files from the stores of the sessions of this window.
import { FileSystemError } from 'vscode';
import type { Conversations } from '../../sessions/conversations';
import type { VersionRef } from './versionDocuments';

/**
 * @throws FileSystemError if the session is not open here; ParleyError `state-gone`,
 * `version-not-kept`
 */
export async function readVersion(
  conversations: Pick<Conversations, 'find'>,
  { session, root, version }: VersionRef,
): Promise<Buffer> {
  const states = await conversations.find(session)?.changes.states();
  if (!states?.roots.includes(root)) throw FileSystemError.FileNotFound();
  return states.read(root, version);
}
