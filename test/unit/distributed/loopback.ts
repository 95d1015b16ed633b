// Small HTTP servers on loopback for one test each, which note who came.
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}

export interface Loopback {
  readonly origin: string;
  readonly seen: Seen[];
  readonly connections: number;
  readonly mostAtOnce: number;
  close(): Promise<void>;
}

export type Handler = (request: IncomingMessage, response: ServerResponse) => void;

const open: Loopback[] = [];

export async function serve(handler: Handler, port = 0): Promise<Loopback> {
  const sockets = new Set<Socket>();
  const seen: Seen[] = [];
  let [connections, now, mostAtOnce] = [0, 0, 0];
  const server: Server = createServer((request, response) => {
    seen.push({ method: request.method ?? '', path: request.url ?? '', headers: request.headers });
    mostAtOnce = Math.max(mostAtOnce, ++now);
    response.once('close', () => now--);
    handler(request, response);
  });
  server.on('connection', (socket) => {
    connections++;
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const loopback: Loopback = {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    get connections() {
      return connections;
    },
    get mostAtOnce() {
      return mostAtOnce;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
  open.push(loopback);
  return loopback;
}

export async function closeServers(): Promise<void> {
  for (const loopback of open.splice(0)) await loopback.close();
}

export function messageText(content: string): string {
  return JSON.stringify({ role: 'user', parts: [{ content_type: 'text/plain', content, content_encoding: 'plain' }] });
}
