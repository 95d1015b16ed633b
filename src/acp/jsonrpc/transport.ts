// A transport moves the bytes of an agent, over stdio or a socket. It knows nothing of JSON.
import type { Disposable } from '../../base/disposable';

export interface TransportSink {
  /** Bytes as they came; messages end with byte 0x0A and may be cut anywhere. */
  data(chunk: Uint8Array, line?: number): void;
  closed(error?: Error): void;
}

export interface Transport extends Disposable {
  listen(sink: TransportSink): void;
  /**
   * Sends one message (without its newline). Resolves when more may be sent, so a slow reader slows
   * the writer; rejects when the stream is closed.
   */
  write(message: string, answers?: number): Promise<void>;
}
