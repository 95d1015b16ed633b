// A connection over an in-memory transport that records events in order.
import { RpcConnection, type RpcConnectionOptions, type RpcHandlers } from '../../../../src/acp/jsonrpc/rpcConnection';
import { RPC_CODES, RpcError } from '../../../../src/acp/jsonrpc/rpcError';
import { Deferred } from '../../../../src/base/deferred';
import { type Log, silentLog } from '../../../../src/base/log';
import { MemoryTransport } from '../../../support/memoryTransport';

export interface Wire {
  readonly transport: MemoryTransport;
  readonly connection: RpcConnection;
  readonly seen: unknown[];
  readonly logged: string[];
  count(entries: number): Promise<void>;
}

const open: RpcConnection[] = [];

export function wire(handlers: Partial<RpcHandlers> = {}, options: Partial<RpcConnectionOptions> = {}): Wire {
  const transport = new MemoryTransport();
  const seen: unknown[] = [];
  const logged: string[] = [];
  const waiting: { entries: number; done: Deferred<void> }[] = [];
  const note = (entry: unknown): void => {
    seen.push(entry);
    for (const wait of waiting) if (seen.length >= wait.entries) wait.done.resolve();
  };
  const keep = (message: string): void => void logged.push(message);
  const log: Log = { ...silentLog, debug: keep, info: keep, warn: keep, error: keep };
  const connection = new RpcConnection({
    transport,
    log,
    handlers: {
      onUpdates: (batch) => {
        handlers.onUpdates?.(batch);
        for (const params of batch) note({ update: params });
      },
      onRequest: async (method, params, signal, id) => {
        note({ request: method, params });
        if (handlers.onRequest) return handlers.onRequest(method, params, signal, id);
        throw new RpcError(RPC_CODES.methodNotFound, `No method ${method}`);
      },
      onNotification: (method, params) => {
        note({ notification: method, params });
        handlers.onNotification?.(method, params);
      },
    },
    ...options,
  });
  connection.onDidClose((error) => note({ closed: error?.code }));
  open.push(connection);
  const count = async (entries: number): Promise<void> => {
    const done = new Deferred<void>();
    waiting.push({ entries, done });
    if (seen.length >= entries) done.resolve();
    await done.promise;
  };
  return { transport, connection, seen, logged, count };
}

export function closeWires(): void {
  for (const connection of open.splice(0)) connection.dispose();
}

export const update = (n: unknown) => ({ jsonrpc: '2.0', method: 'session/update', params: { n } });
export const response = (id: unknown, result: unknown) => ({ jsonrpc: '2.0', id, result });
