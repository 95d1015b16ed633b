// Starts agents of a few lines as processes, and exchanges messages with them.
import { RpcConnection, type RpcHandlers } from '../../../src/acp/jsonrpc/rpcConnection';
import { hostEnvironment } from '../../../src/agents/agentEnvironment';
import { AgentProcess, type StartOptions } from '../../../src/agents/agentProcess';
import { Deferred } from '../../../src/base/deferred';
import { silentLog } from '../../../src/base/log';
import { removeScratch } from '../../support/scratch';

const started: AgentProcess[] = [];

export async function start(script: string, options: Partial<StartOptions> = {}): Promise<AgentProcess> {
  const agent = await AgentProcess.start({
    command: process.execPath,
    args: ['-e', script],
    env: hostEnvironment(process.env),
    cwd: process.cwd(),
    log: silentLog,
    ...options,
  });
  started.push(agent);
  return agent;
}

/** Returns stdout until its end, as text. */
export function output(agent: AgentProcess): Promise<string> {
  const chunks: Uint8Array[] = [];
  const ended = new Deferred<string>();
  agent.transport.listen({
    data: (chunk) => chunks.push(chunk),
    closed: () => ended.resolve(Buffer.concat(chunks).toString()),
  });
  return ended.promise;
}

export function firstLine(agent: AgentProcess): Promise<string> {
  let text = '';
  const line = new Deferred<string>();
  agent.transport.listen({
    data: (chunk) => {
      text += Buffer.from(chunk).toString();
      if (text.includes('\n')) line.resolve(text.slice(0, text.indexOf('\n')));
    },
    closed: () => line.reject(new Error('stdout ended')),
  });
  return line.promise;
}

export interface Talk {
  readonly rpc: RpcConnection;
  readonly noise: string[];
  readonly closed: Promise<string | undefined>;
}

export function connect(agent: AgentProcess, handlers: Partial<RpcHandlers> = {}): Talk {
  const noise: string[] = [];
  const closed = new Deferred<string | undefined>();
  const rpc = new RpcConnection({
    transport: agent.transport,
    log: silentLog,
    handlers: { onUpdates() {}, onRequest: async () => null, onNotification() {}, ...handlers },
    onNoise: (line) => noise.push(line),
  });
  rpc.onDidClose((error) => closed.resolve(error?.code));
  return { rpc, noise, closed: closed.promise };
}

/** Answers every request with its own params. */
export const echo = `
require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, params } = JSON.parse(line);
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result: params }) + '\\n');
});`;

/** Call in `afterEach`. */
export async function closeAgents(): Promise<void> {
  for (const agent of started.splice(0)) await agent.close();
  await removeScratch();
}
