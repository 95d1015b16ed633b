// The socket for tools: only for this user, and each connection must present a session's token.

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Disposable } from '../base/disposable';
import { messageOf } from '../base/errors';
import type { Log } from '../base/log';

/** The system limits socket paths: 103 bytes on macOS, 107 on Linux. */
const MAX_PATH = 100;
/** Time for a connection to present its token, in milliseconds. */
const TOKEN_TIMEOUT_MS = 5000;
const MAX_TOKEN = 200;
const MAX_UNAUTHENTICATED = 32;
const MAX_CONNECTIONS = 16;

export type Serve = (socket: Socket) => Promise<void>;

export interface ToolEntrance extends Disposable {
  readonly path: string;
  /** Grants access to this session's tools only. */
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
  readonly #unauthenticated = new Set<Socket>();
  #listening: Promise<Listening> | undefined;
  #disposed = false;

  constructor(log: Log) {
    this.#log = log;
  }

  /** Disposing the returned entrance ends its connections. */
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
    for (const socket of this.#unauthenticated) socket.destroy();
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
    // On Windows, other users can open connections; these must not keep agents out.
    const [oldest] = this.#unauthenticated;
    if (oldest && this.#unauthenticated.size >= MAX_UNAUTHENTICATED) {
      this.#unauthenticated.delete(oldest);
      oldest.destroy();
    }
    this.#unauthenticated.add(socket);
    const timeout = setTimeout(() => socket.destroy(), TOKEN_TIMEOUT_MS);
    let received = Buffer.alloc(0);
    const settle = (): void => {
      clearTimeout(timeout);
      this.#unauthenticated.delete(socket);
      socket.off('data', read);
    };
    const read = (chunk: Buffer): void => {
      received = Buffer.concat([received, chunk]);
      const end = received.indexOf('\n');
      if (end < 0 && received.length <= MAX_TOKEN) return;
      settle();
      const session = end < 0 || end > MAX_TOKEN ? undefined : this.#sessionOf(received.toString('utf8', 0, end));
      if (!session) refuse('a connection without a valid token was refused');
      else if (session.sockets.size >= MAX_CONNECTIONS) refuse(`a session has ${MAX_CONNECTIONS} connections already`);
      else this.#serve(session, socket, received.subarray(end + 1));
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
    // Buffers data until the server reads.
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
  const { path, folder } = await newSocketPath();
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

/** A pipe with an unguessable name, or a socket in a new folder with mode 0700. */
async function newSocketPath(): Promise<{ readonly path: string; readonly folder?: string }> {
  if (process.platform === 'win32') return { path: `\\\\.\\pipe\\parley-${randomBytes(16).toString('hex')}` };
  const name = 'parley-XXXXXX/tools';
  const base = [tmpdir(), '/tmp'].find((one) => Buffer.byteLength(join(one, name)) <= MAX_PATH) ?? '/tmp';
  const folder = await mkdtemp(join(base, 'parley-'));
  return { path: join(folder, 'tools'), folder };
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
