// Messages over a WebSocket: one JSON text per text frame (protocol.md 6.1). Binary frames are
// ignored, as the proposal requires.

import { type RawData, WebSocket } from 'ws';
import { Deferred } from '../../base/deferred';
import { ParleyError } from '../../base/errors';
import { framed, type Localizable, localizable } from '../../base/localizable';
import { oneLine } from '../../base/text';
import { MAX_MESSAGE_BYTES } from '../jsonrpc/ndjsonReader';
import type { TransportSink } from '../jsonrpc/transport';
import { answerError, lostError, networkError, statusError, tooLargeError } from './remoteError';
import { asLine, CLOSE_MS, type RemoteTransport, type RemoteTransportOptions } from './remoteTransport';

/** Bytes buffered in the socket before writers wait. */
const HIGH_WATER_BYTES = 1024 * 1024;

export interface WebSocketOptions extends RemoteTransportOptions {
  /** Silence before the server is pinged, and again before it counts as lost; in ms (30 s). */
  readonly keepaliveMs?: number;
}

export class WebSocketTransport implements RemoteTransport {
  readonly #socket: WebSocket;
  readonly #options: WebSocketOptions;
  readonly #ended = new Deferred<ParleyError>();
  readonly #closed = new Deferred<void>();
  #sink: TransportSink | undefined;
  #end: ParleyError | undefined;
  #isClosing = false;
  #hasWarned = false;
  #keepalive: NodeJS.Timeout | undefined;

  /** Resolves when messages can be sent. Throws ParleyError; the reason of `signal`. */
  static async connect(options: WebSocketOptions, signal: AbortSignal): Promise<WebSocketTransport> {
    signal.throwIfAborted();
    let socket: WebSocket;
    try {
      socket = new WebSocket(options.url, {
        headers: options.headers,
        followRedirects: false,
        // A few bytes could unpack to gigabytes.
        perMessageDeflate: false,
        maxPayload: options.maxMessageBytes ?? MAX_MESSAGE_BYTES,
      });
    } catch (error) {
      throw networkError(options.url, error);
    }
    const transport = new WebSocketTransport(socket, options);
    const opened = new Deferred<void>();
    const abort = (): void => {
      opened.reject(signal.reason);
      socket.terminate();
    };
    signal.addEventListener('abort', abort, { once: true });
    socket.once('open', () => {
      socket.pause(); // until `listen`
      opened.resolve();
    });
    void transport.ended.then((error) => opened.reject(error));
    try {
      await opened.promise;
      return transport;
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  private constructor(socket: WebSocket, options: WebSocketOptions) {
    this.#socket = socket;
    this.#options = options;
    const { url } = options;
    socket.on('unexpected-response', (request, response) => {
      this.#finish(statusError(url, response.statusCode ?? 0));
      response.destroy();
      request.destroy();
    });
    socket.on('error', (error) => this.#finish(this.#errorOf(error)));
    socket.on('close', (code, reason) => {
      this.#finish(closeError(url, code, oneLine(reason.toString('utf8'))));
      this.#closed.resolve();
    });
    socket.on('message', (data, isBinary) => this.#receive(data, isBinary));
    socket.on('pong', () => this.#restartKeepalive());
    socket.on('ping', () => this.#restartKeepalive());
    socket.on('open', () => this.#restartKeepalive());
  }

  get ended(): Promise<ParleyError> {
    return this.#ended.promise;
  }

  listen(sink: TransportSink): void {
    if (this.#isClosing) return;
    this.#sink = sink;
    if (this.#end) sink.closed(this.#end);
    else this.#socket.resume();
  }

  /** @throws ParleyError why the connection has ended */
  async write(message: string): Promise<void> {
    if (this.#end) throw this.#end;
    if (this.#socket.readyState !== WebSocket.OPEN) throw this.#notOpen();
    await new Promise<void>((resolve, reject) => {
      this.#socket.send(message, (error) => (error ? reject(this.#end ?? this.#notOpen()) : resolve()));
      if (this.#socket.bufferedAmount < HIGH_WATER_BYTES) resolve();
    });
  }

  async close(): Promise<void> {
    this.dispose();
    await this.#closed.promise;
  }

  dispose(): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    this.#sink = undefined;
    clearTimeout(this.#keepalive);
    if (this.#socket.readyState === WebSocket.CLOSED) return;
    // Without reading, the server's close frame is never seen.
    this.#socket.resume();
    this.#socket.close(1000);
    setTimeout(() => this.#socket.terminate(), CLOSE_MS).unref();
  }

  #receive(data: RawData, isBinary: boolean): void {
    this.#restartKeepalive();
    if (isBinary) {
      if (!this.#hasWarned) this.#options.log.warn(`${this.#options.url.host} sent a binary frame; ignored`);
      this.#hasWarned = true;
      return;
    }
    const bytes = Array.isArray(data) ? Buffer.concat(data) : data;
    this.#sink?.data(asLine(bytes instanceof ArrayBuffer ? new Uint8Array(bytes) : bytes));
  }

  /** A half-open connection would otherwise look alive for hours. */
  #restartKeepalive(): void {
    clearTimeout(this.#keepalive);
    if (this.#end || this.#isClosing) return;
    const ms = this.#options.keepaliveMs ?? 30_000;
    this.#keepalive = setTimeout(() => {
      this.#socket.ping();
      this.#keepalive = setTimeout(() => {
        this.#finish(lostError(localizable('{0} stopped responding', this.#options.url.host)));
        this.#socket.terminate();
      }, ms).unref();
    }, ms).unref();
  }

  #finish(error: ParleyError): void {
    if (this.#end || this.#isClosing) return;
    this.#end = error;
    clearTimeout(this.#keepalive);
    this.#ended.resolve(error);
    this.#sink?.closed(error);
  }

  #errorOf(error: Error & { readonly code?: string }): ParleyError {
    const { url, maxMessageBytes = MAX_MESSAGE_BYTES } = this.#options;
    if (error.code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH') return tooLargeError(url, maxMessageBytes);
    if (error.code?.startsWith('WS_ERR_'))
      return lostError(localizable('{0} violated the WebSocket protocol', url.host));
    // Messages of the ws package if the server doesn't upgrade.
    if (/Sec-WebSocket|Upgrade header|Parse Error/i.test(error.message)) {
      return answerError(localizable("{0} isn't a WebSocket server", url.host));
    }
    return networkError(url, error);
  }

  #notOpen(): ParleyError {
    return new ParleyError('connection-closed', localizable('The connection to the agent is closed.'));
  }
}

const CLOSE_REASONS: Readonly<Record<number, (host: string) => Localizable>> = {
  1001: (host) => localizable('{0} is shutting down', host),
  1002: (host) => localizable('{0} reported a protocol error', host),
  1003: (host) => localizable("{0} doesn't accept text messages", host),
  1005: (host) => localizable('{0} closed the connection without a reason', host),
  1006: (host) => localizable('{0} dropped the connection', host),
  1007: (host) => localizable('{0} received invalid text', host),
  1008: (host) => localizable('{0} closed the connection because of its policy', host),
  1009: (host) => localizable('{0} received a message that is too large', host),
  1011: (host) => localizable('{0} reported a server error', host),
  1012: (host) => localizable('{0} is restarting', host),
  1013: (host) => localizable('{0} is overloaded', host),
};

/** RFC 6455, 7.4.1. Codes of 4000 and above are the server's own. */
function closeError(url: URL, code: number, reason: string): ParleyError {
  const message = CLOSE_REASONS[code]?.(url.host) ?? localizable('{0} closed the connection', url.host);
  return lostError(framed('{0} ({1})', message, `${code}${reason && `: ${reason}`}`));
}
