// Converts entries of a transcript to messages as they become complete: a prompt as soon as it is
// sent, the agent's output when its turn ends.
import { knownSecrets } from '../../base/redact';
import type { SessionView } from '../../session/model/model';
import type { Entry } from '../../session/model/state';
import { type Message, readMessage, textPart, timestamp, toMessages } from '../ports/messages';

export interface CollectedMessage {
  readonly message: Message;
  readonly through?: string;
}

/** Messages held in memory; later ones are read from the transcript again. */
const MAX_WAITING = 200;
const ENTRIES_AT_ONCE = 200;
export const NEWEST_SHARE = 0.75;

export class MessageCollector {
  readonly #model: SessionView;
  readonly #agentName: () => string;
  readonly #maxMessages: number;
  readonly #pending: CollectedMessage[] = [];
  #collected: string | undefined;
  #skip = 0;

  constructor(model: SessionView, agentName: () => string, maxMessages: number) {
    this.#model = model;
    this.#agentName = agentName;
    this.#maxMessages = maxMessages;
  }

  get hasBegun(): boolean {
    return this.#collected !== undefined;
  }

  get waiting(): number {
    return this.#pending.length;
  }

  get next(): CollectedMessage | undefined {
    return this.#pending[0];
  }

  written(message: CollectedMessage): void {
    if (this.#pending[0] === message) this.#pending.shift();
  }

  continueAfter(entryId: string | undefined): void {
    this.#collected = entryId;
  }

  skip(messages: number): void {
    this.#skip = messages;
  }

  reset(): void {
    this.#pending.length = 0;
    this.#collected = undefined;
  }

  /**
   * @param isFirst skips the beginning of a transcript that is too long
   * @returns whether there were any
   */
  collect(isFirst: boolean): boolean {
    const { entries, turn } = this.#model.state;
    if (this.#pending.length >= MAX_WAITING) return false;
    if (this.#collected === undefined && isFirst) this.#skipBeginning(entries);
    const from = this.#collectedIndex(entries) + 1;
    const to = pieceUntil(entries, from, completeUntil(entries, from, turn?.id));
    if (to <= from) return false;
    const all = transcriptMessages(entries.slice(from, to), this.#model, this.#agentName());
    const messages = all.slice(this.#skip);
    this.#skip = Math.max(0, this.#skip - all.length);
    this.#collected = entries[to - 1]?.id;
    const through = this.#collected;
    for (const [index, message] of messages.entries())
      this.#pending.push({
        message,
        through: index === messages.length - 1 && through !== undefined ? through : undefined,
      });
    return true;
  }

  #skipBeginning(entries: readonly Entry[]): void {
    let left = (this.#maxMessages * NEWEST_SHARE) / 2;
    const first = entries.findLastIndex(({ kind }) => kind === 'user' && --left <= 0);
    if (first <= 0) return;
    const through = entries[first - 1]?.id;
    this.#collected = through;
    this.#pending.push({ message: omission(), through });
  }

  /** A gap may have been filled with several entries, whose ids are its id and a number. */
  #collectedIndex(entries: readonly Entry[]): number {
    const id = this.#collected;
    if (id === undefined) return -1;
    const index = entries.findLastIndex((entry) => entry.id === id || entry.id.startsWith(`${id}.`));
    // The transcript has lost its end, so everything in it was written.
    return index === -1 ? entries.length - 1 : index;
  }
}

function completeUntil(entries: readonly Entry[], from: number, turnId: string | undefined): number {
  if (turnId === undefined) return entries.length;
  const begin = entries.findIndex(
    (entry, index) => index >= from && entry.turnId === turnId && entry.late === undefined,
  );
  if (begin === -1) return entries.length;
  return entries[begin]?.kind === 'user' ? begin + 1 : begin;
}

function pieceUntil(entries: readonly Entry[], from: number, to: number): number {
  for (let index = from + ENTRIES_AT_ONCE; index < to; index++)
    if (entries[index]?.kind === 'user' || entries[index - 1]?.kind === 'turn_end') return index;
  return to;
}

export function omission(): Message {
  const now = timestamp(Date.now());
  const parts = [textPart('[The beginning of this session is left out: it is too long to be shared whole.]')];
  return { role: 'agent', parts, created_at: now, completed_at: now };
}

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
    messages.push(...toMessages(run, { agentName, stopReason: stopReason === 'unknown' ? 'end_turn' : stopReason }));
    run = [];
  }
  return [...messages, ...toMessages(run, { agentName })];
}

/** Without the secrets of this window, as others may read the messages. */
export function transcriptOf(model: Pick<SessionView, 'state' | 'turn'>, agentName: string): readonly Message[] {
  const messages = transcriptMessages(model.state.entries, model, agentName);
  return messages.map((message) => readMessage(JSON.parse(knownSecrets.redact(JSON.stringify(message)))));
}
