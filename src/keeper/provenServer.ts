// A socket server whose clients must prove that they know the token before anything else is read.
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

const MAX_STRANGERS = 32;
/** Time limit for the proof, ms. */
const PROVE_MS = 5_000;

export type OnProven = (socket: Socket, purpose: number) => (frame: Frame) => void;

export class ProvenServer {
  readonly #server: Server;
  readonly #token: string;
  readonly #onProven: OnProven;
  /** On Windows, other users can open connections. They must not crowd out those of this user. */
  readonly #strangers = new Set<Socket>();
  #proven = 0;

  constructor(token: string, onProven: OnProven) {
    this.#token = token;
    this.#onProven = onProven;
    this.#server = createServer((socket) => this.#greet(socket));
  }

  get size(): number {
    return this.#proven;
  }

  /** @param path socket or named pipe @throws the system error */
  listen(path: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(path, () => {
        this.#server.off('error', reject);
        // A failed accept (no free file descriptors) does not affect open connections.
        this.#server.on('error', () => {});
        resolve();
      });
    });
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#strangers) socket.destroy();
  }

  #greet(socket: Socket): void {
    const [oldest] = this.#strangers;
    if (oldest && this.#strangers.size >= MAX_STRANGERS) {
      this.#strangers.delete(oldest);
      oldest.destroy();
    }
    this.#strangers.add(socket);
    let isProven = false;
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
        isProven = true;
        this.#proven++;
        reader.maxBytes = MAX_FRAME_BYTES;
        take = this.#onProven(socket, one.number);
      } else socket.destroy();
    });
    socket.on('data', (chunk: Buffer) => {
      try {
        reader.push(chunk);
      } catch {
        // After a malformed frame nothing can be read.
        socket.destroy();
      }
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      clearTimeout(proving);
      this.#strangers.delete(socket);
      if (isProven) this.#proven--;
    });
  }
}
