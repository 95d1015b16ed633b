// Finds the commands in a tool call's raw input, whatever the names and depth of its fields.
import { objectOf } from '../../base/untrusted';
import { commandLine } from '../../terminals/terminalCommand';

export interface RawCommand {
  readonly line: string;
  readonly cwd?: string;
}

export interface RawCommands {
  readonly commands: readonly RawCommand[];
  /** False: too large or deep to be read completely. */
  readonly isWhole: boolean;
}

const MAX_COMMANDS = 20;
const MAX_DEPTH = 8;
const MAX_FIELDS = 2000;

/** Lower case, without separators. */
const LINES =
  /^(?:(?:shell|bash|terminal|run|exec)?(?:command|cmd)s?|(?:command|cmd)(?:line|text|string)s?|(?:shell)?scripts?|bash|powershell|pwsh|argv|code)$/;
/** A list in a plural field contains lines; other lists are one program with its arguments. */
const LISTS = /s$/;
const ARGUMENTS = /^(?:args|arguments|argv|argumentlist|params|parameters)$/;
const PROGRAMS = /^(?:program|executable|exec|file|bin|binary)$/;
const FOLDERS = /^(?:cwd|workdir|workingdir|workingdirectory|dir|directory|folder)$/;
/** Fields that may hold arguments as JSON text. */
const CONTAINERS = /^(?:args|arguments|input|toolinput|rawinput|params|parameters|payload|request|tool|call|function)$/;
const TEXTS = /^(?:content|contents|filetext|newtext|oldtext|newstring|oldstring|newstr|oldstr|patch|diff)$/;
const EDITING = /^(?:view|create|str_replace|insert|undo_edit)$/;

export function rawCommandsIn(rawInput: unknown): RawCommands {
  const search = new Search();
  search.read(objectOf(rawInput), 0);
  return { commands: search.commands, isWhole: search.isWhole };
}

/** Normalized: agents write `file_path`, `filePath` and `FilePath`. */
export function fieldName(name: string): string {
  return name.replaceAll(/[_\-\s.]/g, '').toLowerCase();
}

class Search {
  readonly commands: RawCommand[] = [];
  isWhole = true;
  #fields = 0;

  read(value: unknown, depth: number): void {
    if (typeof value !== 'object' || value === null) return;
    if (depth > MAX_DEPTH) {
      this.isWhole = false;
      return;
    }
    if (Array.isArray(value)) {
      for (const item of value) this.read(item, depth + 1);
      return;
    }
    const fields = Object.entries(value).map(([name, field]) => [fieldName(name), field] as const);
    this.#fields += fields.length;
    if (this.#fields > MAX_FIELDS) {
      this.isWhole = false;
      return;
    }
    this.#readFields(fields, depth);
  }

  #readFields(fields: readonly (readonly [name: string, value: unknown])[], depth: number): void {
    const cwd = fields.find(([name, value]) => FOLDERS.test(name) && typeof value === 'string')?.[1];
    const isEdit = fields.some(([name]) => /path$/.test(name));
    const args = fields.find(([name, value]) => ARGUMENTS.test(name) && isWords(value))?.[1];
    let hasLine = false;
    for (const [name, value] of fields) {
      const isProgram = PROGRAMS.test(name) && args !== undefined;
      if (!LINES.test(name) && !isProgram) continue;
      if (isEdit && typeof value === 'string' && EDITING.test(value)) continue;
      if (name === 'argv' && hasLine) continue;
      for (const line of linesOf(name, value, name === 'argv' ? undefined : args)) {
        hasLine = true;
        this.#add(line, cwd);
      }
    }
    for (const [name, value] of fields) {
      if (TEXTS.test(name) && typeof value === 'string') continue;
      this.read(CONTAINERS.test(name) || LINES.test(name) ? objectOf(value) : value, depth + 1);
    }
  }

  #add(line: string, cwd: unknown): void {
    if (line.trim() === '' || this.commands.some((command) => command.line === line)) return;
    if (this.commands.length >= MAX_COMMANDS) this.isWhole = false;
    else this.commands.push({ line, cwd: typeof cwd === 'string' && cwd !== '' ? cwd : undefined });
  }
}

function linesOf(name: string, value: unknown, args: unknown): readonly string[] {
  if (typeof value === 'string') {
    if (objectOf(value) !== value) return [];
    return [isWords(args) ? commandLine(value, args) : value];
  }
  if (!isWords(value)) {
    return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
  }
  const [program, ...words] = value;
  if (program === undefined) return [];
  return LISTS.test(name) ? value : [commandLine(program, isWords(args) ? [...words, ...args] : words)];
}

function isWords(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((word) => typeof word === 'string');
}
