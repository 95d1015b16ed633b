// Agents for tests of the Agent Communication Protocol: those of the recorded exchanges, and a
// server that offers them on a free port.

import { randomBytes } from 'node:crypto';
import { ParleyError } from '../../../src/base/errors';
import { CommunicationSession } from '../../../src/distributed/client/communicationSession';
import {
  type Message,
  type MessagePart,
  mintId,
  readMessage,
  type SessionDescriptor,
  textPart,
} from '../../../src/distributed/model/model';
import { AgentServer, type AgentServerOptions } from '../../../src/distributed/server/agentServer';
import type {
  PastMessage,
  RunEmitter,
  ServedAgent,
  ServedRunContext,
} from '../../../src/distributed/server/servedAgent';
import { mintToken } from '../../../src/distributed/server/serverRequest';
import { SessionFiles } from '../../../src/distributed/server/serverSessionFiles';
import { LocalStore } from '../../../src/distributed/stores/localStore';
import { scratchFolder } from '../scratch';
import { SyncClient } from './syncClient';

type Work = (
  input: readonly Message[],
  out: RunEmitter,
  context: ServedRunContext,
  signal: AbortSignal,
) => Promise<void>;

export function agentOf(name: string, work: Work): ServedAgent {
  return {
    name,
    description: `The agent ${name} of the tests.`,
    inputContentTypes: ['*/*'],
    outputContentTypes: ['*/*'],
    run: (input, context, out, signal) => work(input, out, context, signal),
  };
}

export function textIn(message: Message): string {
  return message.parts.map((part) => part.content ?? '').join('');
}

export const echo = agentOf('echo', async (input, out) => {
  for (const message of input) out.message(message.parts);
});

export const awaiting = agentOf('awaiting', async (_input, out) => {
  const answer = await out.ask([textPart('Proceed?')]);
  out.part(textPart(`resumed with: ${textIn(answer)}`));
});

export const failing = agentOf('failing', async (_input, out) => {
  out.part(textPart('partial'));
  throw new ParleyError('invalid-input', 'bad input');
});

export const artifact = agentOf('artifact', async (_input, out) => {
  out.generic({ thought: 'thinking' });
  out.part(textPart('Here: '));
  out.part({ name: '/a.txt', content_type: 'text/plain', content: 'ZGF0YQ==', content_encoding: 'base64' });
});

export const endless = agentOf('endless', async (_input, out, _context, signal) => {
  out.part(textPart('a '));
  await new Promise((_resolve, reject) => {
    const stop = (): void => reject(signal.reason);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop);
  });
});

export const historyEcho = agentOf('history_echo', async (input, out, context, signal) => {
  for (const entry of await context.history(signal)) {
    out.message(entry.kind === 'message' ? entry.message.parts : [textPart(`[${entry.reason}]`)]);
  }
  for (const message of input) out.message(message.parts);
});

export const slowWords = agentOf('slow_words', async (_input, out) => {
  for (const word of ['a ', 'b ']) {
    await new Promise((resolve) => setImmediate(resolve));
    out.part(textPart(word));
  }
});

export interface RunningServer {
  readonly server: AgentServer;
  readonly store: LocalStore;
  readonly token: string;
  readonly baseUrl: string;
  readonly client: SyncClient;
}

const running: AgentServer[] = [];

export async function serve(
  agents: readonly ServedAgent[],
  options: Partial<AgentServerOptions> = {},
  port = 0,
): Promise<RunningServer> {
  const token = options.token ?? mintToken();
  const store = new LocalStore({
    folder: await scratchFolder(),
    secret: randomBytes(32),
    baseUrl: () => server.baseUrl,
  });
  const server: AgentServer = new AgentServer({
    agents: () => agents,
    token,
    stores: async () => [store],
    sessions: new SessionFiles({ folder: await scratchFolder() }),
    serveResource: (id, exp, sig, signal) => store.serve(id, exp, sig, signal),
    history: (session, signal) => fetchPast(session.history, signal),
    withTexts: async (messages) => messages,
    state: (url, signal) =>
      fetch(url, { signal }).then(
        async (answer) => (answer.ok ? new Uint8Array(await answer.arrayBuffer()) : `status ${answer.status}`),
        () => 'unreachable',
      ),
    ...options,
  });
  running.push(server);
  const baseUrl = await server.start(port);
  return { server, store, token, baseUrl, client: clientOf(baseUrl, token) };
}

export function clientOf(baseUrl: string, token: string): SyncClient {
  return new SyncClient({ baseUrl, headers: () => ({ authorization: `Bearer ${token}` }) });
}

export async function stopServers(): Promise<void> {
  await Promise.all(running.splice(0).map((server) => server.stop()));
}

export async function fetchPast(history: readonly string[], signal: AbortSignal): Promise<readonly PastMessage[]> {
  return Promise.all(
    history.map(async (url): Promise<PastMessage> => {
      try {
        const response = await fetch(url, { signal });
        return { kind: 'message', message: readMessage(await response.json()) };
      } catch {
        return { kind: 'gap', reason: 'unreachable' };
      }
    }),
  );
}

export function userMessage(text: string): Message {
  return { role: 'user', parts: [textPart(text)] };
}

export function part(fields: Partial<MessagePart>): MessagePart {
  return { content_type: 'text/plain', content_encoding: 'plain', ...fields };
}

/**
 * Another client that sent a message after a descriptor, unknown to the others, and continues from
 * there with {@link echo}.
 * @returns says something there
 */
export function rivalOf(
  { client, store }: RunningServer,
  descriptor: SessionDescriptor,
): (text: string) => Promise<unknown> {
  let session: CommunicationSession | undefined;
  return async (text) => {
    const signal = AbortSignal.timeout(30_000);
    if (!session) {
      const key = `elsewhere/${mintId()}.json`;
      const { sha256 } = await store.put(
        key,
        Buffer.from(JSON.stringify(userMessage('aside'))),
        'application/json',
        signal,
      );
      const history = [...descriptor.history, await store.urlFor(key, { expiresIn: 3600, sha256 })];
      const past = { descriptor: { ...descriptor, history } };
      session = new CommunicationSession({
        endpoint: { client, agentName: echo.name },
        past,
        emit: () => {},
        now: Date.now,
      });
    }
    return session.send([{ type: 'text', text }], signal);
  };
}
