// The error half of JSON-RPC: what an agent answered instead of a result, and what we answer instead of one.

/** The codes that JSON-RPC 2.0 (section 5.1) and the protocol (1.7) give a meaning to; any other integer is allowed. */
export const rpcCodes = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  cancelled: -32800,
  authRequired: -32000,
  resourceNotFound: -32002,
} as const;

/** An error answer, in either direction: thrown by `RpcConnection.request`, and thrown by a request handler to answer with it. */
export class RpcError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.name = 'RpcError';
    this.code = code;
    this.data = data;
  }
}
