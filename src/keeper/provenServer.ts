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

const MAX_UNPROVEN = 32;
/** Time limit for the proof, ms. */
const PROVE_MS = 5_000;

export type OnProven = (socket: Socket, purpose: number) => (frame: Frame) => void;

export class ProvenServer {
  readonly #server: Server;
  readonly #token: string;
  readonly #onProven: OnProven;
  /** On Windows, other users can open connections. They must not crowd out those of this user. */
  readonly #unproven = new Set<Socket>();
  #provenCount = 0;

  constructor(token: string, onProven: OnProven) {
    this.#token = token;
    this.#onProven = onProven;
    this.#server = createServer((socket) => this.#accept(socket));
  }

  get size(): number {
    return this.#provenCount;
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
    for (const socket of this.#unproven) socket.destroy();
  }

  #accept(socket: Socket): void {
    const [oldest] = this.#unproven;
    if (oldest && this.#unproven.size >= MAX_UNPROVEN) {
      this.#unproven.delete(oldest);
      oldest.destroy();
    }
    this.#unproven.add(socket);
    let isProven = false;
    const ownNonce = nonce();
    const timeout = setTimeout(() => socket.destroy(), PROVE_MS);
    let handle: ((frame: Frame) => void) | undefined;
    const reader = new FrameReader(MAX_FIRST_FRAME_BYTES, (received) => {
      if (handle) handle(received);
      else if (received.kind === FRAME.hello) {
        const proof = proofOf(this.#token, 'keeper', received.bytes);
        socket.write(frame(FRAME.proof, WIRE_VERSION, Buffer.concat([proof, ownNonce])));
      } else if (received.kind === FRAME.prove && isProof(received.bytes, proofOf(this.#token, 'window', ownNonce))) {
        clearTimeout(timeout);
        this.#unproven.delete(socket);
        isProven = true;
        this.#provenCount++;
        reader.maxBytes = MAX_FRAME_BYTES;
        handle = this.#onProven(socket, received.number);
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
      clearTimeout(timeout);
      this.#unproven.delete(socket);
      if (isProven) this.#provenCount--;
    });
  }
}
