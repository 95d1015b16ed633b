// Finds the version of a program: in the npm package that it belongs to, without starting it;
// otherwise from its output for `--version`.
import { readFile, realpath, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, sep } from 'node:path';
import { runProgram } from '../../agents/runProgram';
import type { Log } from '../../base/log';
import { at } from '../../base/untrusted';
import type { FoundProgram } from './findAgents';

/** How long a program may take to print its version, in milliseconds. */
const LIMIT_MS = 5_000;
const MAX_MANIFEST_BYTES = 1024 * 1024;
const MAX_OUTPUT_CHARS = 4_096;

/** How the program is run. */
export interface VersionContext {
  readonly env: Readonly<Record<string, string>>;
  readonly log: Log;
  readonly limitMs?: number;
}

/** Returns the version; undefined if the program does not print it in time. */
export async function versionOf(
  program: Pick<FoundProgram, 'path' | 'answersVersion'>,
  context: VersionContext,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const packaged = await packageVersion(program.path);
  if (packaged !== undefined || !program.answersVersion) return packaged;
  const { env, log, limitMs = LIMIT_MS } = context;
  const result = await runProgram(
    {
      command: program.path,
      args: ['--version'],
      env,
      cwd: homedir(),
      log,
      timeoutMs: limitMs,
      keptChars: MAX_OUTPUT_CHARS,
    },
    signal,
  ).catch(() => undefined);
  if (result === undefined || result.timedOut || result.code !== 0) return undefined;
  return readVersion(result.stdout) ?? readVersion(result.stderr);
}

/** The first version number in a text. */
export function readVersion(text: string): string | undefined {
  return /\d{1,9}\.\d{1,9}(?:\.\d{1,9})?(?:-[\w.]{1,40})?/.exec(text)?.[0];
}

/** Returns the version in the manifest of the package that a file belongs to. */
async function packageVersion(path: string): Promise<string | undefined> {
  try {
    const parts = (await realpath(path)).split(sep);
    const last = parts.lastIndexOf('node_modules');
    const name = parts[last + 1];
    if (last < 0 || name === undefined || name === '.bin') return undefined;
    const length = last + (name.startsWith('@') ? 3 : 2);
    const manifest = join(parts.slice(0, length).join(sep), 'package.json');
    if ((await stat(manifest)).size > MAX_MANIFEST_BYTES) return undefined;
    const version = at(JSON.parse(await readFile(manifest, 'utf8')), 'version');
    return typeof version === 'string' ? readVersion(version) : undefined;
  } catch {
    return undefined;
  }
}
