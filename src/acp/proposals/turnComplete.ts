// Proposal "turn_complete": a session update sent once per turn, after all its other updates, so
// that the end of a turn has a place in the stream. Rules:
// - It counts the same whether it was advertised (announced.ts) or not.
// - `promptRequestId` is a string but ids may be numbers: compared as text. Without an id, it
//   refers to the prompt in flight. Other ids are ignored: they repeat an earlier barrier, or
//   belong to another client of the session.
// - Its order relative to the prompt's response is undefined. The turn ends at the barrier; the
//   next prompt is sent once the response has arrived too, or was a receipt.
// - If advertised but missing, the response ends the turn after a grace period, with a notice.
//   Progress restarts the period, and it never starts before all tool calls of the turn are over.
//   After the response, an unknown id may be ours, renumbered by a proxy: it ends a turn that stays
//   quiet.

import { at } from '../../base/untrusted';
import type { StopReason } from '../../session/events/event';
import type { TurnComplete } from '../protocol/dialect';

export function readTurnComplete(update: unknown): TurnComplete | undefined {
  if (at(update, 'sessionUpdate') !== 'turn_complete') return undefined;
  const id = at(update, 'promptRequestId');
  return {
    promptRequestId: typeof id === 'string' || typeof id === 'number' ? String(id) : undefined,
    stopReason: readStopReason(at(update, 'stopReason')),
  };
}

/** `unknown` for words outside of the protocol. */
export function readStopReason(value: unknown): StopReason | undefined {
  if (typeof value !== 'string') return undefined;
  switch (value) {
    case 'end_turn':
    case 'cancelled':
    case 'refusal':
    case 'max_tokens':
    case 'max_turn_requests':
    case 'error':
      return value;
    default:
      return 'unknown';
  }
}
