// Collects the files that an agent names in a turn: in tool calls, commands and writes through the
// client. Other changes during the turn may come from the user or another program.
import { dirname, isAbsolute, join, normalize, resolve } from 'node:path';
import type { ToolEntry } from '../../session/model/state';
import { isBelow } from '../requests/roots';

const MAX_TEXT = 64 * 1024;
/** Names of arguments that say where a tool works, as opposed to what it writes. */
const PLACE_ARGUMENTS =
  /path|file|dir|folder|cwd|command|cmd|script|args?$|argv|patch|glob|source|dest|target|from|^to$|uri|name/i;
/** Names of working folders, which only resolve other paths. */
const FOLDER_ARGUMENTS = /^(?:cwd|workdir|(?:current|work|working)[_-]?(?:dir|directory|folder))$/i;
const SEPARATORS = /[\s'"`;&|<>(){}[\]=,]+/;
/** Words before a folder that a shell changes to. The folder itself isn't named. */
const CHANGES_FOLDER = new Set(['cd', 'pushd', '-C', '--cwd', '--prefix']);

export interface AgentCommand {
  readonly line: string;
  /** Absolute; default: the session's folder. */
  readonly cwd?: string;
}

export class NamedFiles {
  readonly #roots: readonly string[];
  readonly #cwd: string;
  readonly #paths = new Set<string>();
  /** Exact paths; a folder doesn't include its files. */
  readonly #exactPaths = new Set<string>();
  readonly #patterns = new Map<string, RegExp>();

  constructor(cwd: string, roots: readonly string[]) {
    this.#cwd = cwd;
    this.#roots = roots;
  }

  addPath(path: string, folder = this.#cwd): void {
    const named = resolve(folder, path);
    if (!this.#roots.some((root) => isBelow(named, root))) this.#paths.add(normalized(named));
  }

  addCommand({ line, cwd = this.#cwd }: AgentCommand): void {
    const words = line.slice(0, MAX_TEXT).split(SEPARATORS).filter(Boolean);
    const folders = [cwd];
    for (const [at, word] of words.entries()) {
      if (CHANGES_FOLDER.has(words[at - 1] ?? '')) folders.push(resolve(folders.at(-1) ?? cwd, word));
      else for (const folder of folders) this.#addWord(word, folder);
    }
  }

  addCall({
    toolKind,
    title,
    locations,
    content,
    rawInput,
  }: Pick<ToolEntry, 'toolKind' | 'title' | 'locations' | 'content' | 'rawInput'>): void {
    for (const { path } of locations) this.addPath(path);
    for (const part of content) if (part.type === 'diff') this.addPath(part.path);
    if (toolKind === 'execute') this.addCommand({ line: title });
    else this.#addTitle(title);
    this.#addInput(rawInput, true);
  }

  /** Returns whether the path or one of its parent folders was named. */
  has(path: string): boolean {
    const normalizedPath = normalized(path);
    if (this.#exactPaths.has(normalizedPath)) return true;
    for (let place = normalizedPath; ; place = dirname(place)) {
      if (this.#paths.has(place)) return true;
      if (dirname(place) === place) break;
    }
    return [...this.#patterns.values()].some((pattern) => pattern.test(normalizedPath));
  }

  /** Titles are prose: “Update docs” doesn't name the files in `docs`. */
  #addTitle(title: string): void {
    for (const word of title.slice(0, MAX_TEXT).split(SEPARATORS))
      this.#exactPaths.add(normalized(resolve(this.#cwd, word)));
  }

  #addWord(word: string, folder: string): void {
    if (!/[*?]/.test(word)) {
      this.addPath(word, folder);
      return;
    }
    const whole = normalized(isAbsolute(word) ? word : join(folder, word));
    if (/^[*?]+$/.test(word.replace(/^(\.?\/)+/, '').replaceAll('/', ''))) return;
    const source = whole
      .replace(/[.+^${}()|[\]\\]/g, '\\$&')
      .replaceAll('**', '\0')
      .replaceAll('*', '[^/]*')
      .replaceAll('?', '[^/]')
      .replaceAll('\0', '.*');
    this.#patterns.set(whole, new RegExp(`^${source}(/|$)`));
  }

  #addInput(value: unknown, isPlace: boolean, cwd = this.#cwd): void {
    if (typeof value === 'string') {
      if (!isPlace) return;
      if (value.length < 4096 && !value.includes('\n')) this.addPath(value, cwd);
      this.addCommand({ line: value, cwd });
    } else if (Array.isArray(value)) for (const item of value) this.#addInput(item, isPlace, cwd);
    else if (value !== null && typeof value === 'object') {
      const entries = Object.entries(value);
      const isFolder = ([key, one]: [string, unknown]): boolean =>
        FOLDER_ARGUMENTS.test(key) && typeof one === 'string';
      const folder = resolve(cwd, String(entries.find(isFolder)?.[1] ?? ''));
      for (const [key, one] of entries)
        if (!isFolder([key, one]))
          this.#addInput(one, typeof one === 'object' ? isPlace : PLACE_ARGUMENTS.test(key), folder);
    }
  }
}

/** Normalized for comparison; file systems may ignore case. */
function normalized(path: string): string {
  return normalize(path)
    .replace(/(?<=.)[\\/]+$/, '')
    .replaceAll('\\', '/')
    .normalize('NFC')
    .toLowerCase();
}
