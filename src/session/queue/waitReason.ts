// Codes for why a queue is paused or a message is not sent. Codes are stored; labels are made where
// they are shown (client/view/waitReasonLabels.ts).

/** Why the whole queue is paused. Codes with a detail carry a text of the agent or the system. */
export type PauseCode =
  | 'by-user'
  | 'stopped'
  | 'start-stopped'
  | 'window-ended'
  | 'agent-ended'
  | 'agent-closed-input'
  | 'agent-asks'
  | 'agent-silent'
  | 'given-back'
  | 'taken-back'
  | 'session-lost'
  | 'session-not-opened'
  | 'turn-failed';

/** Why a single message is not sent. */
export type ItemCode = 'in-doubt' | 'refused' | 'taking-back' | 'not-given-back';

/** `code`, or `code: detail`. */
export type WaitReason<Code extends string = PauseCode | ItemCode> = Code | `${Code}: ${string}`;

/** Returns a reason with a detail. */
export function detailed<const Code extends PauseCode | ItemCode>(code: Code, detail: string): `${Code}: ${string}` {
  return `${code}: ${detail}`;
}
