// What a window and a keeper say to each other: frames of a length, a kind, a number and bytes.
// Versioned, since a keeper outlives the extension that started it: a kind is never given another
// meaning, and both sides skip kinds that they don't know.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** The version of everything in this file and of `keeper.json`. */
export const WIRE_VERSION = 1;

/** The file in a keeper's folder that windows find it by. */
export const KEEPER_FILE = 'keeper.json';
/** The file in its place when the agent has ended and no window has read the rest (`KeeperRest`). */
export const REST_FILE = 'rest.json';
/** Beside it: the facts as they are, and frames for the next window (stderr, output of commands). */
export const REST_FACTS = 'facts';
export const REST_FRAMES = 'frames';

/** Kinds of frames. JSON fields that a side doesn't know are ignored. */
export const FRAME = {
  // From the window.
  /** Bytes: a nonce. Number: the window's version of the wire. */
  hello: 1,
  /** Bytes: the proof for the keeper's nonce. Number: what the connection is for (`PURPOSE`). */
  prove: 2,
  /** JSON `Progress`: where delivery begins. Answered with `kept` frames, then `output`. */
  deliver: 3,
  /** A message to the agent, with its line break. Number: counted from 1 over all windows. */
  send: 4,
  /** Bytes for the next window, in the place of those before. */
  facts: 5,
  /** Bytes: frames that take effect together or not at all. */
  batch: 6,
  /** JSON `Progress`: what is no longer needed. */
  stored: 7,
  /** JSON `Lease`. */
  lease: 8,
  /** Ends the agent; its keeper ends when every connection has heard of it. */
  stop: 9,
  /**
   * The message that follows in the batch answers a request of the agent. Number: the request's
   * line.
   */
  answer: 10,
  /** JSON `CommandStart`. Answered with `started`; of an id that is known, as before. */
  run: 11,
  /** The command with the id of these bytes is ended. Also from a connection that only asks. */
  kill: 12,
  /** The same, and it is forgotten. */
  release: 13,
  /** The output of the command with the id of these bytes is sent, from the first that is kept. */
  follow: 14,
  /** Over the socket of the process for all keepers: JSON `KeeperStart`. Answered with `keeping`. */
  keep: 15,

  // From the keeper.
  /** Bytes: the proof for the window's nonce, then a nonce. Number: the keeper's version. */
  proof: 64,
  /** JSON `KeeperState`, once the proof of the window was seen. */
  state: 65,
  /** To a window that attaches, before the state: facts that an earlier one left, or no bytes. */
  foundFacts: 66,
  /** A line to be delivered again, with its line break. Number: its line number. */
  kept: 67,
  /** Bytes of the agent's stdout, cut anywhere. */
  output: 68,
  /** Bytes of stderr. Number: 1 where an earlier window got them. */
  stderr: 69,
  /** Number: the last message that was written to the agent. */
  taken: 70,
  /** The agent has closed its stdin. Bytes: what the system says. */
  inputClosed: 71,
  /** JSON `AgentEnd`; after all output. */
  ended: 72,
  /** Another window has attached. */
  lost: 73,
  /** JSON `CommandStarted`. */
  started: 74,
  /** JSON `CommandOutput`. */
  commandOutput: 75,
  /** JSON `KeeperStarted`. */
  keeping: 76,
} as const;

/** What a connection is for: to own the agent, or only to ask for its state and to end what runs. */
export const PURPOSE = { attach: 0, look: 1 } as const;

/** The longest frame, in bytes: the longest message of the protocol with room to spare. */
export const MAX_FRAME_BYTES = 40 * 1024 * 1024;
/** The longest frame of a connection that has proved nothing yet. */
export const MAX_FIRST_FRAME_BYTES = 256;
/** The most that facts may have, in bytes. */
export const MAX_FACTS_BYTES = 1024 * 1024;

/** How far the lines of the agent are stored by the windows. */
export interface Progress {
  /** The first line of the agent has number 1. */
  readonly line: number;
  /** Numbers up to `line` of the lines that are needed still, ascending. */
  readonly open: readonly number[];
}

/** A sign that the agent's work is over: a line with a JSON object that has the fields of `has`. */
export interface EndMark {
  /** Values are compared as JSON; of objects, only the fields that are named here. */
  readonly has: Readonly<Record<string, unknown>>;
  /** Fields that must be absent. */
  readonly lacks?: readonly string[];
}

/** What the keeper does while no window is attached. */
export interface Lease {
  /** The agent works until each was seen in a line of its own after the last stored one. */
  readonly endMarks: readonly EndMark[];
  /** It works, although no mark tells when it is over. */
  readonly isAtWork?: boolean;
  /** How long the agent is kept once its work is over, in milliseconds; null: without end. */
  readonly leaveAfterMs: number | null;
  /** How long an agent is kept that says nothing, in milliseconds; null: without end. */
  readonly silentMs: number | null;
  /** Written before stdin is closed: a message with its line break. */
  readonly goodbye?: string;
}

/** How the agent ended. */
export interface AgentEnd {
  readonly code: number | null;
  readonly signal: string | null;
  readonly isStuck?: true;
  /** It had closed its stdout and kept running, and was ended for that. */
  readonly closedOutput?: true;
  /** Nobody was attached for long enough, and it was told to leave. */
  readonly isDismissed?: true;
  /** In milliseconds since 1970. */
  readonly at: number;
}

export interface KeeperState {
  readonly pid: number;
  /** The agent's process. */
  readonly agentPid: number;
  /** In milliseconds since 1970. */
  readonly startedAt: number;
  /** The last message that was written to the agent. */
  readonly sent: number;
  /** Whole lines that the agent has said. */
  readonly lines: number;
  /** Lines that the windows have stored. */
  readonly storedLine: number;
  /** Lines that are not stored or open, whose request was answered. */
  readonly answered: readonly number[];
  /** Bytes of output that are retained. */
  readonly bytes: number;
  /** The agent is not read: too much is retained, or the disk is full. */
  readonly isHeld: boolean;
  readonly isAttached: boolean;
  /** Since when no window is attached, in milliseconds since 1970. */
  readonly detachedAt?: number;
  /** While no window is attached: an end mark was not seen yet. */
  readonly isWorking: boolean;
  /** While no window is attached: requests of the agent that wait for one. */
  readonly waiting: number;
  readonly ended?: AgentEnd;
  /** The commands that it runs for the agent; absent: it cannot run any. */
  readonly commands?: readonly CommandState[];
}

/** A command that is run for the agent. */
export interface CommandStart {
  /** Chosen by the window. */
  readonly id: string;
  /** Told to the windows after. */
  readonly about: unknown;
  readonly file: string;
  readonly args: readonly string[];
  readonly shell: boolean;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** How much of its output is kept, in bytes. */
  readonly capacityBytes: number;
}

export interface CommandState {
  readonly id: string;
  readonly about: unknown;
  readonly pid?: number | undefined;
  /** Absent: unknown, and it can't be ended from a connection that only asks. */
  readonly isRunning?: boolean;
}

export interface CommandStarted {
  readonly id: string;
  readonly pid?: number | undefined;
  /** Why it did not start; absent: it has. */
  readonly failed?: { readonly code: string; readonly message: string };
}

export interface CommandOutput {
  readonly id: string;
  readonly append?: string;
  /** Characters left out before `append`. */
  readonly drop?: number;
  /** After all output. */
  readonly exit?: { readonly exitCode?: number; readonly signal?: string };
}

/** What the process for all keepers is told on its stdin. */
export interface HostStart {
  /** The folder of all keepers. */
  readonly folder: string;
  /** The file in it that windows find the process by (`HostFile`). */
  readonly file: string;
}

/** What that process answers on its stdout, as one line. */
export type HostStarted =
  /** It listens, or another one was there before and it ends. */
  { readonly isListening: boolean } | { readonly failed: string };

/** Where the process for all keepers listens. */
export interface HostFile {
  /** Its folder among those of the keepers. */
  readonly id: string;
  readonly socket: string;
  readonly socketFolder?: string | undefined;
  readonly token: string;
}

/** An agent to be started and kept. Nothing of it is written to the disk but `about`. */
export interface KeeperStart {
  /** Copied to `keeper.json`. */
  readonly about: unknown;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Of the agent and of the commands that are run for it. */
  readonly umask: number;
  readonly lease: Lease;
  /** The most output that is retained, in bytes. */
  readonly maxBytes: number;
  readonly closeGraceMs?: { readonly stdin: number; readonly term: number; readonly kill?: number };
}

export type KeeperStarted =
  /** The name of the keeper's folder. */
  | { readonly isRunning: true; readonly id: string }
  | { readonly isRunning: false; readonly code: string; readonly message: string };

/** What an ended agent has left. */
export interface KeeperRest {
  readonly wire: number;
  readonly host: string;
  readonly startedAt: number;
  readonly about: unknown;
  readonly state: KeeperState;
  readonly spool: SpoolIndex;
}

/** The output that is retained, in files. */
export interface SpoolIndex {
  readonly stored: Progress;
  /** Bytes of the whole output. */
  readonly end: number;
  /** Ascending, named `output-START`. */
  readonly segments: readonly SpoolSegment[];
}

export interface SpoolSegment {
  /** Where it begins in the output as a whole, in bytes. */
  readonly start: number;
  /** Line breaks in the output before it. */
  readonly linesBefore: number;
  readonly length: number;
  readonly lines: number;
  readonly endsLine: boolean;
}

export interface Frame {
  readonly kind: number;
  readonly number: number;
  readonly bytes: Buffer;
}

const HEADER_BYTES = 11;
const NO_BYTES = Buffer.alloc(0);

/** The head of a frame, which its bytes follow. */
export function frameHead(kind: number, number: number, length: number): Buffer {
  const head = Buffer.allocUnsafe(HEADER_BYTES);
  head.writeUInt32BE(length, 0);
  head.writeUInt8(kind, 4);
  head.writeUIntBE(number, 5, 6);
  return head;
}

export function frame(kind: number, number = 0, bytes: Uint8Array = NO_BYTES): Buffer {
  return Buffer.concat([frameHead(kind, number, bytes.length), bytes]);
}

export function jsonFrame(kind: number, value: unknown, number = 0): Buffer {
  return frame(kind, number, Buffer.from(JSON.stringify(value)));
}

/** Puts frames together from a stream of bytes. The work is linear in the bytes. */
export class FrameReader {
  /** The longest frame that is taken, in bytes. */
  maxBytes: number;
  readonly #onFrame: (frame: Frame) => void;
  #parts: Buffer[] = [];
  #length = 0;
  #needed = HEADER_BYTES;

  constructor(maxBytes: number, onFrame: (frame: Frame) => void) {
    this.maxBytes = maxBytes;
    this.#onFrame = onFrame;
  }

  /** @throws RangeError on a frame that is too long; nothing after it can be read */
  push(chunk: Buffer): void {
    this.#parts.push(chunk);
    this.#length += chunk.length;
    if (this.#length < this.#needed) return;
    let bytes = this.#parts.length === 1 ? chunk : Buffer.concat(this.#parts, this.#length);
    this.#parts = [];
    this.#length = 0;
    this.#needed = HEADER_BYTES;
    while (bytes.length >= HEADER_BYTES) {
      const length = bytes.readUInt32BE(0);
      if (length > this.maxBytes) throw new RangeError(`a frame of ${length} bytes`);
      const end = HEADER_BYTES + length;
      if (bytes.length < end) {
        this.#needed = end;
        break;
      }
      const rest = bytes.subarray(end);
      this.#onFrame({
        kind: bytes.readUInt8(4),
        number: bytes.readUIntBE(5, 6),
        bytes: bytes.subarray(HEADER_BYTES, end),
      });
      bytes = rest;
    }
    if (bytes.length === 0) return;
    this.#parts.push(bytes);
    this.#length = bytes.length;
  }
}

/** The frames of a `batch`. @throws RangeError where they are cut */
export function framesOf(batch: Buffer): readonly Frame[] {
  const frames: Frame[] = [];
  let taken = 0;
  const reader = new FrameReader(batch.length, (one) => {
    frames.push(one);
    taken += HEADER_BYTES + one.bytes.length;
  });
  reader.push(batch);
  if (taken !== batch.length) throw new RangeError('a batch with a cut frame');
  return frames;
}

/** Bytes of a proof. */
export const PROOF_BYTES = 32;

export function nonce(): Buffer {
  return randomBytes(16);
}

/**
 * The proof of knowing the token, which itself never goes over the wire.
 * @param side who proves, so that a proof cannot be sent back to where it came from
 */
export function proofOf(token: string, side: 'keeper' | 'window', nonceOfOther: Uint8Array): Buffer {
  return createHmac('sha256', token).update(side).update(nonceOfOther).digest();
}

export function isProof(given: Uint8Array, expected: Uint8Array): boolean {
  return given.length === expected.length && timingSafeEqual(given, expected);
}
