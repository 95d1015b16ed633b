// Small HTTP servers on loopback for one test each, which note who came.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { closeLoopbacks, listening } from '../../support/servers/loopback';

export interface Loopback {
  readonly origin: string;
  /** Requests that came, oldest first. */
  readonly seen: { readonly path: string; readonly headers: IncomingMessage['headers'] }[];
  readonly connections: number;
  readonly mostAtOnce: number;
  close(): Promise<void>;
}

export type Handler = (request: IncomingMessage, response: ServerResponse) => void;

export async function serve(handler: Handler, port = 0): Promise<Loopback> {
  const counts = { connections: 0, mostAtOnce: 0, seen: [] as Loopback['seen'] };
  let now = 0;
  const server = createServer((request, response) => {
    counts.seen.push({ path: request.url ?? '', headers: request.headers });
    counts.mostAtOnce = Math.max(counts.mostAtOnce, ++now);
    response.once('close', () => now--);
    handler(request, response);
  });
  server.on('connection', () => counts.connections++);
  const { host, close } = await listening(server, port);
  return Object.assign(counts, { origin: `http://${host}`, close });
}

export const closeServers = closeLoopbacks;

export function messageText(content: string): string {
  return JSON.stringify({ role: 'user', parts: [{ content_type: 'text/plain', content, content_encoding: 'plain' }] });
}
