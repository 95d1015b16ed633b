// Reads the output that an ended agent left on disk as if its keeper were there: a window attaches
// in the same way, without a process.
import { renameSync, writeFileSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Deferred } from '../../base/deferred';
import { Spool } from '../../keeper/spool';
import {
  type CommandOutput,
  FRAME,
  type Frame,
  FrameReader,
  frame,
  framesOf,
  jsonFrame,
  MAX_FRAME_BYTES,
  type Progress,
  REST_FACTS,
  REST_FRAMES,
} from '../../keeper/wire';
import type { RestFile } from './keeperFiles';
import type { KeeperLine, KeeperWelcome } from './keeperSocket';

export class RestLine implements KeeperLine {
  readonly #folder: string;
  readonly #rest: RestFile;
  readonly #spool: Spool;
  readonly #frames: readonly Frame[];
  readonly #closed = new Deferred<void>();
  readonly closed = this.#closed.promise;
  readonly #reader = new FrameReader(MAX_FRAME_BYTES, (frame) => this.#take(frame));
  #onFrame: (frame: Frame) => void = () => {};
  /** Frames are sent one after another, never while one is handled. */
  #sending = Promise.resolve();

  static async open(folder: string, rest: RestFile): Promise<{ line: RestLine; welcome: KeeperWelcome }> {
    const facts = await readFile(join(folder, REST_FACTS));
    const line = new RestLine(folder, rest, framesOf(await readFile(join(folder, REST_FRAMES))));
    return { line, welcome: { state: rest.state, facts: facts.length > 0 ? facts : undefined } };
  }

  private constructor(folder: string, rest: RestFile, frames: readonly Frame[]) {
    this.#folder = folder;
    this.#rest = rest;
    this.#frames = frames;
    this.#spool = new Spool({ folder, maxBytes: 0, onRoom() {} }, rest.spool);
  }

  listen(onFrame: (frame: Frame) => void): void {
    this.#onFrame = onFrame;
    for (const frame of this.#frames) if (frame.kind === FRAME.stderr) this.#send(frame);
    this.#send(frameOf(frame(FRAME.inputClosed)));
  }

  send(bytes: Uint8Array): void {
    this.#reader.push(Buffer.from(bytes));
  }

  async end(): Promise<void> {
    this.#closed.resolve();
  }

  destroy(): void {
    this.#closed.resolve();
  }

  #take({ kind, bytes }: Frame): void {
    switch (kind) {
      case FRAME.batch:
        for (const frame of framesOf(bytes)) this.#take(frame);
        break;
      case FRAME.deliver: {
        const progress = JSON.parse(bytes.toString('utf8')) as Progress;
        this.#enqueue(() => this.#deliver(progress));
        break;
      }
      case FRAME.facts:
        this.#keepFacts(bytes);
        break;
      case FRAME.follow:
        this.#follow(bytes.toString('utf8'));
        break;
      case FRAME.stop:
        this.#enqueue(() => rm(this.#folder, { recursive: true, force: true }));
        this.#enqueue(() => this.end());
        break;
    }
  }

  async #deliver({ line, open }: Progress): Promise<void> {
    for (const number of open) {
      const bytes = await this.#spool.line(number);
      if (bytes) this.#onFrame({ kind: FRAME.kept, number, bytes });
    }
    let offset = await this.#spool.startOf(Math.max(line, this.#spool.stored.line) + 1);
    for (;;) {
      const found = await this.#spool.read(offset);
      if (!found) break;
      offset = found.next;
      this.#onFrame({ kind: FRAME.output, number: 0, bytes: found.bytes });
    }
    this.#onFrame(frameOf(jsonFrame(FRAME.ended, this.#rest.state.ended)));
  }

  #follow(id: string): void {
    for (const frame of this.#frames) {
      if (frame.kind !== FRAME.commandOutput) continue;
      if ((JSON.parse(frame.bytes.toString('utf8')) as CommandOutput).id === id) this.#send(frame);
    }
  }

  /** The window may end before the journal has the matching events. */
  #keepFacts(bytes: Buffer): void {
    const path = join(this.#folder, REST_FACTS);
    writeFileSync(`${path}.new`, bytes, { mode: 0o600 });
    renameSync(`${path}.new`, path);
  }

  #send(frame: Frame): void {
    this.#enqueue(async () => this.#onFrame(frame));
  }

  #enqueue(run: () => Promise<void>): void {
    // If a file can't be read, the rest is useless: the window treats it as a crash.
    this.#sending = this.#sending.then(() => (this.#closed.isSettled ? undefined : run())).catch(() => this.destroy());
  }
}

function frameOf(bytes: Buffer): Frame {
  const [frame] = framesOf(bytes);
  if (!frame) throw new RangeError('no frame');
  return frame;
}
