// Saved prompts: a folder of files in the format of VS Code's prompt files, `NAME.prompt.md`.
import { opendir, readFile, realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { revealControls } from '../base/revealControls';
import { oneLine } from '../base/text';
import { realFolder } from '../changes/git/repository';

export const PROMPT_ENDING = '.prompt.md';
/** Maximum file size, bytes. */
export const MAX_PROMPT = 32 * 1024;

export interface SavedPrompt {
  /** Without spaces, since it is typed after `/`. */
  readonly name: string;
  readonly description: string;
  readonly hint?: string;
  readonly text: string;
}

const MAX_FILES = 50;
/** Maximum number of directory entries to read. */
const MAX_NAMES = 1000;
const MAX_WORDS = 100;
const HEADER = /^---\n(?:([\s\S]*?)\n)??---[ \t]*(?:\n|$)/;

/**
 * Returns the readable prompts of a folder.
 * @param within links must not lead out of this folder
 */
export async function readPrompts(folder: string, within?: string): Promise<readonly SavedPrompt[]> {
  const [real, outer] = await Promise.all([realFolder(folder), within === undefined ? '' : realFolder(within)]);
  if (real === undefined || outer === undefined) return [];
  const isInside = (path: string): boolean =>
    outer === '' || path.startsWith(outer.endsWith(sep) ? outer : outer + sep);
  if (!isInside(real)) return [];
  const names = await promptNames(real).catch(() => []);
  const read = async (name: string): Promise<readonly SavedPrompt[]> => {
    const path = await realpath(join(real, name));
    const found = await stat(path);
    if (!isInside(path) || !found.isFile() || found.size > MAX_PROMPT) return [];
    const prompt = parsePrompt(name, await readFile(path, 'utf8'));
    return prompt.name === '' || prompt.text === '' ? [] : [prompt];
  };
  return (await Promise.all(names.map((name) => read(name).catch(() => [])))).flat();
}

async function promptNames(folder: string): Promise<readonly string[]> {
  const names: string[] = [];
  let remaining = MAX_NAMES;
  for await (const { name } of await opendir(folder)) {
    if (name.endsWith(PROMPT_ENDING)) names.push(name);
    if (--remaining === 0) break;
  }
  return names.sort().slice(0, MAX_FILES);
}

/** Makes hidden characters visible, so that the user sees all that will be sent. */
function parsePrompt(file: string, content: string): SavedPrompt {
  const plain = revealControls(content.replace(/^\ufeff/, '').replaceAll('\r\n', '\n'));
  const header = HEADER.exec(plain);
  const text = plain.slice(header?.[0].length ?? 0).trim();
  const field = (key: string): string | undefined => {
    const value = new RegExp(`^${key}:(.*)$`, 'm').exec(header?.[1] ?? '')?.[1]?.trim();
    return value ? oneLine(value.replace(/^(['"])(.*)\1$/, '$2'), MAX_WORDS) : undefined;
  };
  return {
    name: (field('name') ?? file.slice(0, -PROMPT_ENDING.length)).trim().replace(/\s+/g, '-'),
    description: field('description') ?? oneLine(text.split('\n', 1)[0] ?? '', MAX_WORDS),
    hint: field('argument-hint'),
    text,
  };
}
