// Common to transports of remote agents: options, how they end, and message framing.
import type { ParleyError } from '../../base/errors';
import type { Log } from '../../base/log';
import type { Transport } from '../jsonrpc/transport';

export interface RemoteTransportOptions {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly log: Log;
  /** Maximum bytes of a message. Default 32 MiB. */
  readonly maxMessageBytes?: number;
}

export interface RemoteTransport extends Transport {
  /** Resolves with the reason when the connection is lost; stays pending if this side closed it. */
  readonly ended: Promise<ParleyError>;
  close(): Promise<void>;
}

/** Time limit for closing, in milliseconds. */
export const CLOSE_MS = 2000;

const NEWLINE = 0x0a;
const SPACE = 0x20;

export function asLine(message: Uint8Array): Uint8Array {
  const line = Buffer.allocUnsafe(message.length + 1);
  line.set(message);
  for (let at = line.indexOf(NEWLINE); at !== -1 && at < message.length; at = line.indexOf(NEWLINE, at))
    line[at] = SPACE;
  line[message.length] = NEWLINE;
  return line;
}
