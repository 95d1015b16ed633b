// An agent on the official SDK: what it sends and accepts is decided there, by its parsers and its
// dispatch, and not by what this project believes of the protocol. Its sessions live in a file, so
// that another process can load them.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { Readable, Writable } from 'node:stream';
import {
  type AgentContext,
  agent,
  methods,
  ndJsonStream,
  PROTOCOL_VERSION,
  type PromptRequest,
  type PromptResponse,
  RequestError,
  type SessionUpdate,
} from '@agentclientprotocol/sdk';

interface Session {
  readonly cwd: string;
  readonly said: { readonly role: 'user' | 'agent'; readonly text: string }[];
}

const store = process.argv[2] ?? '';
const sessions = new Map<string, Session>(
  existsSync(store) ? (JSON.parse(readFileSync(store, 'utf8')) as [string, Session][]) : [],
);
const running = new Map<string, AbortController>();

function save(): void {
  writeFileSync(store, JSON.stringify([...sessions]));
}

function sessionOf(sessionId: string): Session {
  const session = sessions.get(sessionId);
  if (!session) throw RequestError.resourceNotFound(sessionId);
  return session;
}

class Turn {
  readonly #client: AgentContext;
  readonly #sessionId: string;
  readonly #signal: AbortSignal;

  constructor(client: AgentContext, sessionId: string, signal: AbortSignal) {
    this.#client = client;
    this.#sessionId = sessionId;
    this.#signal = signal;
  }

  async update(update: SessionUpdate): Promise<void> {
    await this.#client.notify(methods.client.session.update, { sessionId: this.#sessionId, update });
  }

  async say(text: string): Promise<void> {
    sessionOf(this.#sessionId).said.push({ role: 'agent', text });
    await this.update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } });
  }

  async play(line: string): Promise<void> {
    const [command = '', ...rest] = line.split(' ');
    const argument = rest.join(' ');
    const sessionId = this.#sessionId;
    switch (command) {
      case 'say':
        return this.say(argument);
      case 'permission': {
        const { outcome } = await this.#client.request(methods.client.session.requestPermission, {
          sessionId,
          toolCall: { toolCallId: 'p1', title: 'Delete everything' },
          options: [
            { optionId: 'yes', name: 'Allow', kind: 'allow_once' },
            { optionId: 'no', name: 'Reject', kind: 'reject_once' },
          ],
        });
        return this.say(outcome.outcome === 'selected' ? outcome.optionId : outcome.outcome);
      }
      case 'read': {
        const { content } = await this.#client.request(methods.client.fs.readTextFile, { sessionId, path: argument });
        return this.say(content);
      }
      case 'wait':
        await this.say('waiting');
        return new Promise((resolve) => this.#signal.addEventListener('abort', () => resolve(), { once: true }));
      case 'fail':
        throw RequestError.internalError({ reason: argument });
      default:
        throw RequestError.invalidParams({ command });
    }
  }
}

async function prompt({ sessionId, prompt: blocks }: PromptRequest, client: AgentContext): Promise<PromptResponse> {
  const text = blocks.map((block) => (block.type === 'text' ? block.text : '')).join('');
  sessionOf(sessionId).said.push({ role: 'user', text });
  const abort = new AbortController();
  running.set(sessionId, abort);
  const turn = new Turn(client, sessionId, abort.signal);
  try {
    for (const line of text.split('\n')) await turn.play(line);
    return { stopReason: abort.signal.aborted ? 'cancelled' : 'end_turn' };
  } finally {
    running.delete(sessionId);
    save();
  }
}

const app = agent({ name: 'SDK agent' })
  .onRequest(methods.agent.initialize, () => ({
    protocolVersion: PROTOCOL_VERSION,
    agentInfo: { name: 'sdk-agent', version: '1.0.0' },
    agentCapabilities: { loadSession: true, sessionCapabilities: { list: {} } },
  }))
  .onRequest(methods.agent.session.new, ({ params: { cwd } }) => {
    const sessionId = `sdk-${sessions.size + 1}`;
    sessions.set(sessionId, { cwd, said: [] });
    save();
    return { sessionId };
  })
  .onRequest(methods.agent.session.load, async ({ params: { sessionId }, client }) => {
    const session = sessionOf(sessionId);
    for (const { role, text } of session.said) {
      await client.notify(methods.client.session.update, {
        sessionId,
        update: {
          sessionUpdate: role === 'user' ? 'user_message_chunk' : 'agent_message_chunk',
          content: { type: 'text', text },
        },
      });
    }
    return {};
  })
  .onRequest(methods.agent.session.list, () => ({
    sessions: [...sessions].map(([sessionId, { cwd }]) => ({ sessionId, cwd })),
  }))
  .onRequest(methods.agent.session.prompt, ({ params, client }) => prompt(params, client))
  .onNotification(methods.agent.session.cancel, ({ params: { sessionId } }) => running.get(sessionId)?.abort());

const output = Writable.toWeb(process.stdout) as WritableStream<Uint8Array>;
const input = Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>;
await app.connect(ndJsonStream(output, input)).closed;
