// The words for why a queue or one of its messages waits (session/queue/waitReason.ts).
import type { ItemCode, PauseCode } from '../../session/queue/waitReason';

const WORDS: Readonly<Record<PauseCode | ItemCode, (detail: string) => string>> = {
  'by-user': () => 'Paused by you.',
  stopped: () => 'Paused because you stopped the turn.',
  'start-stopped': () => 'Paused because you stopped the agent from starting.',
  'window-ended': () => 'Paused after reload. Review queued messages, then resume.',
  'agent-ended': (detail) => `Paused: ${sentence(detail || 'the agent ended')}`,
  'agent-closed-input': () => 'Paused because the agent no longer reads messages. Restart the agent.',
  'agent-asks': () => 'Paused because the agent asked a question first.',
  'agent-silent': () => 'Paused because the agent isn’t responding.',
  'given-back': () => 'Paused because the agent returned a message.',
  'taken-back': () => 'Paused so that you can edit the returned message.',
  'session-lost': () => 'Paused because the agent no longer has this session.',
  'session-not-opened': (detail) => `Paused because the session couldn’t be reopened: ${sentence(detail)}`,
  'turn-failed': () => 'Paused because the last turn failed.',
  'in-doubt': () => 'May already have been sent',
  refused: (detail) => detail || 'The agent refused the message.',
  'taking-back': () => 'Asking the agent to return it…',
  'not-given-back': () => 'The agent keeps it. Stop the turn to get it back.',
};

/** Returns the words for a reason; what is no known code is shown as it stands. */
export function waitReasonLabel(reason: string): string {
  const [, code = '', detail = ''] = /^([a-z-]+)(?:: ([\s\S]*))?$/.exec(reason) ?? [];
  return Object.hasOwn(WORDS, code) ? WORDS[code as keyof typeof WORDS](detail) : reason;
}

function sentence(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}
