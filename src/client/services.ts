// What conversations share: made once by whoever composes the program (the extension, or a test).
import type { ChatServices } from './communicationChat';
import type { ConnectionServices } from './connector';
import type { Terminals } from './terminals';
import type { TurnServices } from './turnControl';

/** Each part of a conversation takes only its own interface of these. */
export interface ConversationServices extends ConnectionServices, TurnServices, ChatServices {
  readonly terminals: Terminals;
  /** How long a session must be quiet before it is probed again, in milliseconds. */
  readonly quietMs?: number;
}
