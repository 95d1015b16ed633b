// After a run of an HTTP agent failed over the past of its session: the same prompt once more, with another past.
import type { Conversation } from './conversation';

/**
 * Sends the prompt of the newest turn again where it failed. @param way as `CommunicationSession.carryOn` knows it
 * @returns false where it did not fail, or is sent again already @throws what sending throws; ParleyError `no-session`, `session-busy`
 */
export async function carryOn(conversation: Conversation, way: string): Promise<boolean> {
  const { failedTurnId } = conversation;
  if (failedTurnId === undefined) return false;
  await conversation.start();
  await conversation.communication.carryOn(way);
  return conversation.sendAgain(failedTurnId);
}
