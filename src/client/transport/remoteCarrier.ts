// A connection to a remote agent in the place of a process (protocol.md 6.1): over a WebSocket or over streamable HTTP, as the scheme of its URL says.
import { HttpTransport } from '../../acp/transport/httpTransport';
import type { RemoteTransport } from '../../acp/transport/remoteTransport';
import { WebSocketTransport } from '../../acp/transport/webSocketTransport';
import type { Log } from '../../base/log';
import type { Carrier } from './carrier';
import type { RemoteTarget } from './remoteTarget';

/**
 * Connects. Streamable HTTP has no connection before its first message: there, what is wrong shows at `initialize`.
 * @throws ParleyError with the host, what it answered and what helps
 */
export async function connectRemote({ url, headers }: RemoteTarget, log: Log, signal: AbortSignal): Promise<Carrier> {
  const options = { url, headers, log };
  log.info(`Connecting to ${url.origin}`);
  const isSocket = url.protocol === 'ws:' || url.protocol === 'wss:';
  return carrierOf(isSocket ? await WebSocketTransport.connect(options, signal) : new HttpTransport(options));
}

function carrierOf(transport: RemoteTransport): Carrier {
  return {
    transport,
    exited: transport.ended,
    stderrTail: () => '',
    close: () => transport.close(),
    dispose: () => transport.dispose(),
  };
}
