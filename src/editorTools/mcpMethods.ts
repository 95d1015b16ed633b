// The methods of MCP that a server of nothing but tools has, answered for one session. The SDK's
// server brings prompts, resources, forms, tasks and their schemas, 20 KB of the package, for these
// four (modelcontextprotocol.io/specification/2025-11-25).

import * as z from 'zod/mini';
import { messageOf } from '../base/errors';
import { pageOf, type ToolAnswer } from './answer';
import type { ToolCaller } from './toolCaller';
import { hasPages, isToolName, listTools, readArgs } from './tools';

/** What a request came to. */
export type McpOutcome =
  | { readonly result: unknown }
  | { readonly error: { readonly code: number; readonly message: string; readonly data?: unknown } };

/** The versions in which these methods are the same, newest first. */
const VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07'];

const METHOD_NOT_FOUND = -32_601;
const INVALID_PARAMS = -32_602;
const INTERNAL_ERROR = -32_603;

const initializeParams = z.object({ protocolVersion: z.string() });
const callParams = z.object({
  name: z.string(),
  arguments: z.optional(z.record(z.string(), z.unknown())),
});

/** Answers a request of an MCP client. Does not throw. */
export async function answerMcp(
  caller: ToolCaller,
  method: string,
  params: unknown,
  signal: AbortSignal,
): Promise<McpOutcome> {
  try {
    return await outcomeOf(caller, method, params, signal);
  } catch (error) {
    return { error: { code: INTERNAL_ERROR, message: messageOf(error) } };
  }
}

async function outcomeOf(
  caller: ToolCaller,
  method: string,
  params: unknown,
  signal: AbortSignal,
): Promise<McpOutcome> {
  switch (method) {
    case 'initialize': {
      const { data } = initializeParams.safeParse(params);
      return data ? { result: initialized(caller, data.protocolVersion) } : invalid(method);
    }
    case 'ping':
      return { result: {} };
    case 'tools/list':
      return { result: { tools: [...listTools(caller.tools()), ...caller.others.list()] } };
    case 'tools/call': {
      const { data } = callParams.safeParse(params);
      return data ? { result: await called(caller, data.name, data.arguments ?? {}, signal) } : invalid(method);
    }
    default:
      return { error: { code: METHOD_NOT_FOUND, message: 'Method not found' } };
  }
}

function invalid(method: string): McpOutcome {
  return { error: { code: INVALID_PARAMS, message: `Invalid params of ${method}` } };
}

function initialized({ version }: ToolCaller, asked: string) {
  return {
    protocolVersion: VERSIONS.includes(asked) ? asked : VERSIONS[0],
    capabilities: { tools: {} },
    serverInfo: { name: 'parley', version },
  };
}

/** What goes wrong in a tool is told to the model. */
async function called(
  caller: ToolCaller,
  name: string,
  args: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<unknown> {
  try {
    const [answer, offset] = await answerTo(caller, name, args, signal);
    return { content: [{ type: 'text', text: pageOf(answer, offset) }], isError: answer.failed === true };
  } catch (error) {
    return { content: [{ type: 'text', text: pageOf({ summary: messageOf(error) }) }], isError: true };
  }
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
