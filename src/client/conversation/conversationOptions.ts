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
import type { RememberedChoices } from './sessionChoices';

export interface ConversationOptions {
  /** Ours, stable across reconnects. */
  readonly key: string;
  readonly agent: AgentDefinition;
  /** Absolute; the first root. */
  readonly cwd: string;
  readonly roots: readonly string[];
  readonly services: ConversationServices;
  /** How it comes by its session; absent: with a new one. */
  readonly opening?: SessionOpenStrategy;
  /** Where it is kept; absent: nowhere. */
  readonly persistence?: ConversationPersistence;
  /** The stored conversation that it continues. */
  readonly kept?: KeptConversation;
  /** Another window has it: it is only read here. */
  readonly isHeld?: boolean;
  /** It shows a recording: nothing is started for it. */
  readonly isRecording?: boolean;
  /** It starts its agent, and opens its session then. Rejects where that is not wanted any more. */
  readonly begins?: Promise<void>;
  /** It sends what is queued and is left then: what the agent asks waits for the next window. */
  readonly onlySends?: boolean;
}

/** Each part of a conversation takes only its own interface of these. */
export interface ConversationServices extends ConnectionServices, TurnServices, ChatServices {
  readonly terminals: Terminals;
  /** The permission rules that count now; absent: every request is asked. */
  readonly permissionRules?: () => RuleSet;
  /** Absent: new sessions begin as their agents have it. */
  readonly choices?: RememberedChoices;
  /** How long an agent may take to set a mode or an option, in milliseconds. */
  readonly choiceMs?: number;
  /**
   * Answers a request in place of an allowing option, where the user has edited the change that it
   * asks for; false: it was not edited, or is not allowed.
   */
  readonly useEdited?: (key: string, permissionId: string, optionId: string | null) => boolean;
  /** Absent: what turns change on disk is not recorded. */
  readonly changes?: ChangeServices;
  /** How long a session must be quiet before it is probed again, in milliseconds. */
  readonly quietMs?: number;
  /**
   * How long an agent that has a turn since another connection may be silent in it, in milliseconds.
   */
  readonly rejoinQuietMs?: number;
}
