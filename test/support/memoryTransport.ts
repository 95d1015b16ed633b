// An agent in memory: the test is the other side of the wire, byte for byte.
import type { Transport, TransportSink } from '../../src/acp/jsonrpc/transport';

export class MemoryTransport implements Transport {
  readonly sent: string[] = [];
  isDisposed = false;
  #sink: TransportSink | undefined;
  #waiting: ((line: string) => void)[] = [];
  #read = 0;

  listen(sink: TransportSink): void {
    this.#sink = sink;
  }

  async write(message: string): Promise<void> {
    this.sent.push(message);
    const take = this.#waiting.shift();
    if (take) {
      this.#read++;
      take(message);
    }
  }

  dispose(): void {
    this.isDisposed = true;
  }

  /** The agent says these bytes; a string is UTF-8. */
  say(data: string | Uint8Array): void {
    this.#sink?.data(typeof data === 'string' ? Buffer.from(data) : data);
  }

  sayJson(...messages: readonly unknown[]): void {
    this.say(messages.map((message) => `${JSON.stringify(message)}\n`).join(''));
  }

  end(error?: Error): void {
    this.#sink?.closed(error);
  }

  /** The next message that was sent and not yet read by the test, parsed. */
  async next(): Promise<Record<string, unknown>> {
    const line =
      this.#read < this.sent.length
        ? this.sent[this.#read++]
        : await new Promise<string>((resolve) => this.#waiting.push(resolve));
    return JSON.parse(line ?? '') as Record<string, unknown>;
  }
}
