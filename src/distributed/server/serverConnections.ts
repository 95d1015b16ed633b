// Decides which connections our server keeps. A stranger can open many and send nothing, or send
// slowly: such connections give way to newer ones, and never displace callers that have shown the
// token or a signed link.
import type { Socket } from 'node:net';

export const CONNECTION_LIMITS = {
  /** Connections that have shown neither a token nor a signed link. */
  strangers: 64,
  /** Milliseconds that a stranger has from connecting to the end of the request's head. */
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

  /** With too many strangers, closes the oldest one of the busiest address. */
  accept(socket: Socket): void {
    const timer = setTimeout(() => socket.destroy(), this.#limits.strangerMs);
    this.#strangers.set(socket, timer);
    socket.once('close', () => this.#forget(socket));
    if (this.#strangers.size > this.#limits.strangers) this.#oldestOfMost()?.destroy();
  }

  heard(socket: Socket): void {
    clearTimeout(this.#strangers.get(socket));
  }

  /**
   * With too many callers, closes an idle one.
   * @returns call it after the answer; undefined: refuse the request
   */
  admit(socket: Socket): (() => void) | undefined {
    if (!this.#callers.has(socket) && this.#callers.size >= this.#limits.callers) {
      const idle = [...this.#callers].find((one) => !this.#busy.has(one));
      if (!idle) return undefined;
      this.#forget(idle);
      idle.destroy();
    }
    this.#leaveStrangers(socket);
    this.#callers.delete(socket);
    this.#callers.add(socket);
    this.#busy.set(socket, (this.#busy.get(socket) ?? 0) + 1);
    return () => {
      const left = (this.#busy.get(socket) ?? 1) - 1;
      if (left > 0) this.#busy.set(socket, left);
      else this.#busy.delete(socket);
    };
  }

  #oldestOfMost(): Socket | undefined {
    const byAddress = new Map<string, Socket[]>();
    for (const socket of this.#strangers.keys()) {
      const address = socket.remoteAddress ?? '';
      byAddress.set(address, [...(byAddress.get(address) ?? []), socket]);
    }
    const [most] = [...byAddress.values()].sort((a, b) => b.length - a.length);
    return most?.[0];
  }

  #leaveStrangers(socket: Socket): void {
    clearTimeout(this.#strangers.get(socket));
    this.#strangers.delete(socket);
  }

  #forget(socket: Socket): void {
    this.#leaveStrangers(socket);
    this.#callers.delete(socket);
    this.#busy.delete(socket);
  }
}
