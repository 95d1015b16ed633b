// The MCP server of one session on a socket: a JSON-RPC message a line. Loaded when the first agent
// connects.

import type { Socket } from 'node:net';
import * as z from 'zod/mini';
import { LineSplitter } from '../base/lineSplitter';
import { answerMcp } from './mcpMethods';
import type { ToolCaller } from './toolCaller';

/** Bytes of one message; arguments are short. */
const MAX_MESSAGE = 256 * 1024;
/** Requests of one connection that are being answered. */
const MAX_RUNNING = 1_000;
const BUSY = -32_000;

const idSchema = z.union([z.string(), z.int()]);
const messageSchema = z.object({
  jsonrpc: z.literal('2.0'),
  id: z.optional(idSchema),
  method: z.string(),
  params: z.optional(z.unknown()),
});
const cancelledParams = z.object({ requestId: idSchema });

type Id = z.output<typeof idSchema>;

/** Speaks MCP on a socket, until that is closed. */
export async function serveSocket(caller: ToolCaller, socket: Socket): Promise<void> {
  const running = new Map<Id, AbortController>();

  const send = (message: Readonly<Record<string, unknown>>): void => {
    if (socket.destroyed) return;
    // Takes no more requests while the answers to those before are not read.
    if (socket.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`) || socket.isPaused()) return;
    socket.pause();
    socket.once('drain', () => socket.resume());
  };

  const answer = async (id: Id, method: string, params: unknown): Promise<void> => {
    if (running.size >= MAX_RUNNING || running.has(id)) {
      send({ id, error: { code: BUSY, message: running.has(id) ? 'The id is in use' : 'Too many requests' } });
      return;
    }
    const abort = new AbortController();
    running.set(id, abort);
    const outcome = await answerMcp(caller, method, params, abort.signal);
    if (running.get(id) === abort) running.delete(id);
    // What was cancelled gets no answer.
    if (!abort.signal.aborted) send({ id, ...outcome });
  };

  const lines = new LineSplitter(MAX_MESSAGE, (line) => {
    const { data } = messageSchema.safeParse(parsed(line));
    if (!data) return;
    const { id, method, params } = data;
    if (id !== undefined) void answer(id, method, params);
    else if (method === 'notifications/cancelled') {
      const { data: cancelled } = cancelledParams.safeParse(params);
      if (!cancelled) return;
      running.get(cancelled.requestId)?.abort();
      running.delete(cancelled.requestId);
    }
  });
  socket.on('data', (chunk: Buffer) => {
    // Nothing after a message that is too long can be read.
    if (!lines.push(chunk)) socket.destroy();
  });
  // Nobody is left to read the answers.
  socket.once('close', () => {
    for (const abort of running.values()) abort.abort();
    running.clear();
  });
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
