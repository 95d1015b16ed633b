// Responses of our server: JSON, runs in the protocol's three modes, and refusals that reach a
// client that is still sending.

import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { messageOf } from '../../base/errors';
import type { Log } from '../../base/log';
import type { RunMode } from '../model/model';
import { ServerRefusal } from './serverRequest';
import type { ServerRun } from './serverRun';

/** How much of a refused request is still read. */
const MAX_DRAINED_BYTES = 64 * 1024 * 1024;
const DRAIN_MS = 10_000;

export function send(response: ServerResponse, status: number, value: unknown): void {
  sendText(response, status, JSON.stringify(value));
}

export function sendText(response: ServerResponse, status: number, json: string): void {
  response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(json) });
  response.end(json);
}

export async function sendRun(
  run: ServerRun,
  mode: RunMode,
  from: number,
  response: ServerResponse,
  gone: AbortSignal,
): Promise<void> {
  if (mode === 'async') return send(response, 202, run.toWire());
  if (mode === 'sync') {
    await run.until(() => run.isResting, gone);
    return send(response, 200, run.toWire());
  }
  response.writeHead(200, { 'Content-Type': 'text/event-stream; charset=utf-8' });
  response.flushHeaders();
  for (let at = from; ; ) {
    const { events } = run;
    const upTo = events.length;
    const isLast = run.isResting;
    for (; at < upTo; at++) {
      if (!response.write(`data: ${events[at]}\n\n`)) await once(response, 'drain', { signal: gone });
    }
    if (isLast) break;
    await run.until(() => run.events.length > at || run.isResting, gone);
  }
  response.end();
}

/** Closes the connection if the request was not read. */
export function refuse(request: IncomingMessage, response: ServerResponse, error: unknown, log: Log): void {
  const refusal =
    error instanceof ServerRefusal ? error : new ServerRefusal(500, 'server_error', 'An unexpected error occurred');
  if (refusal !== error) log.error(`The local server failed: ${messageOf(error)}`);
  if (response.headersSent) {
    response.destroy();
    return;
  }
  if (refusal.status === 401) response.setHeader('WWW-Authenticate', 'Bearer');
  if (refusal.retryAfter !== undefined) response.setHeader('Retry-After', refusal.retryAfter);
  const body = { code: refusal.wireCode, message: refusal.message, data: null };
  const { 'content-length': length = '0', 'transfer-encoding': coding } = request.headers;
  const isUnread = !request.complete && (length !== '0' || coding !== undefined);
  // A stranger's connection is not kept alive.
  if (isUnread || refusal.status === 401) response.setHeader('Connection', 'close');
  if (!isUnread) send(response, refusal.status, body);
  else sendUnread(request, response, refusal.status, JSON.stringify(body));
}

/** Keeps the connection until the body has arrived: closing earlier would lose the response. */
function sendUnread(request: IncomingMessage, response: ServerResponse, status: number, json: string): void {
  response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(json) });
  response.write(json);
  let left = MAX_DRAINED_BYTES;
  const end = (): void => {
    clearTimeout(timer);
    response.end();
  };
  const timer = setTimeout(end, DRAIN_MS);
  request.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) end();
  });
  request.once('end', end).once('close', end).once('error', end).resume();
}
