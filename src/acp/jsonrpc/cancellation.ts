// Cancels requests in both directions with the protocol's `$/cancel_request {requestId}` instead of
// the `$/cancelRequest {id}` of vscode-jsonrpc. Bridges AbortSignals and the cancellation tokens of
// vscode-jsonrpc.
import type { CancellationId, CancellationStrategy, CancellationToken, MessageConnection } from 'vscode-jsonrpc';

/** A token that an AbortSignal drives, for a request of ours. */
export function tokenOf(signal: AbortSignal): CancellationToken {
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

/** The token of a request of the agent's; its signal goes to the handler. */
export class IncomingRequest implements CancellationToken {
  readonly id: CancellationId;
  readonly #controller = new AbortController();
  /** The token source that vscode-jsonrpc wants. */
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

/** The requests of the agent that we have not answered yet, and how cancelling is spoken. */
export class Cancellation {
  readonly #incoming = new Map<CancellationId, IncomingRequest>();
  readonly #idOf: (id: CancellationId) => CancellationId;

  /** @param idOf returns the id on the wire of a request of ours */
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
        // Called from an abort listener, where a throw would be an uncaught exception.
        try {
          return connection.sendNotification('$/cancel_request', { requestId: this.#idOf(id) });
        } catch {
          return Promise.resolve();
        }
      },
      cleanup: () => {},
    },
  };

  /** The agent withdraws a request. @returns false when there is no such request, or no longer. */
  cancel(id: CancellationId): boolean {
    const request = this.#incoming.get(id);
    request?.cancel();
    return request !== undefined;
  }

  /** A request was answered. */
  done(request: IncomingRequest): void {
    if (this.#incoming.get(request.id) === request) this.#incoming.delete(request.id);
  }

  /** Cancels all incoming requests. */
  cancelAll(): void {
    for (const request of this.#incoming.values()) request.cancel();
    this.#incoming.clear();
  }
}
