// The MCP server of one session. Loaded when the first agent connects.

import type { Socket } from 'node:net';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { Protocol } from '@modelcontextprotocol/sdk/shared/protocol.js';
import { serializeMessage } from '@modelcontextprotocol/sdk/shared/stdio.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CallToolRequestSchema,
  InitializeRequestSchema,
  type JSONRPCMessage,
  LATEST_PROTOCOL_VERSION,
  ListToolsRequestSchema,
  type Notification,
  type Request,
  type Result,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/sdk/types.js';
import { pageOf, type ToolAnswer } from './answer';
import type { ToolCaller } from './toolCaller';
import { hasPages, isToolName, listTools, readArgs } from './tools';

/** Bytes of one message; arguments are short. */
const MAX_MESSAGE = 256 * 1024;

/** Takes no more requests while the answers to those before are not read. */
class SocketTransport extends StdioServerTransport {
  readonly #socket: Socket;

  constructor(socket: Socket) {
    super(socket, socket, { maxBufferSize: MAX_MESSAGE });
    this.#socket = socket;
  }

  override async send(message: JSONRPCMessage): Promise<void> {
    if (this.#socket.write(serializeMessage(message)) || this.#socket.isPaused()) return;
    this.#socket.pause();
    this.#socket.once('drain', () => this.#socket.resume());
  }
}

/** Speaks MCP on a socket, until that is closed. */
export async function serveSocket(caller: ToolCaller, socket: Socket): Promise<void> {
  const transport = new SocketTransport(socket);
  await connectTools(caller, transport);
  // What is being asked is asked for nobody; and a message that is too long ends the connection.
  socket.once('close', () => void transport.close());
  const { onclose } = transport;
  transport.onclose = () => {
    socket.destroy();
    onclose?.();
  };
}

/**
 * The SDK's protocol without what its own server has beside it, and what this one never uses: forms,
 * logging and tasks, with a validator that is larger than all the rest.
 */
class ToolServer extends Protocol<Request, Notification, Result> {
  protected assertCapabilityForMethod(): void {}
  protected assertNotificationCapability(): void {}
  protected assertRequestHandlerCapability(): void {}
  protected assertTaskCapability(): void {}
  protected assertTaskHandlerCapability(): void {}
}

/** @returns the answer, and the first line of the page; undefined where the tool has no further pages */
async function answerTo(
  caller: ToolCaller,
  name: string,
  given: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<[ToolAnswer, number | undefined]> {
  if (isToolName(name) && caller.tools().includes(name)) {
    const args = readArgs(name, given);
    const { offset = 0 } = args as { readonly offset?: number };
    return [await caller.call(name, args, signal), hasPages(name) ? offset : undefined];
  }
  if (caller.others.list().some((other) => other.name === name))
    return [await caller.others.call(name, given, signal), undefined];
  throw new Error(`There is no tool ${name}.`);
}

/** Connects an MCP client to the tools of its session. */
export async function connectTools(caller: ToolCaller, transport: Transport): Promise<void> {
  const server = new ToolServer();
  server.setRequestHandler(InitializeRequestSchema, ({ params: { protocolVersion: asked } }) => ({
    protocolVersion: SUPPORTED_PROTOCOL_VERSIONS.includes(asked) ? asked : LATEST_PROTOCOL_VERSION,
    capabilities: { tools: {} },
    serverInfo: { name: 'parley', version: caller.version },
  }));
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: [...listTools(caller.tools()), ...caller.others.list()],
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal }) => {
    const { name, arguments: given } = params;
    try {
      const [answer, offset] = await answerTo(caller, name, given ?? {}, signal);
      return { content: [{ type: 'text', text: pageOf(answer, offset) }], isError: answer.failed === true };
    } catch (error) {
      const summary = error instanceof Error ? error.message : String(error);
      return { content: [{ type: 'text', text: pageOf({ summary }) }], isError: true };
    }
  });
  await server.connect(transport);
}
