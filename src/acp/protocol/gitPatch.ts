// Converts file changes of protocol v2 (a list of operations, usually with a git patch) into the
// panel's diffs.
import { parsePatch, type StructuredPatch } from 'diff';
import { at } from '../../base/untrusted';
import type { ChangeHunk, ToolContent } from '../../session/events/content';
import { pathOfFileAddress } from './fileAddress';

type DiffContent = Extract<ToolContent, { type: 'diff' }>;

interface Change {
  readonly operation: string;
  readonly path: string;
  readonly oldPath?: string;
}

/** Files of a diff and characters of a patch that are read. */
const MAX_FILES = 200;
const MAX_PATCH_CHARS = 4 * 1024 * 1024;

/** Section 3.4. One content per file; an unreadable patch is appended as text. */
export function readDiff(raw: unknown): ToolContent[] {
  const list = at(raw, 'changes');
  const changes = (Array.isArray(list) ? list.slice(0, MAX_FILES) : []).flatMap(readChange);
  const text = at(raw, 'patch', 'text');
  if (typeof text !== 'string') return changes.map((change) => toContent(change, undefined));
  const files = at(raw, 'patch', 'format') === 'git_patch' ? parse(text) : undefined;
  if (!files) return [...changes.map((change) => toContent(change, undefined)), asText(text)];
  const filesByName = new Map(files.map((file) => [nameOf(file), file]));
  const listed = changes.map((change) => {
    const name = [...filesByName.keys()].find((candidate) => matchesPath(candidate, change.path));
    const file = name === undefined ? undefined : filesByName.get(name);
    if (name !== undefined) filesByName.delete(name);
    return toContent(change, file);
  });
  return [
    ...listed,
    ...[...filesByName].map(([path, file]) => toContent({ path, operation: operationOf(file) }, file)),
  ];
}

function readChange(raw: unknown): Change[] {
  const path = at(raw, 'path');
  const oldPath = at(raw, 'oldPath');
  const operation = at(raw, 'operation');
  if (typeof path !== 'string' || path === '') return [];
  return [
    {
      path: pathOfFileAddress(path),
      operation: typeof operation === 'string' ? operation.slice(0, 100) : 'modify',
      oldPath: typeof oldPath === 'string' ? pathOfFileAddress(oldPath) : undefined,
    },
  ];
}

function parse(text: string): StructuredPatch[] | undefined {
  if (text.length > MAX_PATCH_CHARS) return undefined;
  try {
    const files = parsePatch(text).filter((file) => nameOf(file) !== '');
    return files.length > 0 ? files.slice(0, MAX_FILES) : undefined;
  } catch {
    return undefined;
  }
}

function nameOf({ oldFileName, newFileName }: StructuredPatch): string {
  const name = newFileName === undefined || newFileName === '/dev/null' ? oldFileName : newFileName;
  return name === undefined || name === '/dev/null' ? '' : name;
}

/** Git prefixes paths with `a/` and `b/` and omits the repository's folder. */
function matchesPath(name: string, path: string): boolean {
  const plain = name.replace(/^[ab]\//, '');
  return name === path || plain === path || path.endsWith(`/${plain}`) || `/${plain}` === path;
}

function operationOf(file: StructuredPatch): string {
  if (file.isCreate) return 'add';
  if (file.isDelete) return 'delete';
  if (file.isRename) return 'move';
  return file.isCopy ? 'copy' : 'modify';
}

function toContent({ path, oldPath, operation }: Change, file: StructuredPatch | undefined): DiffContent {
  const hunks = (file?.hunks ?? []).map(
    ({ oldStart, newStart, lines }): ChangeHunk => ({
      oldStart,
      newStart,
      lines: lines.filter((line) => !line.startsWith('\\')),
    }),
  );
  return {
    type: 'diff',
    path,
    oldText: operation !== 'add' ? sideOf(hunks, '-') : undefined,
    newText: sideOf(hunks, '+'),
    hunks,
    operation,
    oldPath,
  };
}

function sideOf(hunks: readonly ChangeHunk[], sign: '-' | '+'): string {
  return hunks
    .flatMap(({ lines }) => lines.filter((line) => line.startsWith(' ') || line.startsWith(sign)))
    .map((line) => `${line.slice(1)}\n`)
    .join('');
}

function asText(text: string): ToolContent {
  return { type: 'content', block: { type: 'text', text } };
}
