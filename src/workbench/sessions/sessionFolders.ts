// The folders of a session: those of the workspace, or an empty one.

import { isAbsolute } from 'node:path';
import { workspace } from 'vscode';
import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import { ensureScratch } from '../editor/scratchFolder';

export interface SessionFolders {
  readonly cwd: string;
  readonly roots: readonly string[];
}

/**
 * @param cwd absolute @param scratch if the window has no folder @throws ParleyError `bad-folder`
 */
export function sessionFolders(cwd: string | undefined, scratch: string): SessionFolders {
  const folders = (workspace.workspaceFolders ?? [])
    .filter(({ uri }) => uri.scheme === 'file')
    .map(({ uri }) => uri.fsPath);
  if (cwd !== undefined) {
    if (!isAbsolute(cwd))
      throw new ParleyError('bad-folder', localizable('The folder of a session must be an absolute path: {0}', cwd));
    return { cwd, roots: [cwd, ...folders.filter((folder) => folder !== cwd)] };
  }
  const [first] = folders;
  if (first !== undefined) return { cwd: first, roots: folders };
  const made = ensureScratch(scratch);
  return { cwd: made, roots: [made] };
}
