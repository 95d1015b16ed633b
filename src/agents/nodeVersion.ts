// Detects that a Node.js program failed because its Node.js is too old: from its error message, or
// from its package's `engines` if an old Node.js explains the error.
import { readFile } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { at } from '../base/untrusted';

export interface NodeTooOld {
  readonly needs: string;
  readonly has?: string;
}

const MAX_FOLDERS = 8;
const SAYS: readonly RegExp[] = [
  /requires?:?\s+(?:at least\s+)?node(?:\.?js)?\s*(?:version\s*)?(?:>=|\u2265)?\s*v?(\d+(?:\.\d+){0,2})/i,
  /required:\s*\{[^}]*node['"]?:\s*['"]\s*[>=^~]*\s*v?(\d+(?:\.\d+){0,2})/i,
  /node(?:\.?js)?\s*(?:version\s*)?(?:>=|\u2265)?\s*v?(\d+(?:\.\d+){0,2})\s*(?:\+|or (?:newer|later|higher)|is required)/i,
];
const LOWEST = /[>=^~]*\s*v?(\d+(?:\.\d+){0,2})/;
const RUNS = /^Node\.js v(\d+\.\d+\.\d+)/m;
const EXPLAINED =
  /SyntaxError|ERR_UNKNOWN_BUILTIN_MODULE|ERR_REQUIRE_ESM|is not a function|is not defined|does not provide an export/;
const SCRIPT = /(file:\/\/\/[^\s:)]+|\/[^\s:)]+\.[cm]?js|[A-Za-z]:\\[^\s:)]+\.[cm]?js):\d+/;

export async function nodeTooOld(stderr: string): Promise<NodeTooOld | undefined> {
  const has = RUNS.exec(stderr)?.[1] ?? /current:\s*\{[^}]*node['"]?:\s*['"]v?(\d+\.\d+\.\d+)/i.exec(stderr)?.[1];
  for (const words of SAYS) {
    const needs = words.exec(stderr)?.[1];
    if (needs !== undefined && (has === undefined || isOlder(has, needs))) return { needs, has: has || undefined };
  }
  if (has === undefined || !EXPLAINED.test(stderr)) return undefined;
  const needs = lowest(await enginesOf(SCRIPT.exec(stderr)?.[1]), has);
  return needs === undefined ? undefined : { needs, has };
}

async function enginesOf(script: string | undefined): Promise<string> {
  const path = script?.startsWith('file:') ? fileURLToPath(script) : script;
  if (path === undefined || !isAbsolute(path) || /^[\\/]{2}/.test(path)) return '';
  let folder = dirname(path);
  for (let count = 0; count < MAX_FOLDERS; count++) {
    const text = await readFile(join(folder, 'package.json'), 'utf8').catch(() => undefined);
    const range = text === undefined ? undefined : rangeIn(text);
    if (range !== undefined) return range;
    folder = dirname(folder);
  }
  return '';
}

function rangeIn(text: string): string | undefined {
  try {
    const range = at(JSON.parse(text), 'engines', 'node');
    return typeof range === 'string' ? range : undefined;
  } catch {
    return undefined;
  }
}

function lowest(range: string, has: string): string | undefined {
  const lowests = range.split('||').flatMap((part) => LOWEST.exec(part)?.[1] ?? []);
  return lowests.length > 0 && lowests.every((needs) => isOlder(has, needs)) ? lowests[0] : undefined;
}

function isOlder(has: string, needs: string): boolean {
  const [mine, theirs] = [has, needs].map((version) => version.split('.').map(Number));
  for (let index = 0; index < 3; index++) {
    const difference = (mine?.[index] ?? 0) - (theirs?.[index] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}
