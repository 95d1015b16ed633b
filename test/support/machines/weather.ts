// The network in front of a server of the tests, where it is not a quiet loopback: answers that
// come late, connections that break in the middle, and none that get through.
// What comes from the server's own machine has no network between.
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
  request as send,
} from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Deferred } from '../../../src/base/deferred';
import { seeded } from '../store/random';

export interface Weather {
  readonly delayMs: number;
  readonly cuts: number;
  readonly seed: number;
}

export interface WeatheredServer {
  readonly port: number;
  setWeather(weather: Weather): void;
  setConnected(isConnected: boolean): void;
}

/** Hands a request on to a server of this machine, and its answer back. */
export function forward(port: number, request: IncomingMessage, response: ServerResponse): void {
  const { method, url, headers } = request;
  const onward = send({ host: '127.0.0.1', port, method, path: url, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 500, answer.headers);
    answer.pipe(response);
    answer.on('error', () => response.destroy());
  });
  onward.on('error', () => response.destroy());
  response.on('close', () => onward.destroy());
  request.pipe(onward);
}

export async function weatheredServer(listener: RequestListener): Promise<WeatheredServer> {
  let weather: Weather = { delayMs: 0, cuts: 0, seed: 0 };
  let below = seeded(0);
  let connected = new Deferred<void>();
  connected.resolve();
  const address = process.env.MACHINE_ADDRESS ?? '127.0.0.1';
  const server: Server = createServer(async (request, response) => {
    if (request.socket.remoteAddress === address && address !== '127.0.0.1') {
      listener(request, response);
      return;
    }
    request.pause();
    await connected.promise;
    if (weather.delayMs > 0) await sleep(below(weather.delayMs));
    if (request.socket.destroyed) return;
    if (below(100) < weather.cuts) {
      const { write, end } = response;
      const cut = (): void => void request.socket.destroy();
      response.write = ((...args: Parameters<typeof write>) => {
        setImmediate(cut);
        return write.apply(response, args);
      }) as typeof write;
      response.end = ((...args: Parameters<typeof end>) => {
        cut();
        return end.apply(response, args);
      }) as typeof end;
    }
    listener(request, response);
    request.resume();
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, address, resolve));
  const bound = server.address();
  return {
    port: typeof bound === 'object' && bound ? bound.port : 0,
    setWeather(next) {
      weather = next;
      below = seeded(next.seed);
    },
    setConnected(isConnected) {
      if (!isConnected) connected = new Deferred<void>();
      else connected.resolve();
    },
  };
}
