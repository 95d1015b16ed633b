// A chat with an HTTP agent without a window around it, and what tests look at on both sides of it.
import { CommunicationClient } from '../../../../src/distributed/client/communicationClient';
import {
  type AgentEndpoint,
  CommunicationSession,
  type CommunicationSessionOptions,
} from '../../../../src/distributed/client/communicationSession';
import type { Fork } from '../../../../src/distributed/client/handOver';
import type { HistoryLinks } from '../../../../src/distributed/fetch/historyLinks';
import { type Message, mintId, type SessionDescriptor } from '../../../../src/distributed/model/model';
import type { SessionEvent } from '../../../../src/session/events/event';
import { removeScratch } from '../../../support/scratch';
import {
  awaiting,
  echo,
  endless,
  failing,
  fetchPast,
  historyEcho,
  type RunningServer,
  stopServers,
  textIn,
} from '../../../support/servers/servedAgents';
import {
  json,
  type StubRequest,
  type StubServer,
  sse,
  stopStubs,
  stubServer,
} from '../../../support/servers/stubServer';

const signal = new AbortController().signal;
export const AGENTS = [echo, awaiting, endless, failing, historyEcho];

export interface Bench {
  readonly session: CommunicationSession;
  readonly events: SessionEvent[];
  readonly held: () => readonly Message[];
  readonly forks: Fork[];
}

export function begin(
  place: AgentEndpoint,
  { descriptor, ...options }: Partial<CommunicationSessionOptions> & { readonly descriptor?: SessionDescriptor } = {},
): Bench {
  const events: SessionEvent[] = [];
  const forks: Fork[] = [];
  const session = new CommunicationSession({
    endpoint: place,
    past: { descriptor: descriptor ?? { id: mintId(), history: [] } },
    links: plainLinks,
    emit: (event) => events.push(event),
    onDidFork: (fork) => forks.push(fork),
    now: () => 0,
    follow: { retryMs: [1, 1], pollMs: 1 },
    ...options,
  });
  const held = (): readonly Message[] => session.kept.held?.map(({ message }) => message) ?? [];
  return { session, events, held, forks };
}

export const plainLinks: HistoryLinks = {
  fresh: async (url) => url,
  read: async (url) => {
    const [past] = await fetchPast([url], signal);
    return past?.kind === 'message' ? past.message : 'It is not there.';
  },
  whyUnreadable: async (url) => {
    const [past] = await fetchPast([url], signal);
    return past?.kind === 'message' ? undefined : 'It is not there.';
  },
};

export const at = ({ client }: { client: CommunicationClient }, agentName: string): AgentEndpoint => ({
  client,
  agentName,
});

/**
 * A client whose requests fail without reaching the server while `isDown`.
 * @param only requests of this method fail; absent: all
 */
export function flakyClient(
  { baseUrl, token = '' }: { readonly baseUrl: string; readonly token?: string },
  only?: string,
) {
  /** `posts`: the bodies of POST requests that got through. */
  const state = { isDown: false, posts: [] as string[] };
  const client = new CommunicationClient({
    baseUrl,
    headers: () => ({ authorization: `Bearer ${token}` }),
    fetch: (url, init) => {
      if (state.isDown && (only ?? init.method) === init.method) return Promise.reject(new TypeError('fetch failed'));
      if (init.method === 'POST') state.posts.push(String(init.body));
      return fetch(url, init);
    },
  });
  return Object.assign(state, { client });
}

export const prompt = (text: string) => [{ type: 'text' as const, text }];

export function answers(events: readonly SessionEvent[]): string[] {
  const byId = new Map<string, string>();
  for (const event of events) {
    if (event.type !== 'message_chunk' || event.block.type !== 'text') continue;
    const id = event.messageId ?? '';
    byId.set(id, (byId.get(id) ?? '') + event.block.text);
  }
  return [...byId.values()];
}

export const notices = (events: readonly SessionEvent[]) =>
  events.flatMap((event) => (event.type === 'notice' ? [event.said?.code ?? event.title] : []));

export async function pastOf({ history }: SessionDescriptor): Promise<string[]> {
  const past = await fetchPast(history, signal);
  return past.map((entry) => (entry.kind === 'message' ? textIn(entry.message) : `[${entry.reason}]`));
}

export const messagesIn = async ({ store }: RunningServer) => (await store.list('sessions/', signal)).length;

export async function oneWordServer(
  session: (request: StubRequest) => SessionDescriptor | undefined,
  end: 'completed' | 'failed' = 'completed',
): Promise<{
  stub: StubServer;
  place: AgentEndpoint;
  bodies: () => { session?: SessionDescriptor; session_id?: string; input?: Message[] }[];
}> {
  const stub = await stubServer((request, response) => {
    if (request.method === 'GET') {
      const found = session(request);
      if (found) json(response, 200, found);
      else json(response, 404, { code: 'not_found', message: 'Session not found' });
      return;
    }
    const run = {
      run_id: mintId(),
      agent_name: 'a',
      status: end,
      output: [{ role: 'agent/a', parts: [{ content: 'word' }] }],
    };
    const error = end === 'failed' ? { code: 'server_error', message: 'broke' } : null;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(sse([{ type: `run.${end}`, run: { ...run, error } }]));
  });
  return {
    stub,
    place: { client: new CommunicationClient({ baseUrl: stub.baseUrl }), agentName: 'a' },
    bodies: () => stub.requests.flatMap(({ body }) => (body === undefined ? [] : [body as { session_id?: string }])),
  };
}

export async function closeChats(): Promise<void> {
  await stopServers();
  await stopStubs();
  await removeScratch();
}
