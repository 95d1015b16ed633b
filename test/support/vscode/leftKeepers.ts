// Ends the agents that outlive the windows of a test's VS Code: they are no children of its server
// any more.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { goneFrom } from '../processes';
import { type ProcessEntry, processes } from './processTree';

export async function endKeepers(dataDir: string): Promise<void> {
  await Promise.all(stopKeepers(dataDir).map(goneFrom));
}

/** Asks the keepers of a server to end. */
export function stopKeepers(dataDir: string): readonly number[] {
  const running = runningKeepers(dataDir);
  for (const { pid } of running) process.kill(pid, 'SIGTERM');
  return running.map(({ pid }) => pid);
}

export function runningKeepers(dataDir: string): readonly ProcessEntry[] {
  const storage = join(dataDir, 'data/User/globalStorage');
  const pids = namesIn(storage).flatMap((extension) => {
    const keepers = join(storage, extension, 'keepers');
    return namesIn(keepers).flatMap((id) => pidOf(join(keepers, id, 'keeper.json')));
  });
  if (pids.length === 0) return [];
  // A keeper that ended by itself may have left its number to another process.
  return processes().filter(({ pid, command }) => pids.includes(pid) && command.includes('keeper.js'));
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function pidOf(path: string): readonly number[] {
  try {
    const { pid } = JSON.parse(readFileSync(path, 'utf8')) as { readonly pid: number };
    return [pid];
  } catch {
    return [];
  }
}
