// The keys that the user has entered for an agent, and what is known of its sign-in. The workbench
// implements them over VS Code's secret storage and dialogs.
import type { AgentDefinition } from '../../agents/agentDefinition';

/** A key: a variable of the agent's environment, or what a sign-in method takes with its request. */
export interface KeyName {
  readonly kind: 'variable' | 'method';
  /** Of the variable; the id of the method. */
  readonly name: string;
}

export interface KeyQuestion extends KeyName {
  /** Of the sign-in method, for people. */
  readonly method: string;
}

export interface AgentKeys {
  /** Returns the variables to start an agent with, besides those of its entry. Never rejects. */
  variables(agent: AgentDefinition): Promise<Readonly<Record<string, string>>>;
  /** Returns a saved key. Never rejects. */
  saved(agent: AgentDefinition, key: KeyName): Promise<string | undefined>;
  /** Asks for a key. @returns '' where it was left empty; undefined where the user went away */
  ask(agent: AgentDefinition, question: KeyQuestion, signal: AbortSignal): Promise<string | undefined>;
  save(agent: AgentDefinition, key: KeyName, value: string): Promise<void>;
  /** Forgets all keys of an agent, and that the user has signed in. @returns how many keys there were */
  forget(agent: AgentDefinition): Promise<number>;
  /**
   * The user has signed in to an agent, or the agent wants a sign-in. Never rejects.
   * @param method its name, for people; undefined: the user has to sign in
   */
  note(agent: AgentDefinition, method: string | undefined): Promise<void>;
}
