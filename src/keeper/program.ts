// The process that hosts keepers, started detached by a window and configured over stdin.

import { randomBytes } from 'node:crypto';
import { writeSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Deferred } from '../base/deferred';
import { messageOf } from '../base/errors';
import { Keeper } from './keeper';
import { makePlace, type Place, removePlace } from './place';
import { ProvenServer } from './provenServer';
import {
  FRAME,
  type HostFile,
  type HostStart,
  type HostStarted,
  jsonFrame,
  type KeeperStart,
  type KeeperStarted,
} from './wire';

/** Bytes read between garbage collections: V8 would let buffers grow too large. */
const GARBAGE_BYTES = 8 * 1024 * 1024;
/** Idle time before exiting without an agent, ms: a restarted agent starts soon. */
const IDLE_MS = 500;
/** How long to wait for the first agent, ms. */
const FIRST_AGENT_MS = 20_000;

export class KeeperHost {
  readonly #folder: string;
  readonly #path: string;
  readonly #place: Place;
  readonly #collectGarbage: () => void;
  readonly #token = randomBytes(32).toString('hex');
  readonly #server: ProvenServer;
  readonly #keepers = new Set<Keeper>();
  #starting = 0;
  #garbageBytes = 0;
  #removal: Promise<void> | undefined;
  #idleTimer: NodeJS.Timeout | undefined;
  readonly #finished = new Deferred<void>();

  static async listen({ folder, file }: HostStart, collectGarbage: () => void): Promise<KeeperHost | undefined> {
    const place = await makePlace(folder, `host-${randomBytes(6).toString('hex')}`);
    const host = new KeeperHost(folder, join(folder, file), place, collectGarbage);
    try {
      await host.#server.listen(place.socket);
      await writeFile(host.#path, JSON.stringify(host.#file), { flag: 'wx', mode: 0o600 });
      return host;
    } catch (error) {
      host.#server.close();
      await removePlace(place);
      if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return undefined;
      throw error;
    }
  }

  private constructor(folder: string, path: string, place: Place, collectGarbage: () => void) {
    this.#folder = folder;
    this.#path = path;
    this.#place = place;
    this.#collectGarbage = collectGarbage;
    this.#server = new ProvenServer(this.#token, (socket) => {
      socket.write(jsonFrame(FRAME.state, { pid: process.pid }));
      socket.on('close', () => this.#restartIdleTimer(IDLE_MS));
      return ({ kind, bytes }) => {
        if (kind !== FRAME.keep) return;
        // The window asks the next process.
        if (this.#removal) {
          socket.destroy();
          return;
        }
        const start = JSON.parse(bytes.toString('utf8')) as KeeperStart;
        void this.#startKeeper(start).then((started) => {
          if (!socket.destroyed) socket.write(jsonFrame(FRAME.keeping, started));
        });
      };
    });
    this.#restartIdleTimer(FIRST_AGENT_MS);
  }

  get finished(): Promise<void> {
    return this.#finished.promise;
  }

  stop(): void {
    void this.#removeFilesOnce();
    for (const keeper of this.#keepers) keeper.stop();
    this.#restartIdleTimer(0);
  }

  get #file(): HostFile {
    const { folder, socket, socketFolder } = this.#place;
    return { id: basename(folder), socket, socketFolder, token: this.#token };
  }

  get #isIdle(): boolean {
    return this.#keepers.size === 0 && this.#starting === 0 && this.#server.size === 0;
  }

  async #startKeeper(start: KeeperStart): Promise<KeeperStarted> {
    this.#starting++;
    try {
      const id = randomBytes(6).toString('hex');
      const home = {
        folder: this.#folder,
        host: this.#file,
        onBytesRead: (bytes: number) => this.#countGarbage(bytes),
      };
      const keeper = await Keeper.start(id, start, home);
      this.#keepers.add(keeper);
      if (this.#removal) keeper.stop();
      void keeper.finished.catch(() => {}).then(() => this.#onKeeperFinished(keeper));
      return { isRunning: true, id };
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : '';
      return { isRunning: false, code, message: messageOf(error) };
    } finally {
      this.#starting--;
      this.#restartIdleTimer(IDLE_MS);
    }
  }

  #onKeeperFinished(keeper: Keeper): void {
    this.#keepers.delete(keeper);
    this.#collectGarbage();
    this.#restartIdleTimer(IDLE_MS);
  }

  #restartIdleTimer(ms: number): void {
    clearTimeout(this.#idleTimer);
    if (this.#isIdle) this.#idleTimer = setTimeout(() => void this.#exitIfIdle(), ms);
  }

  #countGarbage(bytes: number): void {
    this.#garbageBytes += bytes;
    if (this.#garbageBytes < GARBAGE_BYTES) return;
    this.#garbageBytes = 0;
    this.#collectGarbage();
  }

  async #exitIfIdle(): Promise<void> {
    if (!this.#isIdle) return;
    await this.#removeFilesOnce();
    this.#finished.resolve();
  }

  #removeFilesOnce(): Promise<void> {
    this.#removal ??= this.#removeFiles().catch(() => {});
    return this.#removal;
  }

  async #removeFiles(): Promise<void> {
    this.#server.close();
    // On Windows, another process may have replaced it.
    const current = await readFile(this.#path, 'utf8').catch(() => '');
    if (current.includes(this.#token)) await rm(this.#path, { force: true });
    await removePlace(this.#place);
  }
}

async function run(): Promise<void> {
  // The terminal or login session that started the window may end.
  for (const signal of ['SIGHUP', 'SIGINT'] as const) process.on(signal, () => {});
  // An uncaught error of one keeper must not end the others.
  process.on('uncaughtException', () => {});
  process.umask(0o077);
  let host: KeeperHost | undefined;
  try {
    host = await KeeperHost.listen(JSON.parse(await text(process.stdin)) as HostStart, garbageCollector());
  } catch (error) {
    respond({ failed: messageOf(error) });
    process.exit(1);
  }
  respond({ isListening: host !== undefined });
  process.on('SIGTERM', () => host?.stop());
  await host?.finished;
  process.exit(0);
}

/** V8 exposes gc() only with a flag, which can be set at runtime. */
function garbageCollector(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
}

function respond(started: HostStarted): void {
  try {
    writeSync(1, `${JSON.stringify(started)}\n`);
  } catch {
    // The starter has exited; the next window finds this process through its file.
  }
}

void run();
