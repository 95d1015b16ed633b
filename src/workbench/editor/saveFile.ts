// Writes files that the user saves, exports or configures, atomically.
import * as fs from 'node:fs/promises';
import { FileSystemError, type Uri, workspace } from 'vscode';
import { readOnDisk, writeOnDisk } from '../../changes/restore/disk';
import { realTarget } from '../../client/requests/roots';

/** Replaces a file, following links. On a full disk the old content stays. */
export async function saveFile(target: Uri, bytes: Uint8Array): Promise<void> {
  const path = target.scheme === 'file' ? await realTarget(target.fsPath) : undefined;
  const old = path === undefined ? 'other' : await readOnDisk(fs, path);
  if (old === 'folder') throw FileSystemError.FileIsADirectory(target);
  // A device, or a location that only VS Code can access.
  if (path === undefined || old === 'other') await workspace.fs.writeFile(target, bytes);
  else await writeOnDisk(fs, path, Buffer.from(bytes), old?.mode ?? '100644', old);
}
