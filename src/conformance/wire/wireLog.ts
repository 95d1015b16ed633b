// The recorded wire of one check: all lines in order, with notes of the client.
import { lineWithoutAccounts } from '../../base/accounts';
import { at } from '../../base/untrusted';

export interface WireLine {
  readonly n: number;
  readonly life: number;
  /** Milliseconds since the check began. */
  readonly ms: number;
  readonly dir: 'sent' | 'received' | 'noise' | 'note';
  readonly text: string;
  /** Absent for noise, notes and batches. */
  readonly message?: Readonly<Record<string, unknown>>;
  readonly note?: Note;
}

export type Note =
  /** A request of the client was not answered in time. */
  | { readonly kind: 'unanswered'; readonly id: string | number; readonly seconds: number }
  /** A prompt was answered, but its turn did not end in time. */
  | { readonly kind: 'endless'; readonly id: string | number; readonly seconds: number }
  /** The agent exited or disconnected unexpectedly. */
  | { readonly kind: 'ended' };

/** Maximum characters of the text of a line. */
const MAX_TEXT = 4_000;

export class WireLog {
  readonly #lines: WireLine[] = [];
  readonly #maxChars: number;
  readonly #startedAt = performance.now();
  readonly #listeners = new Set<(line: WireLine) => void>();
  #life = 0;
  #chars = 0;

  constructor(maxChars: number) {
    this.#maxChars = maxChars;
  }

  get lines(): readonly WireLine[] {
    return this.#lines;
  }

  get isFull(): boolean {
    return this.#chars > this.#maxChars;
  }

  nextLife(): void {
    this.#life++;
  }

  /** @param scrub removes secrets from the displayed text */
  traffic(dir: 'in' | 'out', line: string, scrub: (text: string) => string): void {
    this.#add(dir === 'in' ? 'received' : 'sent', scrub(lineWithoutAccounts(line)), { message: messageIn(line) });
  }

  noise(text: string): void {
    this.#add('noise', text);
  }

  note(text: string, note: Note): void {
    this.#add('note', text, { note });
  }

  onLine(listener: (line: WireLine) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  #add(
    dir: WireLine['dir'],
    text: string,
    { message, note }: { message?: Record<string, unknown> | undefined; note?: Note } = {},
  ): void {
    if (dir === 'received' || dir === 'noise') this.#chars += text.length + 1;
    if (!this.isFull || dir === 'note') {
      const line: WireLine = {
        n: this.#lines.length + 1,
        life: this.#life,
        ms: Math.round(performance.now() - this.#startedAt),
        dir,
        text: text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text,
        message,
        note,
      };
      this.#lines.push(line);
    }
    const last = this.#lines.at(-1);
    if (last) for (const listener of [...this.#listeners]) listener(last);
  }
}

function messageIn(text: string): Record<string, unknown> | undefined {
  const message: unknown = JSON.parse(text);
  return Array.isArray(message) ? undefined : (message as Record<string, unknown>);
}

export function sessionOf(line: WireLine): string | undefined {
  const id = at(line.message, 'params', 'sessionId');
  return typeof id === 'string' ? id : undefined;
}

export function updateIn(line: WireLine): unknown {
  if (line.dir !== 'received' || at(line.message, 'method') !== 'session/update') return undefined;
  return at(line.message, 'params', 'update');
}

export function updateName(line: WireLine): string | undefined {
  const name = at(updateIn(line), 'sessionUpdate');
  return typeof name === 'string' ? name : undefined;
}
