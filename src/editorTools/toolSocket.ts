// The socket for tools: only for this user, and each connection shows the token of a session first.

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Disposable } from '../base/disposable';
import { messageOf } from '../base/errors';
import type { Log } from '../base/log';

/** Paths of sockets are limited by the system: 103 bytes on macOS, 107 on Linux. */
const MAX_PATH = 100;
/** How long a connection may take to show its token, in milliseconds. */
const TOKEN_MS = 5000;
const MAX_TOKEN = 200;
const MAX_UNKNOWN = 32;
const MAX_CONNECTIONS = 16;

export type Serve = (socket: Socket) => Promise<void>;

export interface ToolEntrance extends Disposable {
  readonly path: string;
  /** Opens this session's tools and no others. */
  readonly token: string;
}

interface Session {
  readonly hash: Buffer;
  readonly serve: Serve;
  readonly sockets: Set<Socket>;
}

export class ToolSocket implements Disposable {
  readonly #log: Log;
  readonly #sessions = new Set<Session>();
  readonly #unknown = new Set<Socket>();
  #listening: Promise<Listening> | undefined;
  #disposed = false;

  constructor(log: Log) {
    this.#log = log;
  }

  /** Takes the connections of a session until its entrance is disposed, which ends them. */
  async open(serve: Serve): Promise<ToolEntrance> {
    this.#listening ??= listen((socket) => this.#accept(socket), this.#log);
    const { path } = await this.#listening.catch((error: unknown) => {
      this.#listening = undefined;
      throw error;
    });
    const token = randomBytes(32).toString('base64url');
    const session: Session = { hash: hashOf(token), serve, sockets: new Set() };
    if (!this.#disposed) this.#sessions.add(session);
    return {
      path,
      token,
      dispose: () => {
        this.#sessions.delete(session);
        for (const socket of session.sockets) socket.destroy();
      },
    };
  }

  dispose(): void {
    this.#disposed = true;
    for (const { sockets } of this.#sessions) for (const socket of sockets) socket.destroy();
    this.#sessions.clear();
    for (const socket of this.#unknown) socket.destroy();
    void this.#listening?.then(
      ({ close }) => close(),
      () => undefined,
    );
  }

  #accept(socket: Socket): void {
    socket.on('error', (error) => this.#log.debug(`editor tools: ${error.message}`));
    if (this.#disposed) {
      socket.destroy();
      return;
    }
    // On Windows, other users can open connections, which must not keep agents out.
    const [oldest] = this.#unknown;
    if (oldest && this.#unknown.size >= MAX_UNKNOWN) {
      this.#unknown.delete(oldest);
      oldest.destroy();
    }
    this.#unknown.add(socket);
    const late = setTimeout(() => socket.destroy(), TOKEN_MS);
    let shown = Buffer.alloc(0);
    const settle = (): void => {
      clearTimeout(late);
      this.#unknown.delete(socket);
      socket.off('data', read);
    };
    const read = (chunk: Buffer): void => {
      shown = Buffer.concat([shown, chunk]);
      const end = shown.indexOf('\n');
      if (end < 0 && shown.length <= MAX_TOKEN) return;
      settle();
      const session = end < 0 || end > MAX_TOKEN ? undefined : this.#sessionOf(shown.toString('utf8', 0, end));
      if (!session) refuse('a connection without a valid token was refused');
      else if (session.sockets.size >= MAX_CONNECTIONS) refuse(`a session has ${MAX_CONNECTIONS} connections already`);
      else this.#serve(session, socket, shown.subarray(end + 1));
    };
    const refuse = (why: string): void => {
      this.#log.warn(`editor tools: ${why}`);
      socket.destroy();
    };
    socket.on('data', read);
    socket.once('close', settle);
  }

  #serve({ sockets, serve }: Session, socket: Socket, rest: Buffer): void {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    // Nothing is lost until it is read.
    socket.pause();
    if (rest.length > 0) socket.unshift(rest);
    serve(socket).then(
      () => socket.resume(),
      (error: unknown) => {
        this.#log.warn(`editor tools: ${messageOf(error)}`);
        socket.destroy();
      },
    );
  }

  #sessionOf(token: string): Session | undefined {
    const hash = hashOf(token.trim());
    return [...this.#sessions].find((session) => timingSafeEqual(session.hash, hash));
  }
}

interface Listening {
  readonly path: string;
  close(): void;
}

async function listen(accept: (socket: Socket) => void, log: Log): Promise<Listening> {
  const server = createServer(accept);
  const { path, folder } = await placeOf();
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(path, resolve);
    });
  } catch (error) {
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
    throw error;
  }
  server.on('error', ({ message }) => log.warn(`editor tools: ${message}`));
  return { path, close: () => close(server, folder) };
}

function close(server: Server, folder: string | undefined): void {
  server.close();
  if (folder !== undefined) void rm(folder, { recursive: true, force: true }).catch(() => undefined);
}

/** A pipe with a name that cannot be guessed, or a socket in a new folder that is the user's alone (0700). */
async function placeOf(): Promise<{ readonly path: string; readonly folder?: string }> {
  if (process.platform === 'win32') return { path: `\\\\.\\pipe\\parley-${randomBytes(16).toString('hex')}` };
  const name = 'parley-XXXXXX/tools';
  const base = [tmpdir(), '/tmp'].find((one) => Buffer.byteLength(join(one, name)) <= MAX_PATH) ?? '/tmp';
  const folder = await mkdtemp(join(base, 'parley-'));
  return { path: join(folder, 'tools'), folder };
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
