// The process that keeps agents: one for all windows of a user with the same build, started by the
// first window that needs it.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readFile, rm } from 'node:fs/promises';
import { join, parse } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { hostEnvironment } from '../../agents/agentEnvironment';
import { removePlace } from '../../keeper/place';
import {
  FRAME,
  type HostFile,
  type HostStart,
  type HostStarted,
  jsonFrame,
  type KeeperStart,
  type KeeperStarted,
  PURPOSE,
} from '../../keeper/wire';
import { readHostFile } from './keeperFiles';
import { KeeperSocket } from './keeperSocket';

/**
 * Attempts to find the process, which another window may be starting, and the delay between them.
 */
const TRIES = 60;
const TRY_MS = 50;
/** Frames become garbage immediately, so a small young generation suffices. */
const NODE_FLAG = '--max-semi-space-size=1';

export interface KeeperHostsOptions {
  readonly folder: string;
  readonly program: string;
}

export class KeeperHosts {
  readonly #options: KeeperHostsOptions;
  #file: Promise<string> | undefined;
  #opening: Promise<unknown> = Promise.resolve();

  constructor(options: KeeperHostsOptions) {
    this.#options = options;
  }

  /** Starts an agent in the process. @throws Error if no process could be started */
  async keep(start: KeeperStart): Promise<KeeperStarted> {
    const started = await this.#requestStart(start);
    // The process may have ended just when it was asked.
    return started ?? (await this.#requestStart(start)) ?? Promise.reject(new Error('the keeper has ended'));
  }

  async #requestStart(start: KeeperStart): Promise<KeeperStarted | undefined> {
    // One at a time: parallel starts would each start a process.
    const opening = this.#opening.then(() => this.#open());
    this.#opening = opening.catch(() => {});
    const socket = await opening;
    const answer = new Promise<KeeperStarted | undefined>((resolve) => {
      socket.listen(({ kind, bytes }) => {
        if (kind === FRAME.keeping) resolve(JSON.parse(bytes.toString('utf8')) as KeeperStarted);
      });
      void socket.closed.then(() => resolve(undefined));
    });
    socket.send(jsonFrame(FRAME.keep, start));
    const started = await answer;
    socket.destroy();
    return started;
  }

  async #open(): Promise<KeeperSocket> {
    const { folder } = this.#options;
    this.#file ??= this.#fileName();
    const file = await this.#file;
    const path = join(folder, file);
    for (let tries = 0; tries < TRIES; tries++) {
      const found = readHostFile(path);
      if (found) {
        try {
          return (await KeeperSocket.open(found, PURPOSE.look)).socket;
        } catch {
          await this.#clear(path, found);
        }
      } else {
        const isFirst = await this.#spawn({ folder, file });
        // Written by another process. If it stays unreadable, that process has ended while writing.
        if (!isFirst && tries === TRIES / 2) await rm(path, { force: true });
        if (!isFirst) await delay(TRY_MS);
      }
    }
    throw new Error('the keeper cannot be reached');
  }

  async #fileName(): Promise<string> {
    const hash = createHash('sha256').update(process.execPath).update(process.version);
    hash.update(await readFile(this.#options.program));
    return `host-${hash.digest('hex').slice(0, 16)}.json`;
  }

  /** Cleans up after a process that has ended or does not answer. */
  async #clear(path: string, { id, socket, socketFolder, token }: HostFile): Promise<void> {
    if (readHostFile(path)?.token !== token) return;
    await rm(path, { force: true });
    await removePlace({ folder: join(this.#options.folder, id), socket, socketFolder });
  }

  async #spawn(start: HostStart): Promise<boolean> {
    const own = hostEnvironment(process.env);
    // NODE_* variables are meant for this window or for agents.
    const env = Object.fromEntries(Object.entries(own).filter(([name]) => !/^NODE_/i.test(name)));
    const host = spawn(process.execPath, [NODE_FLAG, this.#options.program], {
      // Not the window's or the extension's folder, which may be removed. A home may not exist.
      cwd: parse(process.execPath).root,
      detached: true,
      env: { ...env, ELECTRON_RUN_AS_NODE: '1' },
      stdio: ['pipe', 'pipe', 'ignore'],
      windowsHide: true,
    });
    try {
      await once(host, 'spawn');
      host.unref();
      host.stdin.on('error', () => {});
      host.stdin.end(JSON.stringify(start));
      const line = await firstLine(host.stdout);
      if (line === '') throw new Error('it has ended without a word');
      const started = JSON.parse(line) as HostStarted;
      if ('failed' in started) throw new Error(started.failed);
      return started.isListening;
    } finally {
      host.stdout.destroy();
    }
  }
}

async function firstLine(stream: Readable): Promise<string> {
  let text = '';
  for await (const chunk of stream) {
    text += chunk;
    if (text.includes('\n')) break;
  }
  return text;
}
