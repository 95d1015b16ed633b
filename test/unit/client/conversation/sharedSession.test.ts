// Tests a session with two clients, both of which receive all updates.
import { strict as assert } from 'node:assert';
import { createInterface } from 'node:readline';
import { Emitter } from '../../../../src/base/event';
import { at } from '../../../../src/base/untrusted';
import type { AgentProgram } from '../../../support/agents/program';
import { removeScratch, scratchFolder } from '../../../support/scratch';
import {
  parseAgent,
  stopReasons,
  type TestConversation,
  testConversation,
} from '../../../support/sessions/conversation';
import { startProgram } from '../../../support/sessions/memoryAgents';

class SharedAgent {
  readonly #prompts = new Map<string, { readonly id: unknown; readonly from: AgentProgram }>();
  readonly #arrived = new Emitter<string>(() => undefined);
  readonly #programs = new Set<AgentProgram>();

  run(program: AgentProgram): void {
    this.#programs.add(program);
    createInterface({ input: program.stdin }).on('line', (line) => {
      const message: unknown = JSON.parse(line);
      const [id, method] = [at(message, 'id'), at(message, 'method')];
      if (method === 'session/prompt') {
        const text = String(at(message, 'params', 'prompt', '0', 'text'));
        this.#prompts.set(text, { id, from: program });
        this.#arrived.fire(text);
      } else if (id !== undefined) this.#write(program, { id, result: this.#answer(method) });
    });
  }

  /** Resolves when a prompt with this text has arrived. */
  arrival(text: string): Promise<void> {
    return new Promise((resolve) => this.#arrived.event((one) => one === text && resolve()));
  }

  say(text: string): void {
    this.#tell({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } });
  }

  end(text: string): void {
    const prompt = this.#prompts.get(text);
    if (!prompt) throw new Error(`no prompt ${text}`);
    this.#tell({ sessionUpdate: 'turn_complete', promptRequestId: String(prompt.id), stopReason: 'end_turn' });
    this.#write(prompt.from, { id: prompt.id, result: { stopReason: 'end_turn' } });
  }

  #answer(method: unknown): object {
    if (method !== 'initialize') return { sessionId: 'shared' };
    return { protocolVersion: 1, agentCapabilities: { sessionCapabilities: { turnComplete: {} } } };
  }

  #tell(update: object): void {
    for (const one of this.#programs)
      this.#write(one, { method: 'session/update', params: { sessionId: 'shared', update } });
  }

  #write(program: AgentProgram, message: object): void {
    program.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }
}

describe('a session of two clients', () => {
  const clients: TestConversation[] = [];

  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.close()));
    await removeScratch();
  });

  it("keeps a turn open at the end of the other client's turn, even at the first prompt of both", async () => {
    const shared = new SharedAgent();
    const cwd = await scratchFolder();
    const agent = parseAgent({ command: process.execPath }, 'shared');
    const [mine, other] = ['mine', 'other'].map((key) => {
      const startProcess = (options: Parameters<typeof startProgram>[1]) =>
        startProgram((program) => shared.run(program), options);
      const client = testConversation({ agent, cwd, key, services: { startProcess } });
      clients.push(client);
      return client;
    }) as [TestConversation, TestConversation];

    const arrivals = Promise.all([shared.arrival('mine'), shared.arrival('other')]);
    const ended = mine.conversation.send('mine').done;
    void other.conversation.send('other').done;
    await arrivals;
    shared.end('other');
    await other.until(({ isBusy }) => !isBusy);
    shared.say('still at work');
    await mine.until(({ model }) => JSON.stringify([...model.state.entries]).includes('still at work'));
    assert.deepEqual(stopReasons(mine.conversation), [undefined]);
    shared.end('mine');
    assert.equal((await ended).stopReason, 'end_turn');
  });
});
