// Minimal newline-delimited JSON-RPC for the demo agent. The client's implementation is src/acp.
import type { Readable, Writable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import { Deferred } from '../base/deferred';

export type RpcId = string | number;

/** A JSON-RPC error. */
export class RpcFault extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.name = 'RpcFault';
    this.code = code;
    this.data = data;
  }
}

export interface WireHandler {
  /** Returns the result of a request. @throws RpcFault */
  request(method: string, params: unknown, id: RpcId): Promise<unknown>;
  notification(method: string, params: unknown): void;
}

export class Wire {
  readonly #output: Writable;
  readonly #handler: WireHandler;
  readonly #pending = new Map<RpcId, Deferred<unknown>>();
  #nextId = 1;

  constructor(input: Readable, output: Writable, handler: WireHandler) {
    this.#output = output;
    this.#handler = handler;
    const decoder = new StringDecoder('utf8');
    let parts: string[] = [];
    input.on('data', (chunk: Buffer) => {
      const lines = decoder.write(chunk).split('\n');
      parts.push(lines.shift() ?? '');
      for (const line of lines) {
        const complete = parts.join('');
        parts = [line];
        this.#receive(complete);
      }
    });
  }

  /** Sends a notification. Resolves on drain, so that a slow reader slows the agent. */
  notify(method: string, params: unknown): Promise<void> {
    return this.#send({ method, params });
  }

  /**
   * Sends a request. Aborting `signal` cancels it (`$/cancel_request`) and rejects immediately.
   * @throws RpcFault if the client responds with an error
   */
  async request(method: string, params: unknown, signal: AbortSignal): Promise<unknown> {
    signal.throwIfAborted();
    const id = this.#nextId++;
    const answer = new Deferred<unknown>();
    const withdraw = (): void => {
      void this.notify('$/cancel_request', { requestId: id });
      answer.reject(signal.reason);
    };
    signal.addEventListener('abort', withdraw, { once: true });
    this.#pending.set(id, answer);
    void this.#send({ id, method, params });
    return answer.promise.finally(() => signal.removeEventListener('abort', withdraw));
  }

  #send(message: Record<string, unknown>): Promise<void> {
    const free = this.#output.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    return free ? Promise.resolve() : new Promise((resolve) => this.#output.once('drain', () => resolve()));
  }

  #receive(line: string): void {
    if (line.trim() === '') return;
    let message: unknown;
    try {
      message = JSON.parse(line);
    } catch {
      void this.#send({ id: null, error: { code: -32700, message: 'This line is not JSON.' } });
      return;
    }
    if (typeof message !== 'object' || message === null || Array.isArray(message)) {
      void this.#send({
        id: null,
        error: { code: -32600, message: 'One JSON-RPC message per line, please: no batches.' },
      });
      return;
    }
    const { id, method, params, result, error } = message as Record<string, unknown>;
    const isId = typeof id === 'string' || typeof id === 'number';
    if (typeof method === 'string') {
      if (isId) void this.#answer(id, method, params);
      else this.#handler.notification(method, params);
      return;
    }
    if (!isId) return;
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    if (error === undefined) pending?.resolve(result);
    else pending?.reject(faultOf(error));
  }

  async #answer(id: RpcId, method: string, params: unknown): Promise<void> {
    try {
      await this.#send({ id, result: await this.#handler.request(method, params, id) });
    } catch (error) {
      const fault = error instanceof RpcFault ? error : new RpcFault(-32603, `The demo agent failed: ${String(error)}`);
      const data = fault.data === undefined ? {} : { data: fault.data };
      await this.#send({ id, error: { code: fault.code, message: fault.message, ...data } });
    }
  }
}

function faultOf(error: unknown): RpcFault {
  const { code, message } = typeof error === 'object' && error !== null ? (error as Record<string, unknown>) : {};
  return new RpcFault(
    typeof code === 'number' ? code : -32603,
    typeof message === 'string' ? message : 'The client gave no reason.',
  );
}
