// The keys that the user has entered for an agent, and what is known of its sign-in. The workbench
// implements them over VS Code's secret storage and dialogs.
import type { AgentDefinition } from '../../agents/agentDefinition';

/**
 * A key: a variable of the agent's environment, or what a sign-in method takes with its request.
 */
export interface KeyName {
  readonly kind: 'variable' | 'method';
  readonly name: string;
}

export interface KeyQuestion extends KeyName {
  readonly method: string;
}

export interface AgentKeys {
  /** Returns variables besides those of the agent's entry. Never rejects. */
  variables(agent: AgentDefinition): Promise<Readonly<Record<string, string>>>;
  /** Returns a saved key. Never rejects. */
  saved(agent: AgentDefinition, key: KeyName): Promise<string | undefined>;
  /** @returns '' if left empty; undefined if dismissed */
  ask(agent: AgentDefinition, question: KeyQuestion, signal: AbortSignal): Promise<string | undefined>;
  save(agent: AgentDefinition, key: KeyName, value: string): Promise<void>;
  /**
   * Forgets all keys and the sign-in.
   * @returns the number of keys
   */
  forget(agent: AgentDefinition): Promise<number>;
  /**
   * The user has signed in, or the agent wants a sign-in. Never rejects.
   * @param method its name, for people; undefined: a sign-in is needed
   */
  note(agent: AgentDefinition, method: string | undefined): Promise<void>;
}
