// Files that start programs, or name the ones to start: an editor, git or an agent reads them
// without asking, so write access to them is permission to run anything. package.json, makefiles
// and scripts are not among them: they are sources, and run only on request.
import { join, relative } from 'node:path';
import { plainParts } from '../../base/plainParts';
import { isBelow, isInsideRoots } from './roots';

/** Folders in which every file counts. `.git` may also be a file, which names another folder. */
const FOLDERS = ['.git', '.vscode', '.idea', '.devcontainer', '.husky', '.githooks'];

/** Folders of editors and agents, whose configuration counts and whose notes do not. */
const CONFIGURED = ['.claude', '.codex', '.cursor', '.gemini', '.opencode', '.zed'];

const CONFIGURATION = /\.(?:jsonc?|toml|ya?ml)$/;
const FILES =
  /^(?:mcp\.json|\.mcp\.json|\.devcontainer\.json|\.envrc|\.gitconfig|\.npmrc|\.yarnrc(?:\.ya?ml)?|.*\.code-workspace)$/;

/** What is looked up through links: it may be a link to a file that is called otherwise. */
const LINKED = [
  ...FOLDERS,
  '.git/hooks',
  '.git/config',
  '.vscode/settings.json',
  '.vscode/tasks.json',
  '.vscode/launch.json',
  '.vscode/mcp.json',
  '.mcp.json',
  '.claude/settings.json',
];

/**
 * Returns whether writing a file changes what programs start.
 * @param path absolute and normal, as it was asked for: a link may be called `.vscode` and lead
 * elsewhere
 * @param target where the path leads, as `realTarget` gives it
 * @param roots the session's folders: what is protected there may be a link to `target`
 */
export async function isProtected(path: string, target: string, roots: readonly string[]): Promise<boolean> {
  // A project may lie below the folder of an agent, as its worktrees do.
  const names = [path, target].map((one) => relativeTo(one, roots));
  if (isProtectedFolder(path) || isProtectedFolder(target) || names.some(isProtectedFile)) return true;
  return isInsideRoots(
    target,
    roots.flatMap((root) => LINKED.map((name) => join(root, name))),
  );
}

function isProtectedFolder(path: string): boolean {
  return plainParts(path).some((part) => FOLDERS.includes(part) || /^git~\d+$/.test(part));
}

function isProtectedFile(path: string): boolean {
  const parts = plainParts(path);
  const file = parts.at(-1) ?? '';
  return FILES.test(file) || (CONFIGURATION.test(file) && parts.some((part) => CONFIGURED.includes(part)));
}

function relativeTo(path: string, roots: readonly string[]): string {
  const root = roots.find((one) => isBelow(one, path));
  return root === undefined ? path : relative(root, path);
}
