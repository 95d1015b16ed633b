// A session with an agent that is choosy, over windows, and what the composer showed as its prompts
// left. Its stored events are in a list, as in the journal.
import { parseAgents } from '../../../src/agents/agentDefinition';
import type { ConversationPersistence, KeptConversation } from '../../../src/client/conversation/persistence';
import type { SessionEvent, TimedEvent } from '../../../src/session/events/event';
import { SessionModel } from '../../../src/session/model/model';
import { ChoosyAgent, type Settings } from './choosyAgent';
import { type TestConversation, type TestConversationOptions, testConversation } from './conversation';

export class ChoosySession {
  readonly agent = new ChoosyAgent();
  readonly events: TimedEvent[] = [];
  readonly shown: Settings[] = [];
  readonly #cwd: string;
  readonly #model = new SessionModel();
  #agentSessionId: string | undefined;
  #window: TestConversation | undefined;

  constructor(cwd: string) {
    this.#cwd = cwd;
  }

  get conversation(): TestConversation['conversation'] {
    if (!this.#window) throw new Error('no window is open');
    return this.#window.conversation;
  }

  until(holds: Parameters<TestConversation['until']>[0]): Promise<void> {
    return this.#window?.until(holds) ?? Promise.resolve();
  }

  open(more: Partial<TestConversationOptions> = {}): void {
    const [definition] = parseAgents({ choosy: { command: process.execPath } }).agents;
    if (!definition) throw new Error('no agent');
    this.#window = testConversation({
      agent: definition,
      cwd: this.#cwd,
      persistence: this.#persistence(),
      ...(this.events.length > 0 && { kept: this.#kept() }),
      ...more,
      services: { startProcess: this.agent.start, choiceMs: 200, ...more.services },
    });
  }

  async close(): Promise<void> {
    await this.#window?.close();
    this.#window = undefined;
  }

  get composer(): Settings {
    return shownIn(this.#model);
  }

  #kept(): KeptConversation {
    const model = new SessionModel();
    for (const { event, at } of this.events) model.apply(event, at);
    const none = { draft: { text: '', revision: 0 }, attachments: [], queue: [] };
    return { model, ...none, ...(this.#agentSessionId !== undefined && { agentSessionId: this.#agentSessionId }) };
  }

  #persistence(): ConversationPersistence {
    const nothing = (): void => undefined;
    const take = (event: SessionEvent, at: number): void => {
      if (event.type === 'prompt_sent') this.shown.push(shownIn(this.#model));
      this.#model.apply(event, at);
      this.events.push({ at, event });
    };
    return {
      claim: () => true,
      verify: nothing,
      together: (run) => run(),
      events: (events) => {
        for (const { event, at } of events) take(event, at);
      },
      describe: ({ agentSessionId }) => {
        if (agentSessionId !== undefined) this.#agentSessionId = agentSessionId ?? undefined;
      },
      draft: nothing,
      place: nothing,
      added: nothing,
      changed: nothing,
      state: nothing,
      order: nothing,
      removed: nothing,
      paused: nothing,
    };
  }
}

function shownIn({ state }: SessionModel): Settings {
  const options = state.config.map(({ id, value }) => [id, value] as const);
  return { ...(state.mode !== undefined && { mode: state.mode }), ...Object.fromEntries(options) };
}
