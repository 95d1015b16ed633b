// Adds trace context to `_meta` (protocol.md 1.13; W3C Trace Context): if the environment has a
// trace, each prompt is a span of it.
import { randomBytes } from 'node:crypto';
import type { RpcCaller } from '../jsonrpc/rpcConnection';

const TRACEPARENT = /^00-([0-9a-f]{32})-[0-9a-f]{16}-([0-9a-f]{2})$/;

/** The traceparent of a new span below `parent`; undefined unless that is version 00. */
function childTraceparent(parent: string): string | undefined {
  const [, trace, flags] = TRACEPARENT.exec(parent.trim()) ?? [];
  if (trace === undefined || /^0+$/.test(trace)) return undefined;
  return `00-${trace}-${randomBytes(8).toString('hex')}-${flags}`;
}

export function traced(rpc: RpcCaller, parent: string | undefined): RpcCaller {
  if (parent === undefined || childTraceparent(parent) === undefined) return rpc;
  return {
    request(method, params, options) {
      if (method !== 'session/prompt' || typeof params !== 'object' || params === null)
        return rpc.request(method, params, options);
      const { _meta } = params as { readonly _meta?: object };
      return rpc.request(method, { ...params, _meta: { ..._meta, traceparent: childTraceparent(parent) } }, options);
    },
    notify: (method, params) => rpc.notify(method, params),
  };
}
