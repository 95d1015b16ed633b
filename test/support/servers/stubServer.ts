// A bare HTTP server for what no well-behaved agent server would answer. The test writes each
// answer itself.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { closeLoopbacks, listening } from './loopback';

export interface StubRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: unknown;
}

export interface StubServer {
  readonly baseUrl: string;
  readonly requests: readonly StubRequest[];
  stop(): Promise<void>;
}

export async function stubServer(
  answer: (request: StubRequest, response: ServerResponse) => unknown,
  port = 0,
): Promise<StubServer> {
  const requests: StubRequest[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const seen = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      body: text === '' ? undefined : (JSON.parse(text) as unknown),
    };
    requests.push(seen);
    await answer(seen, response);
  });
  const { host, close } = await listening(server, port);
  return { baseUrl: `http://${host}`, requests, stop: close };
}

export const stopStubs = closeLoopbacks;

export function json(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}

export function sse(events: readonly unknown[]): string {
  return events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
}
