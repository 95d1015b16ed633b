// A JSON-RPC connection with an agent over a transport. vscode-jsonrpc correlates and dispatches
// requests and responses; this adds ndjson, ids that the caller knows, batched updates, the
// protocol's cancellation, and a close that settles every pending request.

import { randomInt } from 'node:crypto';
import {
  AbstractMessageWriter,
  type CancellationId,
  type CancellationStrategy,
  type CancellationToken,
  createMessageConnection,
  ErrorCodes,
  Message,
  type MessageConnection,
  ResponseError,
  type ResponseMessage,
} from 'vscode-jsonrpc/node';
import { Deferred } from '../../base/deferred';
import type { Disposable } from '../../base/disposable';
import { messageOf, ParleyError } from '../../base/errors';
import { Emitter, type Event } from '../../base/event';
import { localizable } from '../../base/localizable';
import type { Log } from '../../base/log';
import { HandledLines, type LineProgress } from './handledLines';
import type { InboundHandlers } from './inboundQueue';
import { MAX_MESSAGE_BYTES, messageTooLarge, NdjsonReader, newRpcStats } from './ndjsonReader';
import { errorSentence, RPC_CODES, RpcError } from './rpcError';
import type { Transport } from './transport';

export interface RpcHandlers extends InboundHandlers {
  /** Throw an {@link RpcError} to answer with it; other errors become -32603. */
  onRequest(method: string, params: unknown, signal: AbortSignal, id: string | number): Promise<unknown>;
}

export interface RpcConnectionOptions {
  readonly transport: Transport;
  readonly handlers: RpcHandlers;
  readonly log: Log;
  /** In bytes, in either direction. Default 32 MiB. */
  readonly maxMessageBytes?: number;
  /** Copy what you keep: an incoming line may be a slice of a larger string. */
  onTraffic?(dir: 'in' | 'out', line: string): void;
  /** Called with the first 2 KB of each line that was not a message. */
  onNoise?(line: string): void;
  readonly firstId?: number | undefined;
  onRequestSent?(): void;
  /** Removes the connection's secrets from error messages, which are shown to people. */
  scrub?(text: string): string;
}

export interface RequestOptions {
  /** Aborting sends `$/cancel_request` and still waits for the promised response. */
  readonly signal?: AbortSignal;
  onSent?(id: string | number): void;
}

export interface RpcCaller {
  request(method: string, params: unknown, options?: RequestOptions): Promise<unknown>;
  notify(method: string, params: unknown): Promise<void>;
}

interface Outgoing {
  readonly method: string;
  readonly onSent: ((id: string | number) => void) | undefined;
  id: string | number | undefined;
  failure: unknown;
  over: AbortController | undefined;
}

export class RpcConnection implements RpcCaller, Disposable {
  readonly #log: Log;
  readonly #handlers: RpcHandlers;
  readonly #transport: Transport;
  readonly #connection: MessageConnection;
  readonly #reader: NdjsonReader;
  readonly #cancellation: Cancellation;
  readonly #ids: WireIds;
  readonly #lines = new HandledLines();
  readonly stats = newRpcStats();
  readonly #pending = new Map<string | number, Outgoing>();
  readonly #earlierRequests = new Map<string | number, Deferred<unknown>>();
  readonly #onRequestSent: (() => void) | undefined;
  readonly #didClose: Emitter<ParleyError | undefined>;
  readonly #scrub: (text: string) => string;
  #unsent: Outgoing | undefined;
  #closeError: ParleyError | undefined;

  constructor(options: RpcConnectionOptions) {
    const { transport, handlers, log, maxMessageBytes = MAX_MESSAGE_BYTES } = options;
    this.#log = log;
    this.#handlers = handlers;
    this.#transport = transport;
    this.#onRequestSent = options.onRequestSent?.bind(options);
    const ids = new WireIds(options.firstId ?? randomInt(1, 2 ** 30));
    this.#ids = ids;
    this.#cancellation = new Cancellation((id) => (typeof id === 'number' ? ids.idOf(id) : id));
    this.#scrub = (text) => options.scrub?.(text) ?? text;
    this.#didClose = new Emitter((error) => log.error(`A listener failed: ${messageOf(error)}`));
    const onLine = options.onTraffic && this.#guarded((line) => options.onTraffic?.('out', line));
    const writer = new LineWriter((message) => this.#write(message, maxMessageBytes, onLine));
    this.#reader = new NdjsonReader({
      maxMessageBytes,
      log,
      stats: this.stats,
      handlers,
      onCancel: (id) => this.#onCancel(id),
      refuse: (code, message) => {
        const answer = { jsonrpc: '2.0', id: null, error: { code, message } };
        writer.write(answer).catch((error: unknown) => log.debug(`A refusal was not sent: ${messageOf(error)}`));
      },
      onEnd: (error) => this.#close(error, true),
      onLine: options.onTraffic && this.#guarded((line) => options.onTraffic?.('in', line)),
      onNoise: options.onNoise && this.#guarded((line) => options.onNoise?.(line)),
    });
    const logger = {
      error: (message: string) => log.warn(message),
      warn: (message: string) => log.warn(message),
      info: (message: string) => log.info(message),
      log: (message: string) => log.debug(message),
    };
    this.#connection = createMessageConnection(this.#reader, writer, logger, {
      cancellationStrategy: this.#cancellation.strategy,
      messageStrategy: { handleMessage: (message, next) => this.#dispatch(message, next) },
    });
    this.#connection.onRequest((method: string, params: unknown, token: CancellationToken) =>
      this.#onRequest(method, params, token),
    );
    this.#connection.listen();
    transport.listen(this.#reader);
  }

  get nextId(): number {
    return this.#ids.next;
  }

  progress(awaited: ReadonlySet<string>): LineProgress {
    return this.#lines.progress(this.#reader.queue.handled, awaited);
  }

  whenHandled(run: () => void): void {
    this.#reader.queue.whenDrained(run);
  }

  resumeAfter(progress: LineProgress): void {
    this.#lines.resume(progress);
    this.#reader.queue.beginAfter(progress.line);
  }

  get isClosed(): boolean {
    return this.#closeError !== undefined;
  }

  untilAnswered(id: string | number): AbortSignal | undefined {
    const outgoing = this.#pending.get(id);
    if (!outgoing) return undefined;
    outgoing.over ??= new AbortController();
    return outgoing.over.signal;
  }

  /** Fires when the agent closed the connection (undefined) or it broke, but not on `dispose()`. */
  get onDidClose(): Event<ParleyError | undefined> {
    return this.#didClose.event;
  }

  /**
   * Sends a request and waits for its response, without a timeout.
   * @throws RpcError the agent's error response, or `cancelled` if the signal was aborted before
   * sending; ParleyError `connection-closed` or `message-too-large`.
   */
  async request(method: string, params: unknown, options: RequestOptions = {}): Promise<unknown> {
    if (this.#closeError) throw this.#closeError;
    if (options.signal?.aborted) throw new RpcError(RPC_CODES.cancelled, 'Cancelled before it was sent');
    const outgoing: Outgoing = {
      method,
      onSent: options.onSent?.bind(options),
      id: undefined,
      failure: undefined,
      over: undefined,
    };
    this.#unsent = outgoing;
    try {
      const args = params === undefined || params === null ? [] : [params];
      const tokens = options.signal ? [tokenOf(options.signal)] : [];
      return await this.#connection.sendRequest(method, ...args, ...tokens);
    } catch (error) {
      throw this.#requestError(error, outgoing);
    } finally {
      if (this.#unsent === outgoing) this.#unsent = undefined;
      if (outgoing.id !== undefined) this.#pending.delete(outgoing.id);
      outgoing.over?.abort();
    }
  }

  /**
   * Waits for the response to a request of an earlier connection.
   * @throws as {@link request}
   */
  async answerTo(id: string | number, method: string, signal: AbortSignal): Promise<unknown> {
    if (this.#closeError) throw this.#closeError;
    const answer = new Deferred<unknown>();
    const outgoing: Outgoing = { method, onSent: undefined, id, failure: undefined, over: undefined };
    this.#pending.set(id, outgoing);
    this.#earlierRequests.set(id, answer);
    const cancel = (): void => void this.notify('$/cancel_request', { requestId: id }).catch(() => undefined);
    if (signal.aborted) cancel();
    signal.addEventListener('abort', cancel, { once: true });
    try {
      return await answer.promise;
    } finally {
      signal.removeEventListener('abort', cancel);
      this.#earlierRequests.delete(id);
      this.#pending.delete(id);
      outgoing.over?.abort();
    }
  }

  /** @throws ParleyError `connection-closed` or `message-too-large` */
  async notify(method: string, params: unknown): Promise<void> {
    if (this.#closeError) throw this.#closeError;
    if (params === undefined || params === null) await this.#connection.sendNotification(method);
    else await this.#connection.sendNotification(method, params);
  }

  /** Rejects pending requests, aborts the agent's requests and disposes the transport. */
  dispose(): void {
    this.#close(undefined, false);
    this.#didClose.dispose();
  }

  #close(error: ParleyError | undefined, fire: boolean): void {
    if (this.#closeError) return;
    this.#closeError =
      error ?? new ParleyError('connection-closed', localizable('The connection to the agent is closed.'));
    if (this.#pending.size > 0) {
      const methods = [...this.#pending.values()].map((outgoing) => outgoing.method).join(', ');
      this.#log.info(`The connection closed with ${this.#pending.size} requests unanswered: ${methods}`);
    }
    for (const answer of this.#earlierRequests.values()) answer.reject(this.#closeError);
    this.#cancellation.cancelAll();
    this.#connection.dispose();
    this.#transport.dispose();
    if (fire) this.#didClose.fire(error);
  }

  /** Catches errors of a listener: they must neither stop reading nor crash the stream. */
  #guarded(watch: (line: string) => void): (line: string) => void {
    return (line) => {
      try {
        watch(line);
      } catch (error) {
        this.#log.error(`A listener of the wire failed: ${messageOf(error)}`);
      }
    };
  }

  /**
   * Sends messages in call order. The promise applies the transport's backpressure.
   * @throws TypeError if JSON cannot represent it; ParleyError `message-too-large`; errors of the
   * transport.
   */
  async #write(inner: Message, maxBytes: number, onLine: ((line: string) => void) | undefined): Promise<void> {
    if (this.#closeError) return;
    const message = this.#ids.toWire(inner);
    try {
      const line = encode(message);
      if (line.length * 3 > maxBytes && Buffer.byteLength(line) > maxBytes) {
        this.stats.oversize++;
        throw messageTooLarge('out', maxBytes);
      }
      this.#onWrite(message);
      this.stats.messagesOut++;
      onLine?.(line);
      await this.#transport.write(line, this.#lines.answers(message));
    } catch (error) {
      this.#onFailed(message, error);
      throw error;
    }
  }

  /** Learns the id that vscode-jsonrpc chose for a request: there is no other way. */
  #onWrite(message: Message): void {
    if (!Message.isRequest(message) || message.id === null || !this.#unsent) return;
    const outgoing = this.#unsent;
    this.#unsent = undefined;
    outgoing.id = message.id;
    this.#pending.set(message.id, outgoing);
    outgoing.onSent?.(message.id);
    this.#onRequestSent?.();
  }

  /** Keeps the reason of a failed write, which vscode-jsonrpc would turn into a number. */
  #onFailed(message: Message, error: unknown): void {
    if (!Message.isRequest(message) || message.id === null) return;
    const outgoing = this.#pending.get(message.id) ?? this.#unsent;
    if (outgoing) outgoing.failure = error;
  }

  #requestError(error: unknown, outgoing: Outgoing): unknown {
    if (outgoing.failure !== undefined) return outgoing.failure;
    if (!(error instanceof ResponseError)) return this.#closeError ?? error;
    if (this.#closeError && error.code === ErrorCodes.PendingResponseRejected) return this.#closeError;
    return this.#answerError(error);
  }

  #dispatch<R>(message: Message, next: (message: Message) => R): R | undefined {
    try {
      const line = this.#reader.queue.dispatching();
      this.#lines.handling(message, line);
      const accepted = Message.isResponse(message) ? this.#matchResponse(message, line) : message;
      return accepted && next(accepted);
    } finally {
      this.#reader.queue.dispatched();
    }
  }

  /** Matches a response to its request. Some agents answer "1" to 1. */
  #matchResponse(message: ResponseMessage, line: number): Message | undefined {
    const given = message.id;
    const id = [given, typeof given === 'string' ? Number(given) : given].find(
      (one) => one !== null && this.#pending.has(one),
    );
    if (id === undefined || id === null) {
      this.#log.warn(`The agent answered a request that nobody waits for: id ${JSON.stringify(given)}`);
      return undefined;
    }
    this.#lines.answered(id, line);
    const deferred = this.#earlierRequests.get(id);
    if (!deferred) return this.#ids.toInner(message, id);
    const { error, result } = message;
    if (error) deferred.reject(this.#answerError(error));
    else deferred.resolve(result);
    return undefined;
  }

  #answerError({ code, message, data }: NonNullable<ResponseMessage['error']>): RpcError {
    return new RpcError(code, this.#scrub(errorSentence(message, data)), data);
  }

  #onCancel(id: string | number): void {
    if (!this.#cancellation.cancel(id))
      this.#log.debug(`The agent cancelled a request it does not wait for: id ${JSON.stringify(id)}`);
  }

  async #onRequest(method: string, params: unknown, token: CancellationToken): Promise<unknown> {
    if (!(token instanceof IncomingRequest)) throw new ResponseError(RPC_CODES.internal, 'The request has no token');
    try {
      return await this.#handlers.onRequest(method, params, token.signal, token.id);
    } catch (error) {
      if (error instanceof RpcError) throw new ResponseError(error.code, error.message, error.data);
      if (token.signal.aborted) throw new ResponseError(RPC_CODES.cancelled, 'The request was cancelled');
      this.#log.warn(`The agent's request ${method} failed: ${messageOf(error)}`);
      throw new ResponseError(RPC_CODES.internal, messageOf(error));
    } finally {
      this.#cancellation.done(token);
    }
  }
}

/**
 * Ids of our requests on the wire. vscode-jsonrpc counts from 0 in each connection; ours start at a
 * number unique to the connection: several clients may share a session, and an agent names a prompt
 * by its id to all of them.
 */
class WireIds {
  readonly #offset: number;
  next: number;

  constructor(first: number) {
    this.#offset = first;
    this.next = first;
  }

  readonly toWire = (message: Message): Message => {
    if (!Message.isRequest(message) || typeof message.id !== 'number') return message;
    const id = this.idOf(message.id);
    this.next = Math.max(this.next, id + 1);
    return id === message.id ? message : ({ ...message, id } as Message);
  };

  idOf(id: number): number {
    return id + this.#offset;
  }

  toInner(message: Message, id: string | number): Message {
    const inner = typeof id === 'number' ? id - this.#offset : id;
    return { ...message, id: inner } as Message;
  }
}

class LineWriter extends AbstractMessageWriter {
  readonly write: (message: Message) => Promise<void>;

  constructor(write: (message: Message) => Promise<void>) {
    super();
    this.write = write;
  }

  end(): void {}
}

/** Escapes U+2028 and U+2029 in JSON: Node's `readline` may split lines there. */
function encode(message: Message): string {
  return JSON.stringify(message).replace(/[\u2028\u2029]/g, (found) => (found === '\u2028' ? '\\u2028' : '\\u2029'));
}

function tokenOf(signal: AbortSignal): CancellationToken {
  return {
    get isCancellationRequested() {
      return signal.aborted;
    },
    onCancellationRequested: (listener: (event: undefined) => unknown) => {
      const run = (): void => void listener(undefined);
      signal.addEventListener('abort', run, { once: true });
      return { dispose: () => signal.removeEventListener('abort', run) };
    },
  };
}

class IncomingRequest implements CancellationToken {
  readonly id: CancellationId;
  readonly #controller = new AbortController();
  readonly source = { token: this, cancel: () => this.cancel(), dispose: () => {} };

  constructor(id: CancellationId) {
    this.id = id;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get isCancellationRequested(): boolean {
    return this.signal.aborted;
  }

  get onCancellationRequested(): CancellationToken['onCancellationRequested'] {
    return tokenOf(this.signal).onCancellationRequested;
  }

  cancel(): void {
    this.#controller.abort();
  }
}

/** Sends the protocol's `$/cancel_request` instead of vscode-jsonrpc's `$/cancelRequest`. */
class Cancellation {
  readonly #incoming = new Map<CancellationId, IncomingRequest>();
  readonly #idOf: (id: CancellationId) => CancellationId;

  constructor(idOf: (id: CancellationId) => CancellationId) {
    this.#idOf = idOf;
  }

  readonly strategy: CancellationStrategy = {
    receiver: {
      createCancellationTokenSource: (id: CancellationId) => {
        const request = new IncomingRequest(id);
        this.#incoming.set(id, request);
        return request.source;
      },
    },
    sender: {
      sendCancellation: (connection: MessageConnection, id: CancellationId) => {
        // Called from an abort listener, so a throw would be an uncaught exception.
        try {
          return connection.sendNotification('$/cancel_request', { requestId: this.#idOf(id) });
        } catch {
          return Promise.resolve();
        }
      },
      cleanup: () => {},
    },
  };

  cancel(id: CancellationId): boolean {
    const request = this.#incoming.get(id);
    request?.cancel();
    return request !== undefined;
  }

  done(request: IncomingRequest): void {
    if (this.#incoming.get(request.id) === request) this.#incoming.delete(request.id);
  }

  cancelAll(): void {
    for (const request of this.#incoming.values()) request.cancel();
    this.#incoming.clear();
  }
}
