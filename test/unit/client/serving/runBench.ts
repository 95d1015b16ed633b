// Runs a served agent's session without a server; each run is recorded in the history of the next
// one.

import type { ConversationServices } from '../../../../src/client/conversation/conversationOptions';
import { ServedConversations } from '../../../../src/client/serving/servedConversations';
import { type Message, type MessagePart, mintId } from '../../../../src/distributed/model/model';
import type { RunEmitter, ServedRunContext } from '../../../../src/distributed/server/servedAgent';
import { scratchFolder } from '../../../support/scratch';
import { textIn, userMessage } from '../../../support/servers/servedAgents';
import { parseAgent, type TestConversation, testConversation } from '../../../support/sessions/conversation';
import type { LossyAgent } from '../../../support/sessions/lossyAgent';

export interface RunEnd {
  readonly said: string;
  readonly error?: string;
}

export class RunBench {
  readonly made: TestConversation[] = [];
  readonly agent: ServedConversations;
  readonly #history: Message[] = [];
  readonly #id = mintId();

  private constructor(cwd: string, lossy: LossyAgent, services: Partial<ConversationServices>) {
    const agent = parseAgent({ command: process.execPath, args: ['lossy'], env: {} }, 'lossy');
    this.agent = new ServedConversations({
      name: 'lossy',
      description: 'The agent of the tests.',
      create: (_key, state) => {
        const one = testConversation({
          agent,
          cwd,
          services: { startProcess: lossy.start, agentState: () => state, ...services },
        });
        this.made.push(one);
        return one.conversation;
      },
    });
  }

  static async begin(lossy: LossyAgent, services: Partial<ConversationServices> = {}): Promise<RunBench> {
    return new RunBench(await scratchFolder(), lossy, services);
  }

  async run(text: string, signal = new AbortController().signal, onPart?: () => void): Promise<RunEnd> {
    const parts: MessagePart[] = [];
    const out: RunEmitter = {
      part: (part) => {
        signal.throwIfAborted();
        parts.push(part);
        onPart?.();
      },
      message: (more) => void parts.push(...more),
      generic: () => {},
      ask: () => Promise.reject(new Error('nothing is asked')),
    };
    const input = [userMessage(text)];
    const history = [...this.#history];
    const context: ServedRunContext = {
      runId: mintId(),
      session: { id: this.#id, history: history.map((_message, index) => `http://history.test/${index}`) },
      history: async () => history.map((message) => ({ kind: 'message' as const, message })),
      withTexts: async (messages) => messages,
      state: { read: async () => undefined, store: async () => undefined },
    };
    const end = await this.agent.run(input, context, out, signal).then(
      () => ({}),
      (error: Error) => ({ error: error.message }),
    );
    const output: Message[] = parts.length > 0 ? [{ role: 'agent/lossy', parts }] : [];
    this.#history.push(...input, ...output);
    return { said: output.map(textIn).join(''), ...end };
  }

  get waiting(): readonly string[] {
    return this.made.flatMap(({ conversation }) => conversation.queue.items.map(({ text }) => text));
  }

  async close(): Promise<void> {
    await this.agent.closeAll();
    for (const one of this.made) await one.close();
  }
}
