// Why a queue is paused, or one of its messages does not go: a code, kept as it is. Its words are made where it is shown (client/view/waitReasonWords.ts).

/** Why nothing of a queue is sent by itself. The codes with a detail carry a text of the agent's or of the system's. */
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

/** Why one message does not go. */
export type ItemCode = 'in-doubt' | 'refused' | 'taking-back' | 'not-given-back';

/** `code`, or `code: detail`. */
export type WaitReason<Code extends string = PauseCode | ItemCode> = Code | `${Code}: ${string}`;

/** A reason with what is known beside its code. */
export function detailed<const Code extends PauseCode | ItemCode>(code: Code, detail: string): `${Code}: ${string}` {
  return `${code}: ${detail}`;
}
