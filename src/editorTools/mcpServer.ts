// The MCP server of one session. Loaded when the first agent connects.

import type { Socket } from 'node:net';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { Protocol } from '@modelcontextprotocol/sdk/shared/protocol.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  CallToolRequestSchema,
  InitializeRequestSchema,
  LATEST_PROTOCOL_VERSION,
  ListToolsRequestSchema,
  type Notification,
  type Request,
  type Result,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/sdk/types.js';
import { pageOf } from './answer';
import type { ToolCaller } from './toolCaller';
import { isToolName, listTools, readArgs } from './tools';

/** Bytes of one message; arguments are short. */
const MAX_MESSAGE = 256 * 1024;

/** Speaks MCP on a socket, until that is closed. */
export async function serveSocket(caller: ToolCaller, socket: Socket): Promise<void> {
  const transport = new StdioServerTransport(socket, socket, { maxBufferSize: MAX_MESSAGE });
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

/** Connects an MCP client to the tools of its session. */
export async function connectTools(caller: ToolCaller, transport: Transport): Promise<void> {
  const server = new ToolServer();
  server.setRequestHandler(InitializeRequestSchema, ({ params: { protocolVersion: asked } }) => ({
    protocolVersion: SUPPORTED_PROTOCOL_VERSIONS.includes(asked) ? asked : LATEST_PROTOCOL_VERSION,
    capabilities: { tools: {} },
    serverInfo: { name: 'parley', version: caller.version },
  }));
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: listTools(caller.tools()) }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal }) => {
    const { name, arguments: given } = params;
    try {
      if (!isToolName(name) || !caller.tools().includes(name)) throw new Error(`There is no tool ${name}.`);
      const args = readArgs(name, given);
      const answer = await caller.call(name, args, signal);
      const { offset = 0 } = args as { readonly offset?: number };
      return { content: [{ type: 'text', text: pageOf(answer, offset) }], isError: answer.failed === true };
    } catch (error) {
      const summary = error instanceof Error ? error.message : String(error);
      return { content: [{ type: 'text', text: pageOf({ summary }) }], isError: true };
    }
  });
  await server.connect(transport);
}
