// Messages over streamable HTTP (protocol.md 6.1): outgoing messages are sequential POSTs; incoming
// ones are server-sent events, on one stream for the connection and one per session. HTTP/1.1 only,
// like the official SDK.

import { Deferred } from '../../base/deferred';
import { messageOf, ParleyError } from '../../base/errors';
import { localizable } from '../../base/localizable';
import { oneLine } from '../../base/text';
import { at, objectOf, parseMessage } from '../../base/untrusted';
import { MAX_MESSAGE_BYTES } from '../jsonrpc/ndjsonReader';
import { RPC_CODES } from '../jsonrpc/rpcError';
import type { TransportSink } from '../jsonrpc/transport';
import { connectedStatusError, EventStreams, SESSION_HEADER } from './eventStreams';
import { type HttpAnswer, HttpClient, mediaType, readBody } from './httpClient';
import { answerError, asLost, lostError, networkError, statusError, tooLargeError } from './remoteError';
import { asLine, CLOSE_MS, type RemoteTransport, type RemoteTransportOptions } from './remoteTransport';

const CONNECTION_HEADER = 'Acp-Connection-Id';
/** Time for the server to accept a message, in milliseconds. */
const POST_MS = 60_000;
/** Bytes of a refusal's body that are read. */
const MAX_REFUSAL_BYTES = 8192;
/** In milliseconds. */
const REFUSAL_MS = 2000;
const MAX_CONNECTION_ID_CHARS = 1024;
const MAX_ROUTES = 1000;
const FATAL_STATUSES: ReadonlySet<number> = new Set([401, 403, 404, 410]);

export interface HttpTransportOptions extends RemoteTransportOptions {
  /** Longest pause within the replay of `session/load` on another stream, in ms (100). */
  readonly quietMs?: number;
}

interface Message {
  readonly id?: string | number | null;
  readonly method?: string;
  readonly params?: unknown;
}

interface Pending {
  readonly id: string | number;
  readonly method: string;
  readonly sessionId: string | undefined;
}

export class HttpTransport implements RemoteTransport {
  readonly #options: HttpTransportOptions;
  readonly #client: HttpClient;
  readonly #maxBytes: number;
  readonly #ended = new Deferred<ParleyError>();
  readonly #lifetime = new AbortController();
  readonly #pending = new Map<string, Pending>();
  readonly #routes = new Map<string, string>();
  #connection: { readonly id: string; readonly streams: EventStreams } | undefined;
  #sink: TransportSink | undefined;
  #end: ParleyError | undefined;
  #closing: Promise<void> | undefined;
  #sendQueue: Promise<unknown> = Promise.resolve();

  /** The first message must be `initialize`. */
  constructor(options: HttpTransportOptions) {
    this.#options = options;
    this.#maxBytes = options.maxMessageBytes ?? MAX_MESSAGE_BYTES;
    this.#client = new HttpClient(options.url, options.headers);
  }

  get ended(): Promise<ParleyError> {
    return this.#ended.promise;
  }

  listen(sink: TransportSink): void {
    this.#sink = sink;
    if (this.#end) sink.closed(this.#end);
  }

  /** Resolves when the server has accepted the message. Throws why the connection ended. */
  write(message: string): Promise<void> {
    const sent = this.#sendQueue.then(() => this.#send(message));
    this.#sendQueue = sent.catch(() => {});
    return sent;
  }

  async close(): Promise<void> {
    this.dispose();
    await this.#closing;
  }

  dispose(): void {
    if (this.#closing) return;
    this.#sink = undefined;
    this.#lifetime.abort(new ParleyError('connection-closed', localizable('The connection to the agent is closed.')));
    this.#closing = this.#deleteConnection();
  }

  // Outgoing messages

  async #send(text: string): Promise<void> {
    this.#lifetime.signal.throwIfAborted();
    const message = JSON.parse(text) as Message;
    try {
      if (this.#connection) await this.#post(text, message, this.#connection);
      else await this.#initialize(text, message);
    } catch (error) {
      if (this.#lifetime.signal.aborted) throw this.#lifetime.signal.reason;
      const failure = networkError(this.#options.url, error);
      this.#finish(failure);
      throw this.#end ?? failure;
    }
  }

  async #initialize(text: string, message: Message): Promise<void> {
    const { url } = this.#options;
    if (message.method !== 'initialize')
      throw new ParleyError('connection-closed', localizable("The connection isn't initialized."));
    const headers = { 'Content-Type': 'application/json', Accept: 'application/json' };
    const answer = await this.#client.request('POST', headers, text, this.#lifetime.signal);
    if (answer.status !== 200) {
      const timeout = AbortSignal.timeout(REFUSAL_MS);
      timeout.addEventListener('abort', () => answer.body.destroy());
      const body = await readBody(answer, MAX_REFUSAL_BYTES, true).catch(() => '');
      throw statusError(url, answer.status, mediaType(answer) === 'text/html' ? '' : refusalReason(body ?? ''));
    }
    const id = answer.headers['acp-connection-id'];
    if (mediaType(answer) !== 'application/json' || typeof id !== 'string' || !/^[\x21-\x7e]+$/.test(id)) {
      answer.body.destroy();
      throw answerError(localizable("{0} isn't an Agent Client Protocol agent", url.host));
    }
    if (id.length > MAX_CONNECTION_ID_CHARS)
      throw answerError(localizable('{0} sent a connection id that is too long', url.host));
    const streams = new EventStreams(
      {
        client: this.#client,
        url,
        headers: { [CONNECTION_HEADER]: id },
        maxMessageBytes: this.#maxBytes,
        onMessage: (data, sessionId) => this.#receive(data, sessionId),
        onEnd: (error) => this.#finish(error),
        onConflict: (sessionId, error) => this.#failSession(sessionId, error.message),
      },
      this.#lifetime.signal,
    );
    this.#connection = { id, streams };
    const body = await readBody(answer, this.#maxBytes, false);
    if (body === undefined) throw tooLargeError(url, this.#maxBytes);
    this.#deliver(body);
    void streams.open(undefined);
  }

  async #post(text: string, message: Message, { id, streams }: { id: string; streams: EventStreams }): Promise<void> {
    const { url } = this.#options;
    const sessionId = this.#sessionOf(message);
    const request = requestOf(message, sessionId);
    try {
      if (sessionId !== undefined) await streams.open(sessionId);
    } catch (error) {
      this.#failRequest(request, messageOf(error));
      return;
    }
    if (request) this.#pending.set(String(request.id), request);
    const timeout = AbortSignal.timeout(POST_MS);
    const headers = {
      'Content-Type': 'application/json',
      [CONNECTION_HEADER]: id,
      ...(sessionId !== undefined && { [SESSION_HEADER]: sessionId }),
    };
    let answer: HttpAnswer;
    try {
      answer = await this.#client.request('POST', headers, text, AbortSignal.any([this.#lifetime.signal, timeout]));
    } catch (error) {
      if (timeout.aborted)
        throw lostError(localizable("{0} didn't accept a message within {1} s", url.host, POST_MS / 1000));
      throw error;
    }
    const body = readBody(answer, MAX_REFUSAL_BYTES, true).catch(() => undefined);
    if (answer.status >= 200 && answer.status < 300) return;
    this.#handleRefusal(answer.status, request, sessionId, await body);
  }

  /** @throws ParleyError if losing a notification or answer would leave the agent waiting */
  #handleRefusal(
    status: number,
    request: Pending | undefined,
    sessionId: string | undefined,
    body: string | undefined,
  ): void {
    const error = connectedStatusError(this.#options.url, status);
    if (status === 409 && sessionId !== undefined) this.#failSession(sessionId, error.message);
    else if (request === undefined || FATAL_STATUSES.has(status)) throw error;
    else this.#failRequest(request, error.message, { status, body: body || undefined });
  }

  #sessionOf(message: Message): string | undefined {
    if (message.method === undefined) {
      const key = keyOf(message.id);
      const sessionId = this.#routes.get(key);
      this.#routes.delete(key);
      return sessionId;
    }
    const sessionId = at(message.params, 'sessionId');
    return typeof sessionId === 'string' && sessionId !== '' ? sessionId : undefined;
  }

  // Incoming messages

  #receive(data: string, streamSession: string | undefined): void {
    const message = parsed(data);
    if (!message) {
      this.#deliver(data); // the reader counts invalid messages
      return;
    }
    const { id, method } = message;
    if (method === undefined) {
      this.#receiveAnswer(data, message, streamSession);
      return;
    }
    const sessionId = at(message.params, 'sessionId') ?? streamSession;
    if (typeof sessionId === 'string' && (typeof id === 'string' || typeof id === 'number')) {
      const [oldest] = this.#routes.keys();
      if (this.#routes.size >= MAX_ROUTES && oldest !== undefined) this.#routes.delete(oldest);
      this.#routes.set(String(id), sessionId);
    }
    this.#deliver(data);
  }

  #receiveAnswer(data: string, message: Message, streamSession: string | undefined): void {
    const key = keyOf(message.id);
    const request = this.#pending.get(key);
    this.#pending.delete(key);
    const streams = this.#connection?.streams;
    const named = at(message, 'result', 'sessionId');
    // The server buffers its updates until they are requested.
    if (request && typeof named === 'string') void streams?.open(named).catch(() => {});
    if (request?.method === 'session/load' && request.sessionId !== undefined && streamSession === undefined) {
      // The protocol requires the answer last, but it can overtake the replay on another stream.
      const { quietMs = 100 } = this.#options;
      void streams?.untilQuiet(request.sessionId, quietMs).then(() => this.#deliver(data));
      return;
    }
    this.#deliver(data);
    const isOver = request?.method === 'session/close' || request?.method === 'session/delete';
    if (isOver && request?.sessionId !== undefined) streams?.close(request.sessionId);
  }

  #failSession(sessionId: string, sentence: string): void {
    this.#connection?.streams.close(sessionId);
    for (const request of [...this.#pending.values()]) {
      if (request.sessionId === sessionId) this.#failRequest(request, sentence);
    }
  }

  #failRequest(request: Pending | undefined, message: string, data?: unknown): void {
    if (!request) return;
    this.#pending.delete(String(request.id));
    this.#deliver(
      JSON.stringify({ jsonrpc: '2.0', id: request.id, error: { code: RPC_CODES.internal, message, data } }),
    );
  }

  #deliver(text: string): void {
    this.#sink?.data(asLine(Buffer.from(text)));
  }

  // The end of the connection

  #finish(error: ParleyError): void {
    if (this.#end || this.#closing) return;
    const end = this.#connection && error.code === 'remote-unreachable' ? asLost(error) : error;
    this.#end = end;
    this.#lifetime.abort(end);
    this.#closing = this.#deleteConnection();
    this.#ended.resolve(end);
    this.#sink?.closed(end);
  }

  async #deleteConnection(): Promise<void> {
    try {
      if (!this.#connection) return;
      const headers = { [CONNECTION_HEADER]: this.#connection.id };
      const answer = await this.#client.request('DELETE', headers, undefined, AbortSignal.timeout(CLOSE_MS));
      answer.body.destroy();
    } catch (error) {
      this.#options.log.debug(`The goodbye to ${this.#options.url.host} was not heard: ${messageOf(error)}`);
    } finally {
      this.#client.dispose();
    }
  }
}

/** The reason in a refusal's body: an error's message, or plain text. */
function refusalReason(body: string): string {
  const parsed = objectOf(body);
  const [error, message] = [at(parsed, 'error'), at(parsed, 'message')];
  const words = [at(error, 'message'), error, message, at(parsed, 'detail'), parsed];
  return oneLine(words.find((one) => typeof one === 'string') ?? '');
}

function requestOf({ id, method }: Message, sessionId: string | undefined): Pending | undefined {
  const isRequest = method !== undefined && (typeof id === 'string' || typeof id === 'number');
  return isRequest ? { id, method, sessionId } : undefined;
}

function parsed(data: string): Message | undefined {
  try {
    const value = parseMessage(data);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Message) : undefined;
  } catch {
    return undefined;
  }
}

function keyOf(id: unknown): string {
  return typeof id === 'string' || typeof id === 'number' ? String(id) : '';
}
