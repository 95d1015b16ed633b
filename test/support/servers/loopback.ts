// Servers on free ports of the loopback, and a sink that remembers, for tests of what goes over the
// network.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import type { TransportSink } from '../../../src/acp/jsonrpc/transport';

export interface Loopback {
  readonly server: Server;
  readonly host: string;
  readonly sockets: ReadonlySet<Socket>;
  close(): Promise<void>;
}

const open = new Set<Loopback>();

export async function listening(server: Server, port = 0): Promise<Loopback> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(socket));
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const close = async (): Promise<void> => {
    if (!open.delete(loopback)) return;
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  const loopback = { server, host: `127.0.0.1:${(server.address() as AddressInfo).port}`, sockets, close };
  open.add(loopback);
  return loopback;
}

export function httpLoopback(handle: (request: IncomingMessage, response: ServerResponse) => void): Promise<Loopback> {
  return listening(createServer(handle));
}

export function tcpLoopback(handle: (socket: Socket) => void): Promise<Loopback> {
  return listening(createTcpServer(handle));
}

export async function closeLoopbacks(): Promise<void> {
  for (const loopback of open) await loopback.close();
}

export class Heard implements TransportSink {
  readonly lines: string[] = [];
  readonly #waiting = new Set<() => void>();
  #rest = '';
  #end: { readonly error: Error | undefined } | undefined;

  data(chunk: Uint8Array): void {
    const parts = (this.#rest + Buffer.from(chunk).toString('utf8')).split('\n');
    this.#rest = parts.pop() ?? '';
    this.lines.push(...parts);
    for (const look of this.#waiting) look();
  }

  closed(error?: Error): void {
    this.#end = { error };
    for (const look of this.#waiting) look();
  }

  /** The first `count` lines, as soon as they are there. Rejects where the stream ends before. */
  first(count: number): Promise<string[]> {
    return this.#until(() => (this.lines.length >= count ? this.lines.slice(0, count) : undefined));
  }

  end(): Promise<Error | undefined> {
    return this.#until(() => this.#end, false).then(({ error }) => error);
  }

  #until<T>(look: () => T | undefined, mustLive = true): Promise<T> {
    return new Promise((resolve, reject) => {
      const check = (): void => {
        const found = look();
        if (found === undefined && !(mustLive && this.#end)) return;
        this.#waiting.delete(check);
        if (found !== undefined) resolve(found);
        else reject(this.#end?.error ?? new Error('the stream has ended'));
      };
      this.#waiting.add(check);
      check();
    });
  }
}
