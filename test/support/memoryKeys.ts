// Keys of agents in memory; what a person would type is given.
import type { AgentDefinition } from '../../src/agents/agentDefinition';
import type { AgentKeys, KeyName, KeyQuestion } from '../../src/client/ports/agentKeys';

export class MemoryKeys implements AgentKeys {
  readonly values = new Map<string, string>();
  readonly asked: KeyQuestion[] = [];
  readonly notes: (string | undefined)[] = [];
  readonly #answers: (string | undefined)[];

  constructor(...answers: readonly (string | undefined)[]) {
    this.#answers = [...answers];
  }

  async variables(agent: AgentDefinition): Promise<Readonly<Record<string, string>>> {
    const prefix = `${agent.id} variable `;
    const own = [...this.values].filter(([key]) => key.startsWith(prefix));
    return Object.fromEntries(own.map(([key, value]) => [key.slice(prefix.length), value]));
  }

  async saved(agent: AgentDefinition, key: KeyName): Promise<string | undefined> {
    return this.values.get(keyOf(agent, key));
  }

  async ask(_agent: AgentDefinition, question: KeyQuestion): Promise<string | undefined> {
    this.asked.push(question);
    return this.#answers.shift();
  }

  async save(agent: AgentDefinition, key: KeyName, value: string): Promise<void> {
    this.values.set(keyOf(agent, key), value);
  }

  async forget(agent: AgentDefinition): Promise<number> {
    const own = [...this.values.keys()].filter((key) => key.startsWith(`${agent.id} `));
    for (const key of own) this.values.delete(key);
    return own.length;
  }

  async note(_agent: AgentDefinition, method: string | undefined): Promise<void> {
    this.notes.push(method);
  }
}

function keyOf(agent: AgentDefinition, { kind, name }: KeyName): string {
  return `${agent.id} ${kind} ${name}`;
}
