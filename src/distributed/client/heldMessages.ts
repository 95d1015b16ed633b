// Messages that no server is known to have recorded: of failed, stopped or lost runs, and questions
// and answers within runs. They are sent before the next run's prompt.
import * as z from 'zod/mini';
import { MAX_MESSAGE_BYTES, type Message, messageSchema, timestamp, urlSchema } from '../model/model';
import { urlIdentity } from '../model/resourceUrl';
import { textOf } from './runParts';

const MAX_HELD = 20_000;
/** In bytes per request: our own server accepts this besides a descriptor. */
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
  /** A question within a run, or its answer; servers record the run without them. */
  readonly aside?: true | undefined;
  /** Its run failed or may not have reached the agent, so the user may send it again. */
  readonly doubtful?: true | undefined;
  readonly url?: string | undefined;
}

export interface Recorded {
  readonly url: string;
  readonly message: Message | undefined;
}

export class HeldMessages {
  #messages: readonly HeldMessage[];
  #turn: number;

  constructor(held: readonly HeldMessage[] = []) {
    this.#messages = held;
    this.#turn = Math.max(0, ...held.map(({ turn }) => turn));
  }

  get all(): readonly HeldMessage[] {
    return this.#messages;
  }

  nextTurn(): void {
    this.#turn++;
  }

  add(message: Message, more: Pick<HeldMessage, 'aside'> = {}): void {
    this.#messages = [...this.#messages, { message, turn: this.#turn, ...more }].slice(-MAX_HELD);
  }

  withdraw(message: Message): void {
    this.#messages = this.#messages.filter((held) => held.message !== message);
  }

  withdrawSame({ role, parts }: Message): void {
    const content = JSON.stringify([role, parts]);
    const isRepeated = ({ doubtful, message }: HeldMessage): boolean =>
      doubtful === true && JSON.stringify([message.role, message.parts]) === content;
    const turns = new Set(this.#messages.filter(isRepeated).map(({ turn }) => turn));
    this.#messages = this.#messages.filter(({ turn }) => !turns.has(turn));
  }

  doubtLastTurn(): void {
    this.#messages = this.#messages.map((held) => (held.turn === this.#turn ? { ...held, doubtful: true } : held));
  }

  withdrawLastTurn(): void {
    this.#messages = this.#messages.filter(({ turn }) => turn !== this.#turn);
  }

  prepend(messages: readonly Message[], kept: readonly HeldMessage[] = this.#messages): void {
    this.#messages = [...messages.map((message) => ({ message, turn: 0 })), ...kept].slice(-MAX_HELD);
  }

  clear(): void {
    this.#messages = [];
  }

  noteCopy(message: Message, url: string): void {
    this.#messages = this.#messages.map((held) => (held.message === message ? { ...held, url } : held));
  }

  static isRecordOf(recorded: Message, message: Message): boolean {
    return isSameMessage(message, recorded);
  }

  /** A server has recorded the whole run. */
  dropRun(): void {
    this.#messages = this.#messages.filter(({ aside, turn }) => aside && turn === this.#turn);
  }

  /** Drops recorded messages. Returns whether the last run was among them. */
  drop(recorded: readonly Recorded[]): boolean | undefined {
    const isReadable = recorded.some(({ message }) => message !== undefined);
    const isCopy = recorded.some(({ url }) => this.#messages.some((held) => isCopyAt(held, url)));
    if (!isReadable && !isCopy) return undefined;
    const found = new Set<HeldMessage>();
    let remaining = recorded;
    for (const held of this.#messages) {
      const at = remaining.findIndex(
        ({ url, message }) => isCopyAt(held, url) || (message && isSameMessage(held.message, message)),
      );
      if (at === -1) continue;
      found.add(held);
      remaining = remaining.slice(at + 1);
    }
    // Runs are recorded as a whole; an answer may be truncated here and complete there.
    const turns = new Set([...found].filter(({ aside }) => !aside).map(({ turn }) => turn));
    const hasLast = turns.has(this.#turn);
    this.#messages = this.#messages.filter(
      (held) => !found.has(held) && (held.aside || held.turn === 0 || !turns.has(held.turn)),
    );
    return hasLast;
  }

  /** Drops the oldest until the request fits. Returns how many. */
  fit(otherBytes: number): number {
    let room = MAX_REQUEST_BYTES - otherBytes;
    const first = this.#messages.findLastIndex(({ message }) => {
      room -= Buffer.byteLength(JSON.stringify(message)) + 1;
      return room < 0;
    });
    this.#messages = this.#messages.slice(first + 1);
    return first + 1;
  }
}

function isCopyAt({ url }: HeldMessage, other: string): boolean {
  return url !== undefined && urlIdentity(url) === urlIdentity(other);
}

/** By text, or by time and overlapping text: an answer may be longer on the server. */
function isSameMessage(message: Message, recorded: Message): boolean {
  const [content, others] = [contentOf(message), contentOf(recorded)];
  if (content === others) return true;
  const [at, other] = [Date.parse(message.created_at ?? ''), Date.parse(recorded.created_at ?? '')];
  if (!(at > 0 && at === other)) return false;
  const [text, otherText] = [textsOf(message), textsOf(recorded)];
  return text.includes(otherText) || otherText.includes(text);
}

function contentOf({ parts }: Message): string {
  return parts.map((part) => textOf(part) ?? JSON.stringify([part.name, part.content, part.content_url])).join('');
}

function textsOf({ parts }: Message): string {
  return parts.map((part) => textOf(part) ?? '').join('');
}

export function leftOutMessage(count: number, now: number): Message {
  const content = count === 1 ? '[1 earlier message left out]' : `[${count} earlier messages left out]`;
  const at = timestamp(now);
  const part = { content_type: 'text/plain', content, content_encoding: 'plain' } as const;
  return { role: 'agent', parts: [part], created_at: at, completed_at: at };
}
