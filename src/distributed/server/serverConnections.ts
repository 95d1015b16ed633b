// Limits the connections of our server. Connections of strangers, who may open many and send
// slowly, give way to newer ones, and never displace callers with the token or a signed link.
import type { Socket } from 'node:net';

export const CONNECTION_LIMITS = {
  strangers: 64,
  /** Time for a stranger to send the request's head, in milliseconds. */
  strangerMs: 5000,
  callers: 256,
};

export type ConnectionLimits = Readonly<typeof CONNECTION_LIMITS>;

export class ServerConnections {
  readonly #limits: ConnectionLimits;
  /** Oldest first. */
  readonly #strangers = new Map<Socket, NodeJS.Timeout>();
  readonly #callers = new Set<Socket>();
  readonly #busy = new Map<Socket, number>();

  constructor(limits: ConnectionLimits) {
    this.#limits = limits;
  }

  /** Above the limit, closes the oldest connection of the address with the most. */
  accept(socket: Socket): void {
    const timer = setTimeout(() => socket.destroy(), this.#limits.strangerMs);
    this.#strangers.set(socket, timer);
    socket.once('close', () => this.#forget(socket));
    if (this.#strangers.size > this.#limits.strangers) this.#oldestOfBusiestAddress()?.destroy();
  }

  heard(socket: Socket): void {
    clearTimeout(this.#strangers.get(socket));
  }

  /** Returns a function to call after the response; undefined: refuse the request. */
  admit(socket: Socket): (() => void) | undefined {
    if (!this.#callers.has(socket) && this.#callers.size >= this.#limits.callers) {
      const idle = [...this.#callers].find((one) => !this.#busy.has(one));
      if (!idle) return undefined;
      this.#forget(idle);
      idle.destroy();
    }
    this.#removeStranger(socket);
    this.#callers.delete(socket);
    this.#callers.add(socket);
    this.#busy.set(socket, (this.#busy.get(socket) ?? 0) + 1);
    return () => {
      const left = (this.#busy.get(socket) ?? 1) - 1;
      if (left > 0) this.#busy.set(socket, left);
      else this.#busy.delete(socket);
    };
  }

  #oldestOfBusiestAddress(): Socket | undefined {
    const byAddress = new Map<string, Socket[]>();
    for (const socket of this.#strangers.keys()) {
      const address = socket.remoteAddress ?? '';
      byAddress.set(address, [...(byAddress.get(address) ?? []), socket]);
    }
    const [most] = [...byAddress.values()].sort((a, b) => b.length - a.length);
    return most?.[0];
  }

  #removeStranger(socket: Socket): void {
    clearTimeout(this.#strangers.get(socket));
    this.#strangers.delete(socket);
  }

  #forget(socket: Socket): void {
    this.#removeStranger(socket);
    this.#callers.delete(socket);
    this.#busy.delete(socket);
  }
}
