// The process that keeps agents, as a program: started detached by the first window that needs it,
// told on stdin where to listen, and from then on by itself.
import { writeSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { messageOf } from '../base/errors';
import { KeeperHost } from './keeperHost';
import type { HostStart, HostStarted } from './wire';

async function run(): Promise<void> {
  // The terminal or the session that the window was started from may end.
  for (const signal of ['SIGHUP', 'SIGINT'] as const) process.on(signal, () => {});
  // What one agent's keeper has not caught is no reason to end the others.
  process.on('uncaughtException', () => {});
  process.umask(0o077);
  let host: KeeperHost | undefined;
  try {
    host = await KeeperHost.listen(JSON.parse(await text(process.stdin)) as HostStart, sweeper());
  } catch (error) {
    answer({ failed: messageOf(error) });
    process.exit(1);
  }
  answer({ isListening: host !== undefined });
  process.on('SIGTERM', () => host?.stop());
  await host?.gone;
  process.exit(0);
}

/** Node offers it by a flag of V8, which can still be set. */
function sweeper(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
}

function answer(started: HostStarted): void {
  try {
    writeSync(1, `${JSON.stringify(started)}\n`);
  } catch {
    // Who started it is gone; the next window finds it by its file.
  }
}

void run();
