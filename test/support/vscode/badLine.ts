// A line between the browser and the server that delays what goes over it, lets connections
// overtake each other, and is cut when a test says so.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { Deferred } from '../../../src/base/deferred';

/** How long a new connection waits, and each piece of a WebSocket, in milliseconds: at most. */
const CONNECT_MS = 60;
const PIECE_MS = 15;

export class BadLine {
  /** Bytes that have come to the browser. */
  received = 0;
  readonly #server: Server;
  readonly #target: number;
  readonly #random: (below: number) => number;
  readonly #all = new Set<Socket>();
  readonly #sockets = new Set<Socket>();
  #wanted = 0;
  #whole = new Deferred<void>();
  #isDown = false;

  static async open(target: number, random: (below: number) => number): Promise<BadLine> {
    const line = new BadLine(target, random);
    line.#server.listen(0, '127.0.0.1');
    await once(line.#server, 'listening');
    return line;
  }

  private constructor(target: number, random: (below: number) => number) {
    this.#target = target;
    this.#random = random;
    this.#server = createServer((socket) => this.#accept(socket));
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  cut(): Promise<void> {
    if (this.#sockets.size > 0) this.#wanted = this.#sockets.size;
    this.#whole = new Deferred<void>();
    for (const socket of this.#all) socket.destroy();
    return this.#whole.promise;
  }

  down(): void {
    this.#isDown = true;
    void this.cut();
  }

  up(): Promise<void> {
    this.#isDown = false;
    return this.#whole.promise;
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#all) socket.destroy();
  }

  #accept(browser: Socket): void {
    if (this.#isDown) {
      browser.destroy();
      return;
    }
    this.#add(browser);
    setTimeout(() => {
      if (browser.destroyed) return;
      const server = connect(this.#target, '127.0.0.1');
      this.#add(server);
      let isSocket = false;
      this.#join(browser, server, (piece) => {
        isSocket ||= /^upgrade: websocket/im.test(piece.toString('latin1', 0, 4096));
        return isSocket;
      });
      this.#join(server, browser, (piece) => {
        this.received += piece.length;
        if (isSocket && !this.#sockets.has(server)) {
          this.#sockets.add(server);
          if (this.#sockets.size >= this.#wanted) this.#whole.resolve();
        }
        return isSocket;
      });
    }, this.#random(CONNECT_MS));
  }

  #add(socket: Socket): void {
    this.#all.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => {
      this.#all.delete(socket);
      this.#sockets.delete(socket);
    });
  }

  #join(from: Socket, to: Socket, isSlow: (piece: Buffer) => boolean): void {
    from.on('data', (piece: Buffer) => {
      const hand = (): void => {
        if (to.destroyed || to.write(piece)) from.resume();
        else to.once('drain', () => from.resume());
      };
      from.pause();
      if (isSlow(piece)) setTimeout(hand, this.#random(PIECE_MS));
      else hand();
    });
    from.once('end', () => to.end());
    from.once('close', () => to.destroy());
  }
}
