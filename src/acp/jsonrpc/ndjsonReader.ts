// Reads JSON-RPC messages, one JSON object per line (protocol: transports, stdio). Agents print
// banners, batches and partial messages on stdout: lines that are not messages are counted and
// logged but not answered, except batches, which the protocol rejects.

import {
  AbstractMessageReader,
  type DataCallback,
  type Disposable,
  type Message,
  type MessageReader,
} from 'vscode-jsonrpc';
import { lineWithoutAccounts } from '../../base/accounts';
import { errorText, ParleyError } from '../../base/errors';
import { LineSplitter } from '../../base/lineSplitter';
import { localizable } from '../../base/localizable';
import type { Log } from '../../base/log';
import { parseMessage } from '../../base/untrusted';
import { type InboundHandlers, InboundQueue } from './inboundQueue';
import { RPC_CODES } from './rpcError';
import type { TransportSink } from './transport';

/**
 * Live counters of a connection. Bytes count everything on the wire; messages count JSON objects.
 */
export interface RpcStats {
  readonly messagesIn: number;
  readonly messagesOut: number;
  readonly bytesIn: number;
  /** Lines that were not JSON, or JSON that was not a message. */
  readonly notJson: number;
  readonly batchesRefused: number;
  /** Messages over the size limit, in either direction. */
  readonly oversize: number;
}

export type MutableRpcStats = { -readonly [K in keyof RpcStats]: RpcStats[K] };

export function newRpcStats(): MutableRpcStats {
  return { messagesIn: 0, messagesOut: 0, bytesIn: 0, notJson: 0, batchesRefused: 0, oversize: 0 };
}

/** 32 MiB, the limit of the official SDK. */
export const MAX_MESSAGE_BYTES = 32 * 1024 * 1024;

const MAX_NOISE_CHARS = 2048;
const LOGGED_NOISE_LINES = 50;

export interface NdjsonReaderOptions {
  readonly maxMessageBytes: number;
  readonly log: Log;
  readonly stats: MutableRpcStats;
  readonly handlers: InboundHandlers;
  /** Called when the agent cancels its request with this id. */
  readonly onCancel: (id: string | number) => void;
  readonly refuse: (code: number, message: string) => void;
  /** Called when the stream has ended and everything before its end was handled. */
  readonly onEnd: (error: ParleyError | undefined) => void;
  readonly onLine?: ((line: string) => void) | undefined;
  readonly onNoise?: ((line: string) => void) | undefined;
}

export class NdjsonReader extends AbstractMessageReader implements MessageReader, TransportSink {
  readonly queue: InboundQueue;
  readonly #options: NdjsonReaderOptions;
  readonly #splitter: LineSplitter;
  #ended = false;
  #lineNumber = 0;

  constructor(options: NdjsonReaderOptions) {
    super();
    this.#options = options;
    this.queue = new InboundQueue(options.handlers, options.onCancel, options.log);
    this.#splitter = new LineSplitter(options.maxMessageBytes, (line) => this.#read(line));
  }

  listen(callback: DataCallback): Disposable {
    this.queue.start(callback);
    return { dispose: () => this.queue.clear() };
  }

  override dispose(): void {
    this.#ended = true;
    this.queue.clear();
    super.dispose();
  }

  data(chunk: Uint8Array, line = this.#lineNumber + 1): void {
    if (this.#ended) return;
    this.#lineNumber = line - 1;
    const { stats, maxMessageBytes, onEnd } = this.#options;
    stats.bytesIn += chunk.length;
    const isWithinLimit = this.#splitter.push(chunk);
    this.queue.flush();
    if (isWithinLimit || this.#ended) return;
    stats.oversize++;
    this.#ended = true;
    const error = messageTooLarge('in', maxMessageBytes);
    this.#options.log.error(error.message);
    this.queue.whenDrained(() => onEnd(error));
  }

  closed(error?: Error): void {
    if (this.#ended) return;
    this.#splitter.end();
    this.#ended = true;
    const reason =
      error &&
      new ParleyError('connection-closed', localizable('The connection to the agent was lost: {0}', errorText(error)), {
        cause: error,
      });
    this.queue.whenDrained(() => this.#options.onEnd(reason));
  }

  #read(line: string): void {
    // A handler may have closed the connection in the middle of a chunk.
    if (this.#ended) return;
    this.#lineNumber++;
    let message: unknown;
    try {
      message = parseMessage(line);
    } catch {
      if (line.length > 0 && line.trim().length > 0) this.#noise(line);
      return;
    }
    if (!isMessage(message) && !isBatch(message)) {
      this.#noise(line);
      return;
    }
    this.#options.onLine?.(line);
    if (Array.isArray(message)) {
      this.#options.stats.batchesRefused++;
      this.#options.log.warn(`A batch of ${message.length} messages from the agent was refused: ${bounded(line)}`);
      this.#options.refuse(RPC_CODES.invalidRequest, 'JSON-RPC batches are not supported');
      return;
    }
    this.#options.stats.messagesIn++;
    this.#dispatch(message as WireMessage, line);
  }

  #dispatch(message: WireMessage, line: string): void {
    const { method, id } = message;
    if (method === 'session/update' && (id === undefined || id === null)) {
      this.queue.pushUpdate(message.params, this.#lineNumber);
    } else if (typeof method !== 'string') {
      this.#response(message, line);
    } else if (id === undefined) {
      this.#notification(method, message.params);
    } else if (typeof id === 'string' || typeof id === 'number') {
      this.queue.push(message as unknown as Message, this.#lineNumber);
    } else {
      this.#options.log.warn(`A request from the agent has no usable id: ${bounded(line)}`);
      this.#options.refuse(RPC_CODES.invalidRequest, 'The id of a request must be a string or a number');
    }
  }

  #notification(method: string, params: unknown): void {
    // Language servers send `$/cancelRequest`; vscode-jsonrpc would act on it, and throw if it has
    // no params.
    if (method === '$/cancel_request' || method === '$/cancelRequest') {
      const named: { requestId?: unknown; id?: unknown } = typeof params === 'object' && params !== null ? params : {};
      const id = named.requestId ?? named.id;
      if (typeof id === 'string' || typeof id === 'number') this.queue.pushCancel(id, this.#lineNumber);
      else this.#options.log.warn(`The agent sent ${method} without a request id`);
      return;
    }
    this.queue.pushNotification(method, params, this.#lineNumber);
  }

  #response(message: WireMessage, line: string): void {
    const { id, error } = message;
    if (typeof id !== 'string' && typeof id !== 'number') {
      this.#options.log.warn(`The agent sent a message that belongs to nothing: ${bounded(line)}`);
      return;
    }
    // A malformed response still settles its request, which would wait forever otherwise.
    if (error !== undefined && error !== null) {
      this.queue.push(errorResponse(id, error), this.#lineNumber);
    } else if (message.result !== undefined) {
      this.queue.push(message as unknown as Message, this.#lineNumber);
    } else if (error === null) {
      this.queue.push({ jsonrpc: '2.0', id, result: null } as Message, this.#lineNumber);
    } else {
      this.queue.push(errorResponse(id, 'The answer of the agent has neither a result nor an error'), this.#lineNumber);
    }
  }

  #noise(line: string): void {
    const { stats, log, onNoise } = this.#options;
    stats.notJson++;
    const text = bounded(line);
    if (stats.notJson <= LOGGED_NOISE_LINES) log.warn(`Not a message, on stdout of the agent: ${text}`);
    else if (Number.isInteger(Math.log2(stats.notJson)))
      log.warn(`${stats.notJson} lines on stdout of the agent were no messages; only some are logged`);
    onNoise?.(text);
  }
}

interface WireMessage {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
}

const MEMBERS: ReadonlySet<string> = new Set(['id', 'method', 'params', 'result', 'error', '_meta']);
const REQUIRED_MEMBERS = ['method', 'result', 'error'];

/**
 * Returns whether an object is meant as a message. Some agents omit `jsonrpc`; log lines have other
 * members beside an `id` or a `method`.
 */
function isMessage(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  if (Object.hasOwn(value, 'jsonrpc')) return true;
  return (
    Object.keys(value).every((key) => MEMBERS.has(key)) && REQUIRED_MEMBERS.some((key) => Object.hasOwn(value, key))
  );
}

function isBatch(value: unknown): boolean {
  return Array.isArray(value) && (value.length === 0 || value.some(isMessage));
}

export function messageTooLarge(way: 'in' | 'out', maxBytes: number): ParleyError {
  const limit =
    maxBytes >= 1024 * 1024 ? `${Math.floor(maxBytes / (1024 * 1024))} MiB` : localizable('{0} bytes', maxBytes);
  return new ParleyError(
    'message-too-large',
    way === 'in'
      ? localizable('The agent sent a message that exceeds the maximum size of {0}.', limit)
      : localizable('The message to the agent exceeds the maximum size of {0}.', limit),
  );
}

function errorResponse(id: string | number, error: unknown): Message {
  const given: { code?: unknown; message?: unknown; data?: unknown } =
    typeof error === 'object' && error !== null ? error : {};
  const code = typeof given.code === 'number' && Number.isFinite(given.code) ? given.code : RPC_CODES.internal;
  const message =
    typeof given.message === 'string'
      ? given.message
      : typeof error === 'string'
        ? error
        : 'The agent answered with an error without a message';
  const fields = given.data === undefined ? { code, message } : { code, message, data: given.data };
  return { jsonrpc: '2.0', id, error: fields } as Message;
}

/** Returns the start of a line as a copy: a slice would keep the whole chunk in memory. */
function bounded(whole: string): string {
  const line = lineWithoutAccounts(whole);
  const text = line.length > MAX_NOISE_CHARS ? `${line.slice(0, MAX_NOISE_CHARS)}…` : line;
  return Buffer.from(text.trimEnd(), 'utf8').toString('utf8');
}
