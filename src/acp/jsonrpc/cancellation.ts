// Cancels requests in both directions with the protocol's `$/cancel_request {requestId}` instead of
// the `$/cancelRequest {id}` of vscode-jsonrpc. Bridges AbortSignals and the cancellation tokens of
// vscode-jsonrpc.
import type { CancellationId, CancellationStrategy, CancellationToken, MessageConnection } from 'vscode-jsonrpc';

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

export class IncomingRequest implements CancellationToken {
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

export class Cancellation {
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
