// An agent inside the process of a test, whose wire the test writes: its answers by method, and
// whatever it says besides.
import { createInterface } from 'node:readline';
import { type AgentDefinition, parseAgents } from '../../../src/agents/agentDefinition';
import { Deferred } from '../../../src/base/deferred';
import { at } from '../../../src/base/untrusted';
import type { SessionOpenStrategy } from '../../../src/client/connection/sessionOpenStrategy';
import type { ConversationServices } from '../../../src/client/conversation/conversationOptions';
import type { ProcessStarter } from '../../../src/client/transport/agentTransport';
import { removeScratch, scratchFolder } from '../scratch';
import { type TestConversation, testConversation } from '../sessions/conversation';
import { startProgram } from '../sessions/memoryAgents';
import type { AgentProgram } from './program';

export class Refusal {
  readonly error: { readonly code: number; readonly message: string; readonly data?: unknown };

  constructor(code: number, message = 'refused', data?: unknown) {
    this.error = { code, message, ...(data !== undefined && { data }) };
  }
}

type Answer = (params: unknown, agent: InlineAgent, id: unknown) => unknown;

export interface Received {
  readonly method: string;
  readonly params: unknown;
}

export class InlineAgent {
  readonly received: Received[] = [];
  readonly answers: Record<string, Answer>;
  readonly start: ProcessStarter = (options) => startProgram((program) => this.#run(program), options);
  readonly #waiting = new Map<number, Deferred<unknown>>();
  #early: object[] = [];
  #program: AgentProgram | undefined;
  readonly #version: 1 | 2;

  constructor(capabilities: object, version: 1 | 2 = 1) {
    this.#version = version;
    const info = { name: 'inline', version: '1' };
    const initialize = version === 1 ? { agentInfo: info, agentCapabilities: capabilities } : { info, capabilities };
    this.answers = {
      initialize: () => ({ protocolVersion: version, ...initialize }),
      'session/new': () => ({ sessionId: 's1' }),
      'session/prompt': () => ({ stopReason: 'end_turn' }),
    };
  }

  get definition(): AgentDefinition {
    const entry = { name: 'Inline', command: process.execPath, protocol: this.#version };
    const [agent] = parseAgents({ inline: entry }).agents;
    return agent as AgentDefinition;
  }

  get methods(): string[] {
    return this.received.map(({ method }) => method);
  }

  get prompts(): string[] {
    return this.received
      .filter(({ method }) => method === 'session/prompt')
      .map(({ params }) => JSON.stringify(at(params, 'prompt')));
  }

  update(sessionId: string, sessionUpdate: object | string): void {
    this.#write(updateOf(sessionId, sessionUpdate));
  }

  updateEarly(sessionId: string, sessionUpdate: object | string): void {
    this.#early.push(updateOf(sessionId, sessionUpdate));
  }

  ask(id: number, method: string, params: object): Promise<unknown> {
    const asked = this.#awaits(id);
    this.#write({ id, method, params });
    return asked;
  }

  askEarly(id: number, method: string, params: object): Promise<unknown> {
    this.#early.push({ id, method, params });
    return this.#awaits(id);
  }

  answer(id: unknown, outcome: unknown): void {
    const answer = outcome instanceof Refusal ? { error: outcome.error } : { result: outcome };
    this.#write(...this.#early.splice(0), { id, ...answer });
  }

  exit(): void {
    this.#program?.exit(1);
  }

  #awaits(id: number): Promise<unknown> {
    const answer = new Deferred<unknown>();
    this.#waiting.set(id, answer);
    return answer.promise;
  }

  #run(program: AgentProgram): void {
    this.#program = program;
    createInterface({ input: program.stdin }).on('line', (line) => {
      const message: unknown = JSON.parse(line);
      const [id, method, params] = [at(message, 'id'), at(message, 'method'), at(message, 'params')];
      if (typeof method !== 'string') {
        this.#waiting.get(Number(id))?.resolve(at(message, 'result') ?? at(message, 'error'));
        return;
      }
      this.received.push({ method, params });
      const known = this.answers[method];
      const outcome = known ? known(params, this, id) : new Refusal(-32601);
      if (id !== undefined && outcome !== undefined) this.answer(id, outcome);
    });
  }

  #write(...messages: readonly object[]): void {
    const lines = messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    this.#program?.stdout.write(lines.join(''));
  }
}

function updateOf(sessionId: string, sessionUpdate: object | string): object {
  const update =
    typeof sessionUpdate === 'string'
      ? { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: sessionUpdate } }
      : sessionUpdate;
  return { method: 'session/update', params: { sessionId, update } };
}

export type OpenInline = (
  agent: InlineAgent,
  opening?: SessionOpenStrategy,
  services?: Partial<ConversationServices>,
) => Promise<TestConversation>;

/** Opens conversations with such agents, and closes them after each test. */
export function useInlineAgents(): OpenInline {
  const opened: TestConversation[] = [];
  afterEach(async () => {
    for (const one of opened.splice(0)) await one.close();
    await removeScratch();
  });
  return async (agent, opening, services) => {
    const cwd = await scratchFolder();
    const one = testConversation({
      agent: agent.definition,
      cwd,
      services: { startProcess: agent.start, ...services },
      ...(opening && { opening }),
    });
    opened.push(one);
    return one;
  };
}
