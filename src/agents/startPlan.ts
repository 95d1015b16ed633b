// What is given to `spawn` for a program, so that each argument arrives as it is written. On Windows
// only .exe files start without cmd.exe, which would give arguments a meaning.
import { access, open } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import { batchLine, shimTarget } from './batchFile';
import { resolveCommand } from './resolveCommand';

/** Bytes; shims have less than 1 KB. */
const MAX_SHIM = 16 * 1024;
/** Keeps cmd.exe from taking programs of the folder that it runs in, whose author is not the user. */
const NOT_FROM_THE_FOLDER = { NoDefaultCurrentDirectoryInExePath: '1' };

/** The parameters of `spawn`. */
export interface StartPlan {
  /** Absolute. */
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The arguments are the command line, quoted for Windows already. */
  readonly windowsVerbatimArguments: boolean;
}

/**
 * Returns how a program is started.
 * @param command absolute, from `resolveCommand` @param env its whole environment
 * @throws ParleyError `agent-spawn-failed` where an argument can't be passed to a batch file,
 * `agent-not-found` where the Node.js that a script needs is missing
 */
export async function planStart(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  platform: NodeJS.Platform = process.platform,
): Promise<StartPlan> {
  const direct: StartPlan = { file: command, args, env, windowsVerbatimArguments: false };
  if (platform !== 'win32') return direct;
  const extension = extname(command).toLowerCase();
  if (extension === '.exe' || extension === '.com') return direct;
  if (['.js', '.mjs', '.cjs'].includes(extension)) {
    const node = await findNode(dirname(command), env);
    if (node !== undefined) return { ...direct, file: node, args: [command, ...args] };
  }
  if (extension === '.cmd' || extension === '.bat') {
    const target = shimTarget(command, await readShim(command));
    if (target && !target.isScript) return { ...direct, file: target.file };
    const node = target && (await findNode(dirname(command), env));
    if (target && node !== undefined)
      return { ...direct, file: node, args: [...target.nodeArgs, target.file, ...args] };
  }
  return planCmd(command, args, env);
}

/**
 * Returns how a batch file, or a command of cmd.exe itself, is started.
 * @throws ParleyError `agent-spawn-failed` as {@link planStart}
 */
export function planCmd(command: string, args: readonly string[], env: Readonly<Record<string, string>>): StartPlan {
  return {
    file: process.env.ComSpec ?? 'cmd.exe',
    // No AutoRun of the registry, command extensions, no expansion of `!`.
    args: ['/d', '/e:on', '/v:off', '/s', '/c', batchLine(command, args)],
    env: { ...env, ...NOT_FROM_THE_FOLDER },
    windowsVerbatimArguments: true,
  };
}

async function readShim(path: string): Promise<string> {
  const file = await open(path).catch(() => undefined);
  if (!file) return '';
  try {
    const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(MAX_SHIM + 1), position: 0 });
    return bytesRead > MAX_SHIM ? '' : buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}

/** The Node.js beside a shim, else that of PATH; undefined where that is a batch file itself. */
async function findNode(folder: string, env: Readonly<Record<string, string>>): Promise<string | undefined> {
  const own = join(folder, 'node.exe');
  if (
    await access(own).then(
      () => true,
      () => false,
    )
  )
    return own;
  const found = await resolveCommand('node', { cwd: folder, env });
  return found.toLowerCase().endsWith('.exe') ? found : undefined;
}
