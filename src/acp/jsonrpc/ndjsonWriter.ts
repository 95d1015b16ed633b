// Writes JSON-RPC messages, one JSON object a line.
import { AbstractMessageWriter, type Message, type MessageWriter } from 'vscode-jsonrpc';
import { type MutableRpcStats, messageTooLarge } from './ndjsonReader';
import type { Transport } from './transport';

/** What the writer tells its connection. */
export interface NdjsonWriterOptions {
  readonly transport: Transport;
  readonly maxMessageBytes: number;
  readonly stats: MutableRpcStats;
  /** Returns a message as it goes over the wire: with the id that the agent sees. */
  readonly toWire: (message: Message) => Message;
  /** Returns the number of the line whose request a message answers, where that is known. */
  readonly answers: (message: Message) => number | undefined;
  /**
   * A message is about to leave. The only way to learn the id that vscode-jsonrpc chose for a
   * request.
   */
  readonly onWrite: (message: Message) => void;
  /** It did not leave, or not wholly. vscode-jsonrpc would turn the reason into a number. */
  readonly onFailed: (message: Message, error: unknown) => void;
  readonly onLine?: ((line: string) => void) | undefined;
}

/**
 * The writer half of a connection. Messages leave in the order of the calls; the promise is the
 * transport's backpressure.
 */
export class NdjsonWriter extends AbstractMessageWriter implements MessageWriter {
  readonly #options: NdjsonWriterOptions;
  #disposed = false;

  constructor(options: NdjsonWriterOptions) {
    super();
    this.#options = options;
  }

  /**
   * @throws TypeError what JSON cannot hold; ParleyError `message-too-large`; what the transport
   * throws.
   */
  async write(message: Message): Promise<void> {
    // The connection is closed: an answer can no longer be read.
    if (this.#disposed) return;
    const { transport, maxMessageBytes, stats, toWire, answers, onWrite, onFailed, onLine } = this.#options;
    const sent = toWire(message);
    try {
      const line = encode(sent);
      if (line.length * 3 > maxMessageBytes && Buffer.byteLength(line) > maxMessageBytes) {
        stats.oversize++;
        throw messageTooLarge('out', maxMessageBytes);
      }
      onWrite(sent);
      stats.messagesOut++;
      onLine?.(line);
      await transport.write(line, answers(sent));
    } catch (error) {
      onFailed(sent, error);
      throw error;
    }
  }

  end(): void {}

  override dispose(): void {
    this.#disposed = true;
    super.dispose();
  }
}

const LINE_SEPARATORS = /[\u2028\u2029]/g;

/**
 * JSON without U+2028 and U+2029: legal there, but an agent that reads with Node's `readline` may
 * break the line at them.
 */
function encode(message: Message): string {
  return JSON.stringify(message).replace(LINE_SEPARATORS, (found) => (found === '\u2028' ? '\\u2028' : '\\u2029'));
}
