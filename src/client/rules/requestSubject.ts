// Reads what a permission request is about, as far as the request itself proves it.
//
// Everything in a request is the agent's claim. Title, description, name and text are free text and
// never read; the kind must fit the rest and decides nothing alone. What counts is what the user
// would be shown:
//
// - a command: the line in `rawInput.command`, or the one that the request names as its command
// - files: the paths of diffs and locations, and those in `rawInput`; a change is a diff, or the
//   whole text of the only file in `rawInput`
//
// Every path and field must belong to a call of this kind. Descriptions ("summary", "riskLevel")
// change nothing. An unknown field may change what the call does ("dangerouslyDisableSandbox",
// "env", "shell"), so the request has no subject and the user is asked. The same goes for a request
// without evidence, whatever was reported of the call before.
import { isAbsolute, relative, resolve, sep } from 'node:path';
import type { PermissionAsk } from '../../acp/protocol/dialect';
import { isWindowsFilePath } from '../../base/pathNames';
import { revealHidden } from '../../base/revealControls';
import { objectOf } from '../../base/untrusted';
import { fieldName } from './rawCommands';
import { arePlain, plainWords } from './runners';

const MAX_PATHS = 100;

export interface SessionPlace {
  readonly cwd: string;
  readonly roots: readonly string[];
}

export type RequestSubject =
  | { readonly kind: 'execute'; readonly words: readonly string[]; readonly cwd: string }
  /** Absolute and normalized; never empty. */
  | { readonly kind: 'edit' | 'read'; readonly paths: readonly string[] };

type Field =
  | 'path'
  | 'name'
  | 'folder'
  | 'text'
  | 'whole'
  | 'flag'
  | 'number'
  | 'command'
  | 'commands'
  | 'patch'
  | 'edits'
  | 'changes'
  | 'filediff'
  | 'off'
  | 'words';

type Fields = ReadonlyMap<string, Field>;

/** Descriptions of a call, which don't change what it does. */
const WORDS = fieldsOfNames('words', [
  ...['description', 'summary', 'explanation', 'reason', 'reasoning', 'justification', 'purpose', 'rationale'],
  ...['title', 'thought', 'variant', 'risk', 'riskLevel', 'riskReason', 'riskScore', 'task_progress'],
  ...['call_id', 'turn_id', 'tool_call_id', 'started_at_ms'],
]);
const PATHS = fieldsOfNames('path', ['file_path', 'path', 'abs_path', 'absolute_path', 'target_file']);

const FIELDS: Readonly<Record<RequestSubject['kind'], Fields>> = {
  execute: new Map([
    ...WORDS,
    ...fieldsOfNames('command', ['command', 'cmd', 'command_line', 'shell_command']),
    ...fieldsOfNames('commands', ['commands', 'cmds']),
    ...fieldsOfNames('number', ['timeout', 'timeout_ms', 'timeout_seconds']),
    ...fieldsOfNames('folder', ['cwd', 'workdir', 'working_directory']),
    ...fieldsOfNames('off', ['run_in_background', 'is_background']),
  ]),
  edit: new Map([
    ...WORDS,
    ...PATHS,
    ...fieldsOfNames('name', ['file_name']),
    ...fieldsOfNames('text', ['old_string', 'new_string', 'old_str', 'new_str', 'old_text', 'new_text']),
    ...fieldsOfNames('whole', ['content', 'file_text']),
    ...fieldsOfNames('flag', ['replace_all', 'overwrite']),
    ...fieldsOfNames('patch', ['diff']),
    ...fieldsOfNames('edits', ['edits']),
    ...fieldsOfNames('changes', ['changes']),
    ...fieldsOfNames('filediff', ['filediff']),
  ]),
  read: new Map([
    ...WORDS,
    ...PATHS,
    ...fieldsOfNames('name', ['file_name']),
    ...fieldsOfNames('number', ['offset', 'limit', 'line']),
  ]),
};

function fieldsOfNames(field: Field, names: readonly string[]): Fields {
  return new Map(names.map((name) => [fieldName(name), field]));
}

/** Undefined if the request doesn't prove it. */
export function subjectOf(asked: PermissionAsk, place: SessionPlace): RequestSubject | undefined {
  const kind = asked.patch?.kind;
  if (kind === 'execute') return commandOf(asked, place);
  return kind === 'edit' || kind === 'read' ? filesOf(asked, kind) : undefined;
}

function commandOf({ patch, command }: PermissionAsk, { cwd }: SessionPlace): RequestSubject | undefined {
  const input = fieldsOf(patch?.rawInput, FIELDS.execute);
  if (!input || patch?.content?.some(({ type }) => type !== 'content' && type !== 'terminal')) return undefined;
  const lines = [...(command ? [command.line] : []), ...input.commands];
  const folders = [...(command?.cwd === undefined ? [] : [command.cwd]), ...input.folders];
  const words = wordsOf(lines[0]);
  if (!words || lines.some((line) => !sameWords(words, wordsOf(line)))) return undefined;
  const [folder = cwd] = folders;
  if (!isPlainPath(folder) || folders.some((each) => each !== folder)) return undefined;
  return { kind: 'execute', words, cwd: folder };
}

function wordsOf(line: string | readonly string[] | undefined): readonly string[] | undefined {
  if (typeof line === 'string') return plainWords(line);
  return line && arePlain(line) ? line : undefined;
}

function sameWords(words: readonly string[], others: readonly string[] | undefined): boolean {
  return others?.length === words.length && words.every((word, index) => word === others[index]);
}

function filesOf({ patch, command }: PermissionAsk, kind: 'edit' | 'read'): RequestSubject | undefined {
  const input = fieldsOf(patch?.rawInput, FIELDS[kind]);
  if (!input || command) return undefined;
  const diffs: string[] = [];
  for (const part of patch?.content ?? []) {
    if (part.type === 'content') continue;
    if (part.type !== 'diff' || kind === 'read' || part.oldPath !== undefined) return undefined;
    if (part.operation !== undefined && part.operation !== 'add' && part.operation !== 'modify') return undefined;
    diffs.push(part.path);
  }
  const isText = input.changes.length > 0 && input.changes.every((field) => field === 'whole');
  const showsText = diffs.length === 0 && isText && new Set(input.paths).size === 1;
  const evidence = kind === 'read' || showsText ? input.paths : diffs;
  const paths = [...new Set([...diffs, ...input.paths, ...(patch?.locations ?? []).map(({ path }) => path)])];
  // Without a diff or the text, the user wouldn't see the change either.
  if (evidence.length === 0 || paths.length > MAX_PATHS || !paths.every(isPlainPath)) return undefined;
  if (!input.names.every((name) => paths.some((path) => path === name || path.endsWith(`${sep}${name}`))))
    return undefined;
  return input.patches.every((text) => staysWithin(text, diffs)) ? { kind, paths } : undefined;
}

interface InputFields {
  readonly commands: (string | readonly string[])[];
  readonly folders: string[];
  readonly paths: string[];
  readonly names: string[];
  readonly patches: string[];
  readonly changes: Field[];
}

/** `whole`: the text of a file, which the card shows. */
const CHANGES: ReadonlySet<Field> = new Set(['whole', 'text', 'patch', 'edits', 'changes', 'filediff']);

/** Undefined if any field is unknown. */
function fieldsOf(rawInput: unknown, knownFields: Fields): InputFields | undefined {
  const fields: InputFields = { commands: [], folders: [], paths: [], names: [], patches: [], changes: [] };
  const raw = objectOf(rawInput);
  if (raw === undefined || raw === null) return fields;
  if (!isRecord(raw)) return undefined;
  for (const [name, value] of Object.entries(raw)) {
    const field = knownFields.get(fieldName(name));
    if (field === undefined || !readField(fields, field, value)) return undefined;
    if (CHANGES.has(field)) fields.changes.push(field);
  }
  return fields;
}

/** @returns false for a value of the wrong kind */
function readField(fields: InputFields, field: Field, value: unknown): boolean {
  switch (field) {
    case 'words':
      return typeof value !== 'object' || value === null;
    case 'whole':
    case 'text':
      return typeof value === 'string';
    case 'flag':
      return typeof value === 'boolean';
    case 'off':
      return value === false;
    case 'number':
      return typeof value === 'number';
    case 'path':
      return typeof value === 'string' && fields.paths.push(value) > 0;
    case 'name':
      return typeof value === 'string' && fields.names.push(value) > 0;
    case 'folder':
      return typeof value === 'string' && fields.folders.push(value) > 0;
    case 'patch':
      return typeof value === 'string' && fields.patches.push(value) > 0;
    case 'command':
      return isCommand(value) && fields.commands.push(value) > 0;
    case 'commands':
      return Array.isArray(value) && value.every((item) => typeof item === 'string' && fields.commands.push(item));
    case 'filediff':
      return isRecord(value) && Object.entries(value).every((entry) => readFileDiff(fields, entry));
    case 'edits':
      return Array.isArray(value) && value.every((item) => isEdit(item));
    case 'changes':
      return isRecord(value) && Object.entries(value).every(([path, one]) => isChange(one) && fields.paths.push(path));
  }
}

function readFileDiff({ paths }: InputFields, [name, value]: readonly [string, unknown]): boolean {
  if (name === 'file') return typeof value === 'string' && paths.push(value) > 0;
  if (name === 'additions' || name === 'deletions') return typeof value === 'number';
  return (name === 'before' || name === 'after') && typeof value === 'string';
}

function isCommand(value: unknown): value is string | readonly string[] {
  return typeof value === 'string' || (Array.isArray(value) && value.every((word) => typeof word === 'string'));
}

const EDIT_FIELDS = new Set(['oldstring', 'newstring', 'oldstr', 'newstr', 'oldtext', 'newtext', 'replaceall']);

function isEdit(value: unknown): boolean {
  return isRecord(value) && Object.keys(value).every((key) => EDIT_FIELDS.has(fieldName(key)));
}

/** Codex's form. */
function isChange(value: unknown): boolean {
  if (!isRecord(value) || (value.type !== 'add' && value.type !== 'update')) return false;
  const { type: _type, content: _content, unified_diff: _diff, move_path: moved, ...others } = value;
  return (moved === undefined || moved === null) && Object.keys(others).length === 0;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Lines that look like a file name count. */
function staysWithin(patch: string, paths: readonly string[]): boolean {
  return [...patch.matchAll(/^(?:Index: |\+\+\+ |--- |\*\*\* |diff |rename |copy )(.*)$/gm)].every(
    ([line, name = '']) => {
      if (/^(?:diff|rename|copy|\*\*\*) /.test(line)) return false;
      const named = name.replace(/\t.*$/, '').trim();
      return named === '/dev/null' || paths.includes(named);
    },
  );
}

export function isPlainPath(path: string): boolean {
  if (!isAbsolute(path) || /[\n\t]/.test(path) || revealHidden(path) !== path || resolve(path) !== path) return false;
  return process.platform !== 'win32' || isWindowsFilePath(path);
}

/** With slashes; undefined outside the folder, and for itself. */
export function within(folder: string, path: string): string | undefined {
  const relativePath = relative(folder, path);
  if (relativePath === '' || relativePath === '..' || relativePath.startsWith(`..${sep}`) || isAbsolute(relativePath))
    return undefined;
  return relativePath.split(sep).join('/');
}
