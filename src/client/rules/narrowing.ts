// Finds which rules that ask or reject concern a request. They need no proof: everything that a
// request names counts, and what can't be looked up or read matches every rule that could be about
// it.
import { basename, dirname, join, resolve } from 'node:path';
import type { PermissionAsk } from '../../acp/protocol/dialect';
import { pathOfFileAddress } from '../../acp/protocol/fileAddress';
import { plainParts } from '../../base/pathNames';
import { objectOf } from '../../base/untrusted';
import { matchesPath, matchesText } from '../requests/glob';
import { isForeignShare, realTarget } from '../requests/roots';
import { CouldRun } from './couldRun';
import type { PermissionRule } from './permissionRule';
import { rawCommandsIn } from './rawCommands';
import { type SessionPlace, within } from './requestSubject';

const COMMAND_FIELD = /command|cmd|script|argv|^args$/i;
const PATH_FIELD =
  /^(?!.*(?:text|content|string|diff|patch|type)).*(?:path|file|uri|dir|cwd|folder|source|target|destination)/i;
const MAX_PATH = 4096;
const MAX_FIELDS = 2000;
const MAX_FIELD_DEPTH = 4;

export interface NamedInRequest {
  readonly kinds: readonly string[];
  readonly isOfAnyKind: boolean;
  readonly commands: CouldRun;
  /** Absolute; as written, and with links resolved. */
  readonly paths: readonly string[];
  /** A path couldn't be looked up, so it may lead anywhere. */
  readonly isUnsure: boolean;
}

export async function namedBy(asked: PermissionAsk, { cwd, roots }: SessionPlace): Promise<NamedInRequest> {
  const { patch, command } = asked;
  const input = new Input(patch?.rawInput);
  const diffs = (patch?.content ?? []).flatMap((part) => (part.type === 'diff' ? [part] : []));
  const inputLines = rawCommandsIn(patch?.rawInput).commands.map(({ line }) => line);
  const commandLines = [...(command ? [command.line] : []), ...input.commands, ...inputLines];
  const isCommand = commandLines.length > 0 || patch?.kind === 'execute';
  // A call without a command has only its title.
  const lines =
    commandLines.length > 0 || !isCommand ? commandLines : [asked.title, ...(patch?.title ? [patch.title] : [])];
  const written = [
    ...diffs.flatMap(({ path, oldPath }) => (oldPath === undefined ? [path] : [path, oldPath])),
    ...(patch?.locations ?? []).map(({ path }) => path),
    ...(command?.cwd === undefined ? [] : [command.cwd]),
    ...input.paths,
  ];
  const kinds = [patch?.kind ?? 'other', ...(isCommand ? ['execute'] : []), ...(diffs.length > 0 ? ['edit'] : [])];
  const isOfAnyKind = patch?.kind === undefined || patch.kind === 'other';
  return { kinds, isOfAnyKind, commands: new CouldRun(lines), ...(await pathsOfWritten(written, cwd, roots)) };
}

export async function namesFileOf(
  { kind, pattern = '', folder, action }: PermissionRule,
  { words, cwd }: { readonly words: readonly string[]; readonly cwd: string },
  place: SessionPlace,
): Promise<boolean> {
  if (action !== 'reject' || !KINDS_OF_FILES.test(kind) || !/[^*/]/.test(pattern)) return false;
  const parts = words.slice(1).flatMap((word) => [word, ...word.split(/[=:]/)]);
  const written = parts.filter((part) => /[./]/.test(part)).flatMap((part) => [part, join(part, '_')]);
  const named = { kinds: [], isOfAnyKind: true, commands: new CouldRun([]) };
  const places = await pathsOfWritten(written, cwd, place.roots);
  return touches({ kind: '*', pattern, action, folder: folder || undefined }, { ...named, ...places }, place);
}

const KINDS_OF_FILES = /^(?:\*|read|edit|delete|move)$/;

async function pathsOfWritten(
  names: readonly string[],
  cwd: string,
  roots: readonly string[],
): Promise<Pick<NamedInRequest, 'paths' | 'isUnsure'>> {
  const written = new Set(names.flatMap((path) => absolute(path, cwd)));
  const paths = new Set(written);
  let isUnsure = false;
  for (const path of written) {
    if (isForeignShare(path, roots)) continue; // even a lookup there signs the user in
    const real = await realTarget(path).catch((error: NodeJS.ErrnoException) => {
      isUnsure ||= error.code !== 'ENAMETOOLONG'; // no file has such a name
    });
    if (real !== undefined) paths.add(real);
  }
  return { paths: [...paths], isUnsure };
}

export async function touches(
  { kind, pattern, folder }: PermissionRule,
  { kinds, isOfAnyKind, commands, paths, isUnsure }: NamedInRequest,
  { cwd, roots }: SessionPlace,
): Promise<boolean> {
  if (kind !== '*' && !kinds.includes(kind) && !(isOfAnyKind && pattern !== undefined)) return false;
  if (folder !== undefined && ![cwd, ...roots].some((root) => resolve(root) === resolve(folder))) return false;
  if (pattern === undefined || commands.matches(pattern)) return true;
  if (paths.length === 0) return false;
  if (isUnsure) return true;
  const bases = folder === undefined ? [cwd, ...roots] : [folder];
  const globs = await globsOf(pattern, bases);
  return paths.some((path) => {
    const ways = globs.map(({ base, glob }) => ({ way: base === undefined ? path : within(base, path), glob }));
    return ways.some(({ way, glob }) => way !== undefined && fitsPath(glob, way));
  });
}

interface PlacedGlob {
  /** Undefined if the glob matches whole paths. */
  readonly base: string | undefined;
  readonly glob: string;
}

async function globsOf(pattern: string, bases: readonly string[]): Promise<readonly PlacedGlob[]> {
  const parts = pattern.split('/');
  const star = parts.findIndex((part) => part.includes('*'));
  // Folders before the first star; the last part is a file.
  const named = parts.slice(0, star < 0 ? -1 : star).join('/');
  const rest = parts.slice(star < 0 ? -1 : star).join('/');
  const found: PlacedGlob[] = [{ base: undefined, glob: pattern }];
  for (const base of new Set(bases)) {
    found.push({ base, glob: pattern });
    const real = await realTarget(resolve(base, named)).catch(() => undefined);
    if (real === undefined) continue;
    found.push({ base: real, glob: rest });
    const file = star < 0 ? await realTarget(join(real, rest)).catch(() => undefined) : undefined;
    if (file !== undefined) found.push({ base: dirname(file), glob: basename(file) });
  }
  return found;
}

/** Ignores case, like the least exact file system. */
function fitsPath(glob: string, path: string): boolean {
  const [plainGlob, plainPath] = [glob, path].map((each) => plainParts(each).join('/')) as [string, string];
  return [
    [glob, path],
    [plainGlob, plainPath],
  ].some(([one = '', other = '']) => matchesPath(one, other) || matchesText(one, other));
}

function absolute(path: string, cwd: string): readonly string[] {
  if (path === '' || path.length > MAX_PATH || /[\0\n]/.test(path)) return [];
  return [resolve(cwd, pathOfFileAddress(path))];
}

class Input {
  readonly commands: (string | readonly string[])[] = [];
  readonly paths: string[] = [];
  #fieldsLeft = MAX_FIELDS;

  constructor(raw: unknown) {
    this.#read(objectOf(raw), '', 0);
  }

  #read(value: unknown, name: string, depth: number): void {
    if (this.#fieldsLeft-- <= 0 || depth > MAX_FIELD_DEPTH) return;
    if (typeof value === 'string') {
      if (COMMAND_FIELD.test(name)) this.commands.push(value);
      if (PATH_FIELD.test(name)) this.paths.push(value);
      this.paths.push(...pathsOfPatch(value));
      const inner = objectOf(value);
      if (inner !== value) this.#read(inner, name, depth + 1);
    } else if (Array.isArray(value)) {
      const words = value.filter((word) => typeof word === 'string');
      if (words.length > 0 && COMMAND_FIELD.test(name)) this.commands.push(words);
      for (const item of value) this.#read(item, name, depth + 1);
    } else if (typeof value === 'object' && value !== null)
      for (const [key, one] of Object.entries(value)) {
        // Codex uses the files of a change as keys.
        if (/changes|files/i.test(name)) this.paths.push(key);
        this.#read(one, key, depth + 1);
      }
  }
}

function pathsOfPatch(text: string): readonly string[] {
  const lines = text.matchAll(
    /^(?:\*\*\* (?:Add|Update|Delete) File: |\*\*\* Move to: |(?:---|\+\+\+) |(?:rename|copy) (?:from|to) )(.+)$/gm,
  );
  return [...lines].flatMap(([, name = '']) => {
    const path = name.replace(/\t.*$/, '').trim();
    return [path, ...(/^[ab]\//.test(path) ? [path.slice(2)] : [])];
  });
}
