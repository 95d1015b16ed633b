// The MCP server of one session on a socket, one JSON-RPC message per line.

import type { Socket } from 'node:net';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { LineSplitter } from '../base/lineSplitter';
import { parseMessage } from '../base/untrusted';
import { serveTools } from './mcpServer';
import type { ToolCaller } from './toolCaller';

const MAX_MESSAGE = 256 * 1024;

export function serveSocket(caller: ToolCaller, socket: Socket): Promise<void> {
  return serveTools(caller, new SocketTransport(socket));
}

/** Like the SDK's stdio transport, but with backpressure. */
class SocketTransport implements Transport {
  readonly #socket: Socket;
  onmessage?: (message: JSONRPCMessage) => void;
  onclose?: () => void;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  async start(): Promise<void> {
    const lines = new LineSplitter(MAX_MESSAGE, (line) => {
      const message = parsed(line);
      if (message !== undefined) this.onmessage?.(message);
    });
    this.#socket.on('data', (chunk: Buffer) => {
      // Later messages can't be read after one that is too long.
      if (!lines.push(chunk)) this.#socket.destroy();
    });
    this.#socket.once('close', () => this.onclose?.());
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const socket = this.#socket;
    if (socket.destroyed) return;
    // Takes no further requests until the client reads its answers.
    if (socket.write(`${JSON.stringify(message)}\n`) || socket.isPaused()) return;
    socket.pause();
    socket.once('drain', () => socket.resume());
  }

  async close(): Promise<void> {
    this.#socket.destroy();
  }
}

function parsed(line: string): JSONRPCMessage | undefined {
  try {
    return parseMessage(line) as JSONRPCMessage;
  } catch {
    return undefined;
  }
}
