// What a conversation is made of: its agent and folders, where it is kept, and what it goes on from.
import type { AgentDefinition } from '../../agents/agentDefinition';
import type { Opening } from '../connection/opening';
import type { ConversationKeep, KeptConversation } from './keep';
import type { ConversationServices } from './services';

export interface ConversationOptions {
  /** Ours, stable across reconnects. */
  readonly key: string;
  readonly agent: AgentDefinition;
  /** Absolute; the first root. */
  readonly cwd: string;
  readonly roots: readonly string[];
  readonly services: ConversationServices;
  /** How it comes by its session; absent: with a new one. */
  readonly opening?: Opening;
  /** Where it is kept; absent: nowhere. */
  readonly keep?: ConversationKeep;
  /** What was kept of it: it goes on from there. */
  readonly kept?: KeptConversation;
  /** Another window has it: it is only read here. */
  readonly isHeld?: boolean;
}
