// Converts a transcript into messages of the protocol, turn by turn; the last message of a turn
// says how it ended.
import { knownSecrets } from '../../base/redact';
import type { SessionView } from '../../session/model/model';
import type { Entry } from '../../session/model/state';
import { type Message, readMessage, toMessages } from '../ports/messages';

export function transcriptMessages(
  entries: readonly Entry[],
  model: Pick<SessionView, 'turn'>,
  agentName: string,
): readonly Message[] {
  const messages: Message[] = [];
  let run: Entry[] = [];
  for (const entry of entries) {
    run.push(entry);
    if (entry.kind !== 'turn_end') continue;
    const stopReason = model.turn(entry.turnId)?.stopReason;
    messages.push(...toMessages(run, { agentName, stopReason: stopReason ? known(stopReason) : undefined }));
    run = [];
  }
  return [...messages, ...toMessages(run, { agentName })];
}

/** All that was said in a conversation, without the secrets of this window: it may go to others. */
export function transcriptOf(model: Pick<SessionView, 'state' | 'turn'>, agentName: string): readonly Message[] {
  const messages = transcriptMessages(model.state.entries, model, agentName);
  return messages.map((message) => readMessage(JSON.parse(knownSecrets.redact(JSON.stringify(message)))));
}

function known<T extends string>(reason: T): T | 'end_turn' {
  return reason === 'unknown' ? 'end_turn' : reason;
}
