// What conversations share: made once by whoever composes the program (the extension, or a test).

import type { ConnectionServices } from '../connection/connector';
import type { ChatServices } from '../http/communicationChat';
import type { Terminals } from '../terminals/terminals';
import type { TurnServices } from '../turns/turnControl';

/** Each part of a conversation takes only its own interface of these. */
export interface ConversationServices extends ConnectionServices, TurnServices, ChatServices {
  readonly terminals: Terminals;
  /** How long a session must be quiet before it is probed again, in milliseconds. */
  readonly quietMs?: number;
}
