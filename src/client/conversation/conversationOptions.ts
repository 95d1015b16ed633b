// What a conversation is created with: its agent and folders, its persistence, and the session that
// it continues.

import type { AgentDefinition } from '../../agents/agentDefinition';
import type { ChangeServices } from '../changes/changeServices';
import type { ConnectionServices } from '../connection/connectionState';
import type { SessionOpenStrategy } from '../connection/sessionOpenStrategy';
import type { ChatServices } from '../http/communicationChat';
import type { TurnServices } from '../prompts/promptSession';
import type { RuleSet } from '../rules/judge';
import type { Terminals } from '../terminals/terminals';
import type { ConversationPersistence, KeptConversation } from './persistence';

export interface ConversationOptions {
  readonly key: string;
  readonly agent: AgentDefinition;
  /** Absolute; the first root. */
  readonly cwd: string;
  readonly roots: readonly string[];
  readonly services: ConversationServices;
  /** Absent: a new session. */
  readonly opening?: SessionOpenStrategy;
  readonly persistence?: ConversationPersistence;
  readonly kept?: KeptConversation;
  /** Another window has it. */
  readonly isHeld?: boolean;
  readonly isRecording?: boolean;
  /** The session is opened after this. Rejects if it isn't wanted any more. */
  readonly begins?: Promise<void>;
  /** Only sends what is queued: the agent's requests wait for the next window. */
  readonly onlySends?: boolean;
}

export interface ConversationServices extends ConnectionServices, TurnServices, ChatServices {
  readonly terminals: Terminals;
  /** Absent: every request is asked. */
  readonly permissionRules?: () => RuleSet;
  readonly choiceMs?: number;
  /**
   * Answers a request with the change that the user has edited; false: it wasn't edited, or isn't
   * allowed.
   */
  readonly useEdited?: (key: string, permissionId: string, optionId: string | null) => boolean;
  readonly changes?: ChangeServices;
  /** How long a session must be quiet before it is probed, in milliseconds. */
  readonly quietMs?: number;
  /**
   * How long an agent may be silent in a turn that continues on another connection, in
   * milliseconds.
   */
  readonly rejoinQuietMs?: number;
}
