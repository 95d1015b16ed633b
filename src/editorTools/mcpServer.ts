// The MCP server of one session. Loaded when the first agent connects.

import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { CallToolRequestSchema, type CallToolResult, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import type { jsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/types.js';
import { messageOf } from '../base/errors';
import { pageOf, type ToolAnswer } from './answer';
import type { ToolCaller } from './toolCaller';
import { hasPages, isToolName, listTools, readArgs } from './tools';

/** The SDK's default validator takes 10 ms per connection. */
const NO_FORMS: jsonSchemaValidator = {
  getValidator: () => {
    throw new Error('This server sends no forms.');
  },
};

export async function serveTools(caller: ToolCaller, transport: Transport): Promise<void> {
  const server = new Server(
    { name: 'parley', version: caller.version },
    {
      capabilities: { tools: {} },
      jsonSchemaValidator: NO_FORMS,
    },
  );
  server.setRequestHandler(ListToolsRequestSchema, () => {
    const tools = [...listTools(caller.tools()), ...caller.others.list()];
    caller.listed?.(tools.length);
    return { tools };
  });
  server.setRequestHandler(CallToolRequestSchema, ({ params }, { signal }) =>
    callTool(caller, params.name, params.arguments ?? {}, signal),
  );
  await server.connect(transport);
}

async function callTool(
  caller: ToolCaller,
  name: string,
  args: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<CallToolResult> {
  try {
    const [answer, offset] = await answerTo(caller, name, args, signal);
    return { content: [{ type: 'text', text: pageOf(answer, offset) }], isError: answer.failed === true };
  } catch (error) {
    return { content: [{ type: 'text', text: pageOf({ summary: messageOf(error) }) }], isError: true };
  }
}

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
