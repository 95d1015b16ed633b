// The keeper as a program: started detached by a window, told on stdin what to start, and from then
// on by itself.
import { writeSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { messageOf } from '../base/errors';
import { Keeper } from './keeper';
import type { KeeperStart, KeeperStarted } from './wire';

/** The most that is read from stdin, in bytes: an environment and arguments have their own limits. */
const MAX_START_BYTES = 8 * 1024 * 1024;

async function run(): Promise<void> {
  // The terminal or the session that the window was started from may end.
  for (const signal of ['SIGHUP', 'SIGINT'] as const) process.on(signal, () => {});
  let keeper: Keeper;
  try {
    keeper = await Keeper.start(await startOf(), sweeper());
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    answer({ isRunning: false, code, message: messageOf(error) });
    process.exit(1);
  }
  process.on('SIGTERM', () => keeper.stop());
  process.on('uncaughtException', () => keeper.stop());
  answer({ isRunning: true });
  await keeper.gone;
  process.exit(0);
}

/** Node offers it by a flag of V8, which can still be set. */
function sweeper(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
}

/** @throws SyntaxError, RangeError */
async function startOf(): Promise<KeeperStart> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > MAX_START_BYTES) throw new RangeError(`more than ${MAX_START_BYTES} bytes on stdin`);
  }
  return JSON.parse(Buffer.concat(chunks).toString('utf8')) as KeeperStart;
}

function answer(started: KeeperStarted): void {
  try {
    writeSync(1, `${JSON.stringify(started)}\n`);
  } catch {
    // Who started it is gone; the next window finds it by its folder.
  }
}

void run();
