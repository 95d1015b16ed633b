// A socket that only its user can talk to: each connection proves that it knows the token before
// anything else of it is read.
import { createServer, type Server, type Socket } from 'node:net';
import {
  FRAME,
  type Frame,
  FrameReader,
  frame,
  isProof,
  MAX_FIRST_FRAME_BYTES,
  MAX_FRAME_BYTES,
  nonce,
  proofOf,
  WIRE_VERSION,
} from './wire';

/** Connections at a time; more are refused. */
const MAX_CONNECTIONS = 32;
/** How long a connection may take to prove that it knows the token, in milliseconds. */
const PROVE_MS = 5_000;

/**
 * Called with a connection that has proved itself.
 * @param purpose one of `PURPOSE`
 * @returns what takes its frames; a connection whose frame it throws at is closed
 */
export type OnProven = (socket: Socket, purpose: number) => (frame: Frame) => void;

export class ProvenServer {
  readonly #server: Server;
  readonly #token: string;
  readonly #onProven: OnProven;
  readonly #sockets = new Set<Socket>();
  readonly #strangers = new Set<Socket>();

  constructor(token: string, onProven: OnProven) {
    this.#token = token;
    this.#onProven = onProven;
    this.#server = createServer((socket) => {
      if (this.#makeRoom()) this.#greet(socket);
      else socket.destroy();
    });
  }

  /** Connections that have proved themselves. */
  get size(): number {
    return this.#sockets.size - this.#strangers.size;
  }

  /** @param path of a socket or a named pipe @throws what the system says */
  listen(path: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(path, () => {
        this.#server.off('error', reject);
        // An accept that fails, as without free file descriptors, is no end of the others.
        this.#server.on('error', () => {});
        resolve();
      });
    });
  }

  /** Accepts no more connections, and closes those without a proof. */
  close(): void {
    this.#server.close();
    for (const socket of this.#strangers) socket.destroy();
  }

  /** On Windows, other users can open connections, which must not keep those of the user out. */
  #makeRoom(): boolean {
    if (this.#sockets.size < MAX_CONNECTIONS) return true;
    const [stranger] = this.#strangers;
    if (!stranger) return false;
    this.#strangers.delete(stranger);
    this.#sockets.delete(stranger);
    stranger.destroy();
    return true;
  }

  #greet(socket: Socket): void {
    this.#sockets.add(socket);
    this.#strangers.add(socket);
    const own = nonce();
    const proving = setTimeout(() => socket.destroy(), PROVE_MS);
    let take: ((frame: Frame) => void) | undefined;
    const reader = new FrameReader(MAX_FIRST_FRAME_BYTES, (one) => {
      if (take) take(one);
      else if (one.kind === FRAME.hello) {
        const proof = proofOf(this.#token, 'keeper', one.bytes);
        socket.write(frame(FRAME.proof, WIRE_VERSION, Buffer.concat([proof, own])));
      } else if (one.kind === FRAME.prove && isProof(one.bytes, proofOf(this.#token, 'window', own))) {
        clearTimeout(proving);
        this.#strangers.delete(socket);
        reader.maxBytes = MAX_FRAME_BYTES;
        take = this.#onProven(socket, one.number);
      } else socket.destroy();
    });
    socket.on('data', (chunk: Buffer) => {
      try {
        reader.push(chunk);
      } catch {
        // It does not keep to the wire: whatever follows cannot be read.
        socket.destroy();
      }
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      clearTimeout(proving);
      this.#sockets.delete(socket);
      this.#strangers.delete(socket);
    });
  }
}
