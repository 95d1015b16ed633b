// Reads JSON-RPC messages, one JSON object a line (protocol: transports, stdio). Agents print
// banners, batches and half messages on stdout: what is no message is counted, logged and not
// answered, except for batches, which the protocol has refused.

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
 * Live counters of one connection: read them at any time. Bytes count what came over the wire,
 * messages what was a JSON object.
 */
export interface RpcStats {
  readonly messagesIn: number;
  readonly messagesOut: number;
  readonly bytesIn: number;
  /** Lines that were not JSON, or JSON that is no message. */
  readonly notJson: number;
  readonly batchesRefused: number;
  /** Messages past the size limit, in either direction. */
  readonly oversize: number;
}

/** The same counters for those who count. */
export type MutableRpcStats = { -readonly [K in keyof RpcStats]: RpcStats[K] };

/** Counters at zero. */
export function newRpcStats(): MutableRpcStats {
  return { messagesIn: 0, messagesOut: 0, bytesIn: 0, notJson: 0, batchesRefused: 0, oversize: 0 };
}

/** 32 MiB, what the official SDK takes too. */
export const MAX_MESSAGE_BYTES = 32 * 1024 * 1024;

const MAX_NOISE_CHARS = 2048;
const LOGGED_NOISE_LINES = 50;

/** What the reader tells its connection. */
export interface NdjsonReaderOptions {
  readonly maxMessageBytes: number;
  readonly log: Log;
  readonly stats: MutableRpcStats;
  readonly handlers: InboundHandlers;
  /** The agent withdraws its request of this id. */
  readonly onCancel: (id: string | number) => void;
  /** Answers with an error that belongs to no request (`id: null`). */
  readonly refuse: (code: number, message: string) => void;
  /** The stream has ended and everything before its end was handled. */
  readonly onEnd: (error: ParleyError | undefined) => void;
  readonly onLine?: ((line: string) => void) | undefined;
  readonly onNoise?: ((line: string) => void) | undefined;
}

/** The reader half of a connection; the transport writes into it. */
export class NdjsonReader extends AbstractMessageReader implements MessageReader, TransportSink {
  /** What has arrived and waits for its turn. */
  readonly queue: InboundQueue;
  readonly #options: NdjsonReaderOptions;
  readonly #splitter: LineSplitter;
  #ended = false;
  /** The number of the line that was read last. */
  #line = 0;

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

  data(chunk: Uint8Array, line = this.#line + 1): void {
    if (this.#ended) return;
    this.#line = line - 1;
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
    // A handler may have ended the connection in the middle of a chunk.
    if (this.#ended) return;
    this.#line++;
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
    this.#sort(message as WireMessage, line);
  }

  #sort(message: WireMessage, line: string): void {
    const { method, id } = message;
    if (method === 'session/update' && (id === undefined || id === null)) {
      this.queue.pushUpdate(message.params, this.#line);
    } else if (typeof method !== 'string') {
      this.#response(message, line);
    } else if (id === undefined) {
      this.#notification(method, message.params);
    } else if (typeof id === 'string' || typeof id === 'number') {
      this.queue.push(message as unknown as Message, this.#line);
    } else {
      this.#options.log.warn(`A request from the agent has no usable id: ${bounded(line)}`);
      this.#options.refuse(RPC_CODES.invalidRequest, 'The id of a request must be a string or a number');
    }
  }

  #notification(method: string, params: unknown): void {
    // `$/cancelRequest` is what language servers send; vscode-jsonrpc would act on it, and throw on
    // one without params.
    if (method === '$/cancel_request' || method === '$/cancelRequest') {
      const named: { requestId?: unknown; id?: unknown } = typeof params === 'object' && params !== null ? params : {};
      const id = named.requestId ?? named.id;
      if (typeof id === 'string' || typeof id === 'number') this.queue.pushCancel(id, this.#line);
      else this.#options.log.warn(`The agent sent ${method} without a request id`);
      return;
    }
    this.queue.pushNotification(method, params, this.#line);
  }

  #response(message: WireMessage, line: string): void {
    const { id, error } = message;
    if (typeof id !== 'string' && typeof id !== 'number') {
      this.#options.log.warn(`The agent sent a message that belongs to nothing: ${bounded(line)}`);
      return;
    }
    // Answers in odd shapes still end the request they answer; otherwise it would wait forever.
    if (error !== undefined && error !== null) {
      this.queue.push(errorResponse(id, error), this.#line);
    } else if (message.result !== undefined) {
      this.queue.push(message as unknown as Message, this.#line);
    } else if (error === null) {
      this.queue.push({ jsonrpc: '2.0', id, result: null } as Message, this.#line);
    } else {
      this.queue.push(errorResponse(id, 'The answer of the agent has neither a result nor an error'), this.#line);
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

/** What a message consists of. */
const MEMBERS: ReadonlySet<string> = new Set(['id', 'method', 'params', 'result', 'error', '_meta']);
/** One of them is in every message. */
const SAYS = ['method', 'result', 'error'];

/**
 * Returns whether an object means to be a message. Some agents leave out `jsonrpc`; a line of a log
 * has other members beside an `id` or a `method`.
 */
function isMessage(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  if (Object.hasOwn(value, 'jsonrpc')) return true;
  return Object.keys(value).every((key) => MEMBERS.has(key)) && SAYS.some((key) => Object.hasOwn(value, key));
}

function isBatch(value: unknown): boolean {
  return Array.isArray(value) && (value.length === 0 || value.some(isMessage));
}

/** The error of a message past the limit. */
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

/** The beginning of a line, as a copy: a slice would keep the whole chunk in memory. */
function bounded(whole: string): string {
  const line = lineWithoutAccounts(whole);
  const text = line.length > MAX_NOISE_CHARS ? `${line.slice(0, MAX_NOISE_CHARS)}…` : line;
  return Buffer.from(text.trimEnd(), 'utf8').toString('utf8');
}
