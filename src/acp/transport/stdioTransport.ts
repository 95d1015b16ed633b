// The transport over a subprocess's stdin and stdout (protocol: transports, stdio).
import type { Readable, Writable } from 'node:stream';
import { ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import type { Transport, TransportSink } from '../jsonrpc/transport';

/** Bytes buffered before `listen`; then the agent waits. */
const MAX_EARLY_BYTES = 1024 * 1024;

/** Does not own the process. */
export class StdioTransport implements Transport {
  readonly #stdin: Writable;
  readonly #stdout: Readable;
  #sink: TransportSink | undefined;
  #early: Buffer[] = [];
  #earlyBytes = 0;
  #isDisposed = false;
  #end: { readonly error: Error | undefined } | undefined;
  #stdinError: Error | undefined;
  #drained: Promise<void> | undefined;

  constructor(stdin: Writable, stdout: Readable) {
    this.#stdin = stdin;
    this.#stdout = stdout;
    // Without a listener, the EPIPE of a dying agent would be an uncaught exception.
    stdin.on('error', (error) => {
      this.#stdinError ??= error;
    });
    // Listens from the start, because Node drops unread output when a process exits.
    stdout.on('data', (chunk: Buffer) => this.#receive(chunk));
    stdout.on('error', (error) => this.finish(error));
    stdout.on('end', () => this.finish());
    stdout.on('close', () => this.finish());
  }

  listen(sink: TransportSink): void {
    if (this.#isDisposed) return;
    this.#sink = sink;
    for (const chunk of this.#early.splice(0)) sink.data(chunk);
    if (this.#end) sink.closed(this.#end.error);
    else this.#stdout.resume();
  }

  /** @throws ParleyError `connection-closed` if the agent has closed its stdin */
  async write(message: string): Promise<void> {
    if (!this.#stdin.writable) throw this.#closedError();
    if (this.#stdin.write(`${message}\n`)) return;
    this.#drained ??= this.#untilDrained();
    await this.#drained;
  }

  /** Closes the agent's stdin, which asks it to exit; its remaining output is delivered. */
  endInput(): void {
    if (this.#stdin.writable) this.#stdin.end();
  }

  /** Call when the process exits too, because another process may hold the pipe open. */
  finish(error?: Error): void {
    if (this.#end) return;
    this.#end = { error };
    this.#sink?.closed(error);
  }

  /** Keeps draining stdout, because a full pipe would keep the agent from exiting. */
  dispose(): void {
    this.#isDisposed = true;
    this.#sink = undefined;
    this.#early = [];
    this.endInput();
    this.#stdout.resume();
  }

  #receive(chunk: Buffer): void {
    if (this.#end || this.#isDisposed) return;
    if (this.#sink) {
      this.#sink.data(chunk);
      return;
    }
    this.#early.push(chunk);
    this.#earlyBytes += chunk.length;
    if (this.#earlyBytes > MAX_EARLY_BYTES) this.#stdout.pause();
  }

  #untilDrained(): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (): void => {
        this.#stdin.off('drain', settle);
        this.#stdin.off('close', settle);
        this.#drained = undefined;
        if (this.#stdin.writable) resolve();
        else reject(this.#closedError());
      };
      this.#stdin.on('drain', settle);
      this.#stdin.on('close', settle);
    });
  }

  #closedError(): ParleyError {
    const reason = this.#stdinError ? ` (${this.#stdinError.message})` : '';
    return new ParleyError('connection-closed', localizable('The agent no longer accepts messages{0}.', reason), {
      cause: this.#stdinError,
    });
  }
}
