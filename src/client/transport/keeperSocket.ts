// A window's connection to a keeper: after both sides have proved that they know the token, frames
// are exchanged.
import { connect, type Socket } from 'node:net';
import { Deferred } from '../../base/deferred';
import {
  FRAME,
  type Frame,
  FrameReader,
  frame,
  isProof,
  type KeeperState,
  MAX_FRAME_BYTES,
  nonce,
  PROOF_BYTES,
  proofOf,
  WIRE_VERSION,
} from '../../keeper/wire';

const WELCOME_MS = 10_000;

export interface KeeperPlace {
  readonly socket: string;
  readonly token: string;
}

export interface KeeperWelcome {
  readonly state: KeeperState;
  /**
   * Facts that an earlier window left; undefined if none did, or if the purpose is only to look.
   */
  readonly facts: Uint8Array | undefined;
}

export interface KeeperLine {
  readonly closed: Promise<void>;
  listen(onFrame: (frame: Frame) => void): void;
  send(bytes: Uint8Array): void;
  /** Resolves when the keeper has read everything and the connection is closed. */
  end(): Promise<void>;
  destroy(): void;
}

export class KeeperSocket implements KeeperLine {
  readonly closed: Promise<void>;
  readonly #socket: Socket;
  readonly #place: KeeperPlace;
  readonly #purpose: number;
  readonly #nonce = nonce();
  readonly #welcome = new Deferred<KeeperWelcome>();
  readonly #early: Frame[] = [];
  #facts: Uint8Array | undefined;
  #onFrame: ((frame: Frame) => void) | undefined;

  /**
   * Connects. Frames after the welcome wait for `listen`.
   * @param purpose one of `PURPOSE`
   * @throws Error if no keeper answers
   */
  static async open(place: KeeperPlace, purpose: number): Promise<{ socket: KeeperSocket; welcome: KeeperWelcome }> {
    const socket = new KeeperSocket(place, purpose);
    const timer = setTimeout(() => socket.#fail(new Error('the keeper does not answer')), WELCOME_MS);
    try {
      return { socket, welcome: await socket.#welcome.promise };
    } finally {
      clearTimeout(timer);
    }
  }

  private constructor(place: KeeperPlace, purpose: number) {
    this.#place = place;
    this.#purpose = purpose;
    const socket = connect(place.socket);
    this.#socket = socket;
    const reader = new FrameReader(MAX_FRAME_BYTES, (frame) => this.#take(frame));
    socket.on('data', (chunk: Buffer) => {
      try {
        reader.push(chunk);
      } catch {
        this.#fail(new Error('the keeper sent something else'));
      }
    });
    socket.on('error', (error) => this.#welcome.reject(error));
    this.closed = new Promise((resolve) => socket.once('close', () => resolve()));
    void this.closed.then(() => this.#welcome.reject(new Error('the keeper has closed the connection')));
    this.send(frame(FRAME.hello, WIRE_VERSION, this.#nonce));
  }

  listen(onFrame: (frame: Frame) => void): void {
    for (const frame of this.#early.splice(0)) onFrame(frame);
    this.#onFrame = onFrame;
  }

  send(bytes: Uint8Array): void {
    if (!this.#socket.destroyed && !this.#socket.writableEnded) this.#socket.write(bytes);
  }

  async end(): Promise<void> {
    this.#socket.end();
    await this.closed;
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #take(frame: Frame): void {
    if (this.#onFrame) this.#onFrame(frame);
    else if (this.#welcome.isSettled) this.#early.push(frame);
    else this.#greet(frame);
  }

  #greet({ kind, bytes }: Frame): void {
    const { token } = this.#place;
    if (kind === FRAME.proof) {
      const proof = bytes.subarray(0, PROOF_BYTES);
      if (!isProof(proof, proofOf(token, 'keeper', this.#nonce)))
        this.#fail(new Error('the keeper does not know the token'));
      else this.send(frame(FRAME.prove, this.#purpose, proofOf(token, 'window', bytes.subarray(PROOF_BYTES))));
    } else if (kind === FRAME.foundFacts) {
      if (bytes.length > 0) this.#facts = bytes;
    } else if (kind === FRAME.state) {
      this.#welcome.resolve({ state: JSON.parse(bytes.toString('utf8')) as KeeperState, facts: this.#facts });
    }
  }

  #fail(reason: Error): void {
    this.#welcome.reject(reason);
    this.#socket.destroy();
  }
}
