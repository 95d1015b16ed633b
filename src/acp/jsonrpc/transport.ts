// A transport moves the bytes of an agent, over stdio or a socket. It knows nothing of JSON.
import type { Disposable } from '../../base/disposable';

/** Takes what a transport receives. */
export interface TransportSink {
  /**
   * Bytes as they came; messages end with byte 0x0A and may be cut anywhere.
   * @param line the number of the first line that begins in the chunk, where lines are numbered and
   * some may be left out before it; it begins with the chunk then
   */
  data(chunk: Uint8Array, line?: number): void;
  /** The end of the input. Called once; `error` if the connection broke. */
  closed(error?: Error): void;
}

/** A two-way byte stream to an agent. */
export interface Transport extends Disposable {
  /** Begins delivery; called once. What came before is delivered first. */
  listen(sink: TransportSink): void;
  /**
   * Sends one message (without its newline). Resolves when more may be sent, so a slow reader slows
   * the writer; rejects when the stream is closed.
   * @param answers the number of the line whose request this message answers
   */
  write(message: string, answers?: number): Promise<void>;
}
