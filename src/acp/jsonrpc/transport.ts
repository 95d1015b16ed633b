// Moves an agent's bytes over stdio or a socket. Does not parse JSON.
import type { Disposable } from '../../base/disposable';

export interface TransportSink {
  /** Receives raw bytes; messages end with byte 0x0A and may be split anywhere. */
  data(chunk: Uint8Array, line?: number): void;
  closed(error?: Error): void;
}

export interface Transport extends Disposable {
  listen(sink: TransportSink): void;
  /**
   * Sends a message (without its newline). Resolves when more can be sent, which applies
   * backpressure; rejects if the stream is closed.
   */
  write(message: string, answers?: number): Promise<void>;
}
