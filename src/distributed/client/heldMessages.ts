// Messages of a session that no server is known to have recorded: of runs that failed, were stopped
// or lost, and questions and answers within runs. They are sent with the next run, before its
// prompt.
import * as z from 'zod/mini';
import { MAX_MESSAGE_BYTES, type Message, messageSchema, timestamp, urlSchema } from '../model/model';
import { urlIdentity } from '../model/resourceUrl';
import { textOf } from './runParts';

/** Messages that are kept at most; the oldest are left out first. */
const MAX_HELD = 20_000;
/** Bytes of the messages of one request: our own server takes such, beside a descriptor. */
const MAX_REQUEST_BYTES = 3 * MAX_MESSAGE_BYTES;

export const heldSchema = z.object({
  message: messageSchema,
  turn: z.number(),
  aside: z.optional(z.literal(true)),
  doubtful: z.optional(z.literal(true)),
  url: z.optional(urlSchema),
});

export interface HeldMessage {
  readonly message: Message;
  readonly turn: number;
  /** A question within a run, or its answer: servers record the rest of that run without them. */
  readonly aside?: true | undefined;
  /** Its run failed, or whether it reached the agent is not known: the user may say it again. */
  readonly doubtful?: true | undefined;
  readonly url?: string | undefined;
}

/** A message that a server has recorded since; `message` is undefined if it cannot be read. */
export interface Recorded {
  readonly url: string;
  readonly message: Message | undefined;
}

export class HeldMessages {
  #held: readonly HeldMessage[];
  #turn: number;

  constructor(held: readonly HeldMessage[] = []) {
    this.#held = held;
    this.#turn = Math.max(0, ...held.map(({ turn }) => turn));
  }

  get all(): readonly HeldMessage[] {
    return this.#held;
  }

  nextTurn(): void {
    this.#turn++;
  }

  add(message: Message, more: Pick<HeldMessage, 'aside'> = {}): void {
    this.#held = [...this.#held, { message, turn: this.#turn, ...more }].slice(-MAX_HELD);
  }

  withdraw(message: Message): void {
    this.#held = this.#held.filter((held) => held.message !== message);
  }

  withdrawSame({ role, parts }: Message): void {
    const words = JSON.stringify([role, parts]);
    const isSaidAgain = ({ doubtful, message }: HeldMessage): boolean =>
      doubtful === true && JSON.stringify([message.role, message.parts]) === words;
    const turns = new Set(this.#held.filter(isSaidAgain).map(({ turn }) => turn));
    this.#held = this.#held.filter(({ turn }) => !turns.has(turn));
  }

  doubtLastTurn(): void {
    this.#held = this.#held.map((held) => (held.turn === this.#turn ? { ...held, doubtful: true } : held));
  }

  withdrawLastTurn(): void {
    this.#held = this.#held.filter(({ turn }) => turn !== this.#turn);
  }

  prepend(messages: readonly Message[], kept: readonly HeldMessage[] = this.#held): void {
    this.#held = [...messages.map((message) => ({ message, turn: 0 })), ...kept].slice(-MAX_HELD);
  }

  clear(): void {
    this.#held = [];
  }

  noteCopy(message: Message, url: string): void {
    this.#held = this.#held.map((held) => (held.message === message ? { ...held, url } : held));
  }

  static isRecordOf(recorded: Message, message: Message): boolean {
    return isSame(message, recorded);
  }

  /** Forgets what a server has recorded as a whole: all that went to it, and what it answered. */
  dropRun(): void {
    this.#held = this.#held.filter(({ aside, turn }) => aside && turn === this.#turn);
  }

  /** Drops what a server recorded. Returns whether it has the last run. */
  drop(recorded: readonly Recorded[]): boolean | undefined {
    const isReadable = recorded.some(({ message }) => message !== undefined);
    const isCopy = recorded.some(({ url }) => this.#held.some((held) => isCopyAt(held, url)));
    if (!isReadable && !isCopy) return undefined;
    const found = new Set<HeldMessage>();
    let left = recorded;
    for (const held of this.#held) {
      const at = left.findIndex(
        ({ url, message }) => isCopyAt(held, url) || (message && isSame(held.message, message)),
      );
      if (at === -1) continue;
      found.add(held);
      left = left.slice(at + 1);
    }
    // A run is recorded as a whole; the answer may have been cut short here, and complete there.
    const turns = new Set([...found].filter(({ aside }) => !aside).map(({ turn }) => turn));
    const hasLast = turns.has(this.#turn);
    this.#held = this.#held.filter(
      (held) => !found.has(held) && (held.aside || held.turn === 0 || !turns.has(held.turn)),
    );
    return hasLast;
  }

  /** Drops the oldest until the rest fits a request beside these bytes. Returns how many. */
  fit(otherBytes: number): number {
    let room = MAX_REQUEST_BYTES - otherBytes;
    const first = this.#held.findLastIndex(({ message }) => {
      room -= Buffer.byteLength(JSON.stringify(message)) + 1;
      return room < 0;
    });
    this.#held = this.#held.slice(first + 1);
    return first + 1;
  }
}

function isCopyAt({ url }: HeldMessage, other: string): boolean {
  return url !== undefined && urlIdentity(url) === urlIdentity(other);
}

/**
 * Compares the words and the time: two clients may speak in the same millisecond, and an answer may
 * be longer on the server.
 */
function isSame(message: Message, recorded: Message): boolean {
  const [words, others] = [wordsOf(message), wordsOf(recorded)];
  if (words === others) return true;
  const [at, other] = [Date.parse(message.created_at ?? ''), Date.parse(recorded.created_at ?? '')];
  if (!(at > 0 && at === other)) return false;
  const [text, otherText] = [textsOf(message), textsOf(recorded)];
  return text.includes(otherText) || otherText.includes(text);
}

function wordsOf({ parts }: Message): string {
  return parts.map((part) => textOf(part) ?? JSON.stringify([part.name, part.content, part.content_url])).join('');
}

function textsOf({ parts }: Message): string {
  return parts.map((part) => textOf(part) ?? '').join('');
}

/** Stands for messages that are left out. @param now milliseconds since 1970 */
export function leftOutMessage(count: number, now: number): Message {
  const words = count === 1 ? '[1 earlier message left out]' : `[${count} earlier messages left out]`;
  const at = timestamp(now);
  const part = { content_type: 'text/plain', content: words, content_encoding: 'plain' } as const;
  return { role: 'agent', parts: [part], created_at: at, completed_at: at };
}
