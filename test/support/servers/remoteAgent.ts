// A remote agent in this process: the official SDK's own server, over streamable HTTP and WebSocket
// on one free port of the loopback, with a small agent behind it.
import { createServer, type IncomingMessage } from 'node:http';
import { createNodeHttpHandler, createNodeWebSocketUpgradeHandler } from '@agentclientprotocol/sdk/experimental/node';
import { AcpServer } from '@agentclientprotocol/sdk/experimental/server';
import { type WebSocket, WebSocketServer } from 'ws';
import { listening } from './loopback';

type Json = Record<string, unknown>;

export interface RemoteAgentServer {
  readonly http: string;
  readonly ws: string;
  readonly requests: readonly IncomingMessage[];
  readonly received: readonly Json[];
  readonly sessions: ReadonlyMap<string, readonly string[]>;
  drop(): void;
  close(): Promise<void>;
}

export interface RemoteAgentOptions {
  readonly capabilities?: Json;
  readonly refuse?: (request: IncomingMessage) => number | undefined;
}

export async function serveAgent({
  refuse,
  capabilities = { loadSession: true },
}: RemoteAgentOptions = {}): Promise<RemoteAgentServer> {
  const requests: IncomingMessage[] = [];
  const received: Json[] = [];
  const sessions = new Map<string, string[]>();
  const acp = new AcpServer({
    createAgent: () => ({ connect: (stream) => runAgent(stream, capabilities, received, sessions) }),
  });
  const handle = createNodeHttpHandler(acp);
  const server = createServer((request, response) => {
    requests.push(request);
    const status = refuse?.(request);
    if (status === undefined) handle(request, response);
    else response.writeHead(status).end('no');
  });
  const webSockets = new WebSocketServer({ noServer: true });
  const upgrade = createNodeWebSocketUpgradeHandler(acp, webSockets);
  server.on('upgrade', (request, socket, head) => {
    requests.push(request);
    const status = refuse?.(request);
    if (status === undefined) upgrade(request, socket, head);
    else socket.end(`HTTP/1.1 ${status} No\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
  });
  const { host, sockets, close } = await listening(server);
  return {
    http: `http://${host}/acp`,
    ws: `ws://${host}/acp`,
    requests,
    received,
    sessions,
    drop() {
      for (const socket of sockets) socket.destroy();
    },
    async close() {
      for (const socket of webSockets.clients as Set<WebSocket>) socket.terminate();
      await acp.close();
      await close();
    },
  };
}

interface AgentStream {
  readonly readable: ReadableStream<unknown>;
  readonly writable: WritableStream<never>;
}

/**
 * An agent as plain messages, so that it can also do what the SDK's agents do not: speak of a
 * session before it is named.
 */
async function runAgent(
  stream: AgentStream,
  agentCapabilities: Json,
  received: Json[],
  sessions: Map<string, string[]>,
): Promise<void> {
  const writer = stream.writable.getWriter();
  const say = (message: Json): Promise<void> => writer.write({ jsonrpc: '2.0', ...message } as never);
  const update = (sessionId: string, text: string): Promise<void> =>
    say({
      method: 'session/update',
      params: { sessionId, update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } } },
    });
  const waiting = new Map<unknown, (answer: Json) => void>();
  let asked = 0;
  const ask = (method: string, params: Json): Promise<Json> => {
    const id = `ask-${++asked}`;
    void say({ id, method, params });
    return new Promise((resolve) => waiting.set(id, resolve));
  };
  const turn = async (id: unknown, sessionId: string, text: string): Promise<void> => {
    const said = sessions.get(sessionId) ?? [];
    let reply = `You said ${text}.`;
    if (text === 'permission') {
      const { result } = await ask('session/request_permission', {
        sessionId,
        toolCall: { toolCallId: 't1', title: 'Look' },
        options: [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }],
      });
      reply = `Answer ${JSON.stringify(result)}`;
    } else if (text.startsWith('read ')) {
      const { error, result } = await ask('fs/read_text_file', { sessionId, path: text.slice(5) });
      reply = `Read ${JSON.stringify(error ? (error as Json).code : (result as Json).content)}`;
    } else if (text === 'run') {
      const { error } = await ask('terminal/create', { sessionId, command: 'true' });
      reply = `Ran ${JSON.stringify(error ? (error as Json).code : 'it')}`;
    }
    for (const piece of reply.match(/.{1,7}/gs) ?? []) await update(sessionId, piece);
    said.push(reply);
    await say({ id, result: { stopReason: 'end_turn' } });
  };
  const answer = async ({ id, method, params, ...rest }: Json): Promise<void> => {
    const { sessionId = '', prompt } = (params ?? {}) as { sessionId?: string; prompt?: { text?: string }[] };
    switch (method) {
      case undefined:
        waiting.get(id)?.(rest);
        break;
      case 'initialize':
        await say({ id, result: { protocolVersion: 1, agentCapabilities, authMethods: [] } });
        break;
      case 'session/new': {
        const name = `remote-${sessions.size + 1}`;
        sessions.set(name, []);
        await update(name, 'Early. ');
        await say({ id, result: { sessionId: name } });
        break;
      }
      case 'session/load': {
        const said = sessions.get(sessionId);
        for (const text of said ?? []) await update(sessionId, text);
        await say(said ? { id, result: {} } : { id, error: { code: -32002, message: 'No such session' } });
        break;
      }
      case 'session/status':
        await say({ id, result: { status: sessions.has(sessionId) ? 'live' : 'not_found' } });
        break;
      case 'session/prompt':
        void turn(id, sessionId, prompt?.[0]?.text ?? '');
        break;
      default:
        if (id !== undefined) await say({ id, error: { code: -32601, message: 'Method not found' } });
    }
  };
  try {
    for await (const message of stream.readable) {
      received.push(message as Json);
      await answer(message as Json);
    }
  } catch {
    // The connection is closed; so this agent ends.
  }
}
