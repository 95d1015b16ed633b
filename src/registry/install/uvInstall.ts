// Installs a package of PyPI with uv into an environment that can be moved.

import { access } from 'node:fs/promises';
import { join } from 'node:path';
import type { ProgramResult } from '../../agents/runProgram';
import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import { oneLine, tail } from '../../base/text';
import type { InstallSource } from './installSource';
import { diskFull, runTool, type ToolContext } from './installTools';

type PythonSource = Extract<InstallSource, { kind: 'npx' | 'uvx' }>;

/**
 * Installs into an empty folder.
 * @returns the program's path relative to it
 * @throws ParleyError `uv-failed`, `no-program`; the reason of `signal`
 */
export async function uvInstall(
  { name, version, cmd }: PythonSource,
  folder: string,
  uv: string,
  context: ToolContext,
  signal: AbortSignal,
): Promise<string> {
  const home = join(folder, 'venv');
  const run = async (...args: string[]): Promise<void> => {
    const result = await runTool(uv, [...args, '--no-progress'], folder, context, signal);
    if (result.code !== 0) throw uvError(result);
  };
  // Relocatable, as the folder is renamed at the end.
  await run('venv', '--relocatable', '--no-project', home);
  await run('pip', 'install', '--python', home, `${name}==${version}`);
  const isWindows = process.platform === 'win32';
  const wanted = cmd ?? name.replace(/\[.*/, '');
  const program = join('venv', isWindows ? 'Scripts' : 'bin', isWindows ? `${wanted}.exe` : wanted);
  const isThere =
    /^[\w.-]+$/.test(wanted) &&
    (await access(join(folder, program)).then(
      () => true,
      () => false,
    ));
  if (!isThere) throw new ParleyError('no-program', localizable('The package {0} has no program to start.', name));
  return program;
}

function uvError({ stderr }: ProgramResult): ParleyError {
  const options = { stderr: tail(stderr.trim(), 4_000) };
  if (/no space left on device/i.test(stderr)) return diskFull(options);
  return new ParleyError('uv-failed', localizable('uv failed: {0}', oneLine(stderr, 300)), options);
}
