// The wire format between windows and keepers: frames of length, kind, number and bytes. A keeper
// can outlive the extension that started it, so the meaning of a kind never changes, and both sides
// skip unknown kinds.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** Version of this file and of `keeper.json`. */
export const WIRE_VERSION = 1;

/** File in the keeper's folder by which windows find it. */
export const KEEPER_FILE = 'keeper.json';
/** Replaces `keeper.json` if the agent exits before a window reads all (`KeeperRest`). */
export const REST_FILE = 'rest.json';
/** Beside `rest.json`: the facts, and frames for the next window (stderr, command output). */
export const REST_FACTS = 'facts';
export const REST_FRAMES = 'frames';

/** Frame kinds. Unknown JSON fields are ignored. */
export const FRAME = {
  // Sent by windows.
  /** Bytes: a nonce. Number: wire version of the window. */
  hello: 1,
  /** Bytes: proof for the keeper's nonce. Number: the `PURPOSE` of the connection. */
  prove: 2,
  /** JSON `Progress`: where delivery starts. The response is `kept` frames, then `output`. */
  deliver: 3,
  /** A message to the agent, with its line break. Number: from 1, over all windows. */
  send: 4,
  /** Bytes for the next window; replaces earlier ones. */
  facts: 5,
  /** Bytes: frames that are applied atomically. */
  batch: 6,
  /** JSON `Progress`: what can be discarded. */
  stored: 7,
  lease: 8,
  /** Ends the agent. The keeper exits once all connections were notified. */
  stop: 9,
  /** The next message in the batch responds to a request. Number: line of the request. */
  answer: 10,
  /** JSON `CommandStart`. The response is `started`, also for an id that is already running. */
  run: 11,
  /** Bytes: id of the command to kill. Also allowed for `PURPOSE.look`. */
  kill: 12,
  /** Bytes: id of the command to kill and forget. */
  release: 13,
  /** Bytes: id of a command. Sends its output from the first retained character. */
  follow: 14,
  /** On the socket of the host process: JSON `KeeperStart`. The response is `keeping`. */
  keep: 15,

  // Sent by keepers.
  /** Bytes: proof for the window's nonce, then a nonce. Number: wire version of the keeper. */
  proof: 64,
  /** JSON `KeeperState`, once the window is authenticated. */
  state: 65,
  /** Sent before the state to a window that attaches: facts of the previous window, or no bytes. */
  foundFacts: 66,
  /** A line that is delivered again, with its line break. Number: its line number. */
  kept: 67,
  /** Bytes of the agent's stdout, split anywhere. */
  output: 68,
  /** Bytes of stderr. Number: 1 if an earlier window got them. */
  stderr: 69,
  /** Number: the last message written to the agent. */
  taken: 70,
  /** The agent closed its stdin. Bytes: the system error. */
  inputClosed: 71,
  /** JSON `AgentEnd`, after all output. */
  ended: 72,
  /** Another window attached. */
  lost: 73,
  started: 74,
  commandOutput: 75,
  keeping: 76,
} as const;

/** Purpose of a connection: own the agent, or only read its state and kill what runs. */
export const PURPOSE = { attach: 0, look: 1 } as const;

/** Maximum frame length, bytes: the longest protocol message plus a margin. */
export const MAX_FRAME_BYTES = 40 * 1024 * 1024;
/** Maximum frame length before authentication. */
export const MAX_FIRST_FRAME_BYTES = 256;
export const MAX_FACTS_BYTES = 1024 * 1024;

/** Which lines of the agent the windows have stored. */
export interface Progress {
  /** From 1. */
  readonly line: number;
  /** Line numbers up to `line` that are still needed, ascending. */
  readonly open: readonly number[];
}

/** A line that marks the end of the agent's work: a JSON object that contains `has`. */
export interface EndMark {
  /** Values are compared as JSON, objects only by the fields given here. */
  readonly has: Readonly<Record<string, unknown>>;
  readonly lacks?: readonly string[];
}

/** What the keeper does while no window is attached. */
export interface Lease {
  /** The agent is working until each mark was seen in a separate line after the last stored one. */
  readonly endMarks: readonly EndMark[];
  /** The agent is working, although no mark shows its end. */
  readonly isAtWork?: boolean;
  /** How long to keep an idle agent, ms; null: forever. */
  readonly leaveAfterMs: number | null;
  /** How long to keep a silent agent, ms; null: forever. */
  readonly silentMs: number | null;
  /** A message, with its line break, written before stdin is closed. */
  readonly goodbye?: string;
}

export interface AgentEnd {
  readonly code: number | null;
  readonly signal: string | null;
  readonly isStuck?: true;
  /** Killed because it closed its stdout but kept running. */
  readonly closedOutput?: true;
  /** Dismissed because no window attached in time. */
  readonly isDismissed?: true;
  /** ms since 1970. */
  readonly at: number;
}

export interface KeeperState {
  readonly pid: number;
  readonly agentPid: number;
  /** ms since 1970. */
  readonly startedAt: number;
  /** The last message written to the agent. */
  readonly sent: number;
  /** Complete lines of output so far. */
  readonly lines: number;
  /** Lines stored by windows. */
  readonly storedLine: number;
  /** Requests (by line) that were answered but are neither stored nor open. */
  readonly answered: readonly number[];
  /** Retained bytes of output. */
  readonly bytes: number;
  /** Whether stdout is paused: the spool or the disk is full. */
  readonly isHeld: boolean;
  readonly isAttached: boolean;
  /** When the last window detached, ms since 1970. */
  readonly detachedAt?: number;
  /** Without a window: an end mark is still missing. */
  readonly isWorking: boolean;
  /** Without a window: number of requests that wait for one. */
  readonly waiting: number;
  readonly ended?: AgentEnd;
  /** Absent if the keeper can't run commands. */
  readonly commands?: readonly CommandState[];
}

/** A command to run for the agent. */
export interface CommandStart {
  /** Chosen by the window. */
  readonly id: string;
  /** Passed to later windows. */
  readonly about: unknown;
  readonly file: string;
  readonly args: readonly string[];
  readonly shell: boolean;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Retained output, bytes. */
  readonly capacityBytes: number;
}

export interface CommandState {
  readonly id: string;
  readonly about: unknown;
  readonly pid?: number | undefined;
  /** Absent if unknown; the command can't be killed by `PURPOSE.look` then. */
  readonly isRunning?: boolean;
}

export interface CommandStarted {
  readonly id: string;
  readonly pid?: number | undefined;
  /** Why it did not start. */
  readonly failed?: { readonly code: string; readonly message: string };
}

export interface CommandOutput {
  readonly id: string;
  readonly append?: string;
  /** Characters dropped before `append`. */
  readonly drop?: number;
  /** Follows all output. */
  readonly exit?: { readonly exitCode?: number; readonly signal?: string };
}

/** Configuration of the host process, sent over its stdin. */
export interface HostStart {
  readonly folder: string;
  /** Name of its `HostFile` in `folder`. */
  readonly file: string;
}

/** Response of the host process: one line on its stdout. */
export type HostStarted =
  /** False: another process listens already, and this one exits. */
  { readonly isListening: boolean } | { readonly failed: string };

/** Where the host process listens. */
export interface HostFile {
  /** Name of its folder. */
  readonly id: string;
  readonly socket: string;
  readonly socketFolder?: string | undefined;
  readonly token: string;
}

/** An agent to start. Only `about` is written to disk. */
export interface KeeperStart {
  /** Copied to `keeper.json`. */
  readonly about: unknown;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** For the agent and its commands. */
  readonly umask: number;
  readonly lease: Lease;
  readonly maxBytes: number;
  readonly closeGraceMs?: { readonly stdin: number; readonly term: number; readonly kill?: number };
}

export type KeeperStarted =
  /** `id`: name of the keeper's folder. */
  | { readonly isRunning: true; readonly id: string }
  | { readonly isRunning: false; readonly code: string; readonly message: string };

/** Data that an exited agent leaves for the next window. */
export interface KeeperRest {
  readonly wire: number;
  readonly host: string;
  readonly startedAt: number;
  readonly about: unknown;
  readonly state: KeeperState;
  readonly spool: SpoolIndex;
}

/** Retained output in files. */
export interface SpoolIndex {
  readonly stored: Progress;
  /** Total bytes of output. */
  readonly end: number;
  /** Ascending; files are named `output-START`. */
  readonly segments: readonly SpoolSegment[];
}

export interface SpoolSegment {
  /** Offset in the whole output, bytes. */
  readonly start: number;
  /** Line breaks before `start`. */
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

/** Returns the header of a frame. */
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

/** Parses frames from a byte stream, in linear time. */
export class FrameReader {
  /** Maximum frame length, bytes. */
  maxBytes: number;
  readonly #onFrame: (frame: Frame) => void;
  #parts: Buffer[] = [];
  #length = 0;
  #needed = HEADER_BYTES;

  constructor(maxBytes: number, onFrame: (frame: Frame) => void) {
    this.maxBytes = maxBytes;
    this.#onFrame = onFrame;
  }

  /** @throws RangeError if a frame is too long; the stream is unusable then */
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

/** Returns the frames of a `batch`. @throws RangeError if one is incomplete */
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

export const PROOF_BYTES = 32;

export function nonce(): Buffer {
  return randomBytes(16);
}

/** Returns the proof of knowing the token. @param side prevents replaying it to its sender */
export function proofOf(token: string, side: 'keeper' | 'window', nonceOfOther: Uint8Array): Buffer {
  return createHmac('sha256', token).update(side).update(nonceOfOther).digest();
}

export function isProof(given: Uint8Array, expected: Uint8Array): boolean {
  return given.length === expected.length && timingSafeEqual(given, expected);
}
