// Counters of one connection, for the log, the tests and the traffic view.

/** Live counters: read them at any time. Bytes count what came over the wire, messages what was a JSON object. */
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
