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
  readonly cwd: string;
  readonly roots: readonly string[];
  readonly services: ConversationServices;
  readonly opening?: SessionOpenStrategy;
  readonly persistence?: ConversationPersistence;
  readonly kept?: KeptConversation;
  readonly isHeld?: boolean;
  readonly isRecording?: boolean;
  /** The session is opened after this. Rejects if it is no longer wanted. */
  readonly beforeOpen?: Promise<void>;
  /** Only sends queued messages. The agent's requests wait for the next window. */
  readonly onlySends?: boolean;
}

export interface ConversationServices extends ConnectionServices, TurnServices, ChatServices {
  readonly terminals: Terminals;
  /** Absent: the user is asked about every request. */
  readonly permissionRules?: () => RuleSet;
  readonly choiceMs?: number;
  /**
   * Answers a request with the user's edited change. Returns false if it wasn't edited or isn't
   * allowed.
   */
  readonly useEdited?: (key: string, permissionId: string, optionId: string | null) => boolean;
  readonly changes?: ChangeServices;
  /** Silence after which a session is probed. */
  readonly quietMs?: number;
  /** How long an agent may be silent in a turn that continues on another connection. */
  readonly rejoinQuietMs?: number;
}
