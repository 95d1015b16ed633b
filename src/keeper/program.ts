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
const SWEEP_BYTES = 8 * 1024 * 1024;
/** Idle time before exiting without an agent, ms: a restarted agent starts soon. */
const IDLE_MS = 500;
/** How long to wait for the first agent, ms. */
const FIRST_MS = 20_000;

export class KeeperHost {
  readonly #folder: string;
  readonly #path: string;
  readonly #place: Place;
  readonly #sweep: () => void;
  readonly #token = randomBytes(32).toString('hex');
  readonly #server: ProvenServer;
  readonly #keepers = new Set<Keeper>();
  #starting = 0;
  #unswept = 0;
  #unlisting: Promise<void> | undefined;
  #idle: NodeJS.Timeout | undefined;
  readonly #gone = new Deferred<void>();

  static async listen({ folder, file }: HostStart, sweep: () => void): Promise<KeeperHost | undefined> {
    const place = await makePlace(folder, `host-${randomBytes(6).toString('hex')}`);
    const host = new KeeperHost(folder, join(folder, file), place, sweep);
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

  private constructor(folder: string, path: string, place: Place, sweep: () => void) {
    this.#folder = folder;
    this.#path = path;
    this.#place = place;
    this.#sweep = sweep;
    this.#server = new ProvenServer(this.#token, (socket) => {
      socket.write(jsonFrame(FRAME.state, { pid: process.pid }));
      socket.on('close', () => this.#awaitNext(IDLE_MS));
      return ({ kind, bytes }) => {
        if (kind !== FRAME.keep) return;
        // The window asks the next process.
        if (this.#unlisting) {
          socket.destroy();
          return;
        }
        const start = JSON.parse(bytes.toString('utf8')) as KeeperStart;
        void this.#keep(start).then((started) => {
          if (!socket.destroyed) socket.write(jsonFrame(FRAME.keeping, started));
        });
      };
    });
    this.#awaitNext(FIRST_MS);
  }

  get gone(): Promise<void> {
    return this.#gone.promise;
  }

  stop(): void {
    void this.#unlist();
    for (const keeper of this.#keepers) keeper.stop();
    this.#awaitNext(0);
  }

  get #file(): HostFile {
    const { folder, socket, socketFolder } = this.#place;
    return { id: basename(folder), socket, socketFolder, token: this.#token };
  }

  get #isIdle(): boolean {
    return this.#keepers.size === 0 && this.#starting === 0 && this.#server.size === 0;
  }

  async #keep(start: KeeperStart): Promise<KeeperStarted> {
    this.#starting++;
    try {
      const id = randomBytes(6).toString('hex');
      const home = { folder: this.#folder, host: this.#file, swept: (bytes: number) => this.#swept(bytes) };
      const keeper = await Keeper.start(id, start, home);
      this.#keepers.add(keeper);
      if (this.#unlisting) keeper.stop();
      void keeper.gone.catch(() => {}).then(() => this.#ended(keeper));
      return { isRunning: true, id };
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : '';
      return { isRunning: false, code, message: messageOf(error) };
    } finally {
      this.#starting--;
      this.#awaitNext(IDLE_MS);
    }
  }

  #ended(keeper: Keeper): void {
    this.#keepers.delete(keeper);
    this.#sweep();
    this.#awaitNext(IDLE_MS);
  }

  #awaitNext(ms: number): void {
    clearTimeout(this.#idle);
    if (this.#isIdle) this.#idle = setTimeout(() => void this.#leave(), ms);
  }

  #swept(bytes: number): void {
    this.#unswept += bytes;
    if (this.#unswept < SWEEP_BYTES) return;
    this.#unswept = 0;
    this.#sweep();
  }

  async #leave(): Promise<void> {
    if (!this.#isIdle) return;
    await this.#unlist();
    this.#gone.resolve();
  }

  #unlist(): Promise<void> {
    this.#unlisting ??= this.#removeFiles().catch(() => {});
    return this.#unlisting;
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

/** V8 exposes gc() only with a flag, which can be set at runtime. */
function sweeper(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
}

function answer(started: HostStarted): void {
  try {
    writeSync(1, `${JSON.stringify(started)}\n`);
  } catch {
    // The starter has exited; the next window finds this process through its file.
  }
}

void run();
