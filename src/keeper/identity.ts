// Tells a process apart from a later one with the same number, also after the machine was started
// again.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';

/**
 * A text that no other process ever has; undefined where the process is gone, or on Windows, where
 * it is not cheap to learn: there, `ownBirth` tells.
 */
export async function identityOf(pid: number): Promise<string | undefined> {
  if (process.platform === 'win32') return undefined;
  if (process.platform !== 'linux') return startedAt(pid);
  try {
    const [boot, stat] = await Promise.all([
      readFile('/proc/sys/kernel/random/boot_id', 'latin1').catch(() => ''),
      readFile(`/proc/${pid}/stat`, 'latin1'),
    ]);
    // The name in parentheses may hold anything, so the fields are counted from its end.
    const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return state === 'Z' ? undefined : `${boot.trim()}/${fields[18]}`;
  } catch {
    return undefined;
  }
}

function startedAt(pid: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const options = { env: { ...process.env, LC_ALL: 'C' } };
    execFile('ps', ['-o', 'lstart=', '-p', String(pid)], options, (error, stdout) => {
      resolve(error ? undefined : stdout.trim() || undefined);
    });
  });
}
