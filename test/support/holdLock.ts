// Another window, as a process, that holds a lock of `withLock`.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';

const HOLD = `
  const { DatabaseSync } = require('node:sqlite');
  const database = new DatabaseSync(process.argv[1]);
  database.exec('BEGIN IMMEDIATE');
  process.stdout.write('held');
  setInterval(() => database, 1000);
`;

/**
 * Resolves when the process has the lock. `end` kills it, so that it cannot give the lock back.
 * @throws Error with the output of the process if it can't get the lock
 */
export async function holdLock(file: string): Promise<{ end(): Promise<void> }> {
  await mkdir(dirname(file), { recursive: true });
  const child = spawn(process.execPath, ['-e', HOLD, file], { stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  child.stderr.on('data', (piece) => {
    said += piece;
  });
  const ended = once(child, 'close').then(() => Promise.reject(new Error(said)));
  await Promise.race([once(child.stdout, 'data'), ended]);
  ended.catch(() => {}); // it is ended below
  return {
    end: async () => {
      child.kill('SIGKILL');
      await ended.catch(() => {});
    },
  };
}
