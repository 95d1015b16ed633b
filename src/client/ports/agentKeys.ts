// Keys that the user has entered for an agent, and its sign-in state. The workbench implements this
// with VS Code's secret storage and dialogs.
import type { AgentDefinition } from '../../agents/agentDefinition';

/** A key: an environment variable of the agent, or a parameter of a sign-in request. */
export interface KeyName {
  readonly kind: 'variable' | 'method';
  readonly name: string;
}

export interface KeyQuestion extends KeyName {
  readonly method: string;
}

export interface AgentKeys {
  /** In addition to those in the agent's entry. Never rejects. */
  variables(agent: AgentDefinition): Promise<Readonly<Record<string, string>>>;
  /** Never rejects. */
  saved(agent: AgentDefinition, key: KeyName): Promise<string | undefined>;
  /** @returns '' if left empty; undefined if dismissed */
  ask(agent: AgentDefinition, question: KeyQuestion, signal: AbortSignal): Promise<string | undefined>;
  save(agent: AgentDefinition, key: KeyName, value: string): Promise<void>;
  /** @returns the number of keys */
  forget(agent: AgentDefinition): Promise<number>;
  /**
   * Records that the user has signed in, or that the agent requires it. Never rejects.
   * @param method display name; undefined if a sign-in is needed
   */
  note(agent: AgentDefinition, method: string | undefined): Promise<void>;
}
