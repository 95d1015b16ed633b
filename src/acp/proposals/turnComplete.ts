// Proposal "turn_complete": a session update that an agent sends once per turn, after all other
// updates of that turn, so that the end of a turn is a fact of the stream. Rules:
// - advertised (announced.ts), or not: one that comes without that is a hint of equal worth;
// - `promptRequestId` is a string while ids may be numbers: compared as text. Without an id it
//   means the prompt in flight. Any other id than that prompt's is ignored: it repeats an earlier
//   barrier, or belongs to another client of the same session;
// - its order against the prompt's response is undefined: the turn is over at the barrier, and the
//   next prompt may go when the response is there too, or was a receipt;
// - where it is advertised and does not come, the response ends the turn after a grace, and that is
//   said. The grace begins again with each sign of progress, and not before each tool call of the
//   turn is over. After the response, an unknown id may be ours by the number that a proxy gave it:
//   it ends a turn that stays quiet.

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

/** Returns `unknown` for a word that the protocol does not have, undefined for none. */
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
